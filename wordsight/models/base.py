"""What the models of this package share: reading requests, streaming answers."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from lmms_eval.api.model import lmms

from wordsight.errors import WordsightError

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class Ask:
    """One request: a question about one picture, and the item's words."""

    question: str
    image_id: str
    term: str
    context: str
    gloss: str
    source: Any

    def picture(self) -> Image:
        """The picture, decoded now; raises DataError naming the file when it cannot be."""
        picture: Image = self.source.picture(self.image_id)
        return picture


class PictureModel(lmms):
    """Base of models that answer one question about one picture.

    Subclasses implement :meth:`answer`, which yields as it goes: what has been yielded is kept
    when a run is interrupted.
    """

    is_simple = True

    def __init__(
        self, batch_size: int | str = 1, device: str | None = None, max_batch_size: Any = None
    ) -> None:
        super().__init__()
        self.batch_size = int(batch_size)
        # lmms-eval's command passes "cuda" nowhere and "cuda:0" only when asked; take what is there
        default = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(device or default)

    @abc.abstractmethod
    def answer(self, asks: Sequence[Ask]) -> Iterator[str]:
        """Yield one response per ask, in order."""

    def generate_until(self, requests: list[Any]) -> Iterator[str]:
        """lmms-eval's call; the responses come as a stream."""
        return self.answer([self._ask(request) for request in requests])

    def _ask(self, request: Any) -> Ask:
        question, _, _, doc_id, task, split = request.args
        view = self.task_dict[task][split]
        doc = view[doc_id]
        if not hasattr(view, "picture") or "image_id" not in doc:
            raise WordsightError(
                f"task {task} is not a picture ranking task: {type(self).__name__} runs only on "
                "tasks of this package, e.g. sage_demo"
            )
        return Ask(
            question=question,
            image_id=doc["image_id"],
            term=doc["term"],
            context=doc["context"],
            gloss=doc["gloss"],
            source=view,
        )

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        """Not offered: the tasks ask for text under the response contract."""
        raise WordsightError(f"{type(self).__name__} answers generate_until requests only")

    def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
        """Not offered: every question stands alone."""
        raise WordsightError(f"{type(self).__name__} answers single questions only")
