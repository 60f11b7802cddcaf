"""Embedding and scoring on a Ray cluster; grouping and testing stay in one process.

Work is cut into the chunks that one process would take, so that the result is the same with any
number of workers. Only a few chunks per worker are on their way at a time: memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from symbal_tasks.backends import Claim, TextEmbedder
from symbal_tasks.embedders import CHUNK
from symbal_tasks.scorers import Scorer
from wordsight.errors import WordsightError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
# Chunks on their way for each processor of the cluster.
AHEAD = 2


@dataclass(frozen=True)
class RayText:
    """A text embedder whose chunks are embedded by workers. ``inner`` travels to them."""

    inner: TextEmbedder

    @property
    def name(self) -> str:
        """The inner model's name: where it runs changes nothing."""
        return self.inner.name

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit rows."""
        import numpy as np

        if not texts:
            return self.inner.embed(texts)
        return np.concatenate(list(_spread(self.inner.embed, texts)))


@dataclass(frozen=True)
class RayScorer:
    """A scorer whose claims are scored by workers. ``inner`` and the claims travel to them."""

    inner: Scorer

    @property
    def name(self) -> str:
        """The inner scorer's name."""
        return self.inner.name

    @property
    def uses_reference(self) -> bool:
        """As the inner scorer."""
        return self.inner.uses_reference

    @property
    def needs_reference(self) -> bool:
        """As the inner scorer."""
        return self.inner.needs_reference

    def score(self, claims: Sequence[Claim]) -> NDArray[np.float64]:
        """(n,) agreement, NaN where unread."""
        import numpy as np

        if not claims:
            return self.inner.score(claims)
        return np.concatenate(list(_spread(self.inner.score, claims)))


def start(address: str = "") -> None:
    """Join the cluster at ``address`` ("auto" for the one around), or start one on this machine.

    Raises WordsightError when Ray is not installed.
    """
    try:
        import ray
    except ImportError:
        raise WordsightError("--engine ray needs the package ray: pip install ray") from None
    if not ray.is_initialized():
        ray.init(address=address or None, log_to_driver=False, include_dashboard=False)


def _spread(work: Callable[[Sequence[T]], Any], items: Sequence[T]) -> Iterator[Any]:
    """Results of ``work`` over chunks of the items, in order."""
    import ray

    remote = ray.remote(_call)
    shared = ray.put(work)
    limit = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    waiting: list[Any] = []
    for first in range(0, len(items), CHUNK):
        waiting.append(remote.remote(shared, items[first : first + CHUNK]))
        if len(waiting) >= limit:
            yield ray.get(waiting.pop(0))
    for reference in waiting:
        yield ray.get(reference)


def _call(work: Callable[[Sequence[T]], Any], items: Sequence[T]) -> Any:
    # A worker with several threads would sum in another order than the process it stands in for.
    import torch

    torch.set_num_threads(1)
    return work(items)
