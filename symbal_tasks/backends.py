"""What Symbal asks of models: small protocols, so that any backend may stand behind each.

A backend's ``name`` says model, revision and whatever else changes its answers: it enters the
cache keys and the trace.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from symbal_tasks.cache import ContentCache, content_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Row:
    """A picture with the caption under study and, in the reference-based variant, a true one.

    ``picture`` gives the picture's bytes when called, or is None where there are none.
    """

    id: str
    caption: str
    reference: str = ""
    picture: Callable[[], bytes] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Claim:
    """A textual fact beside the row it was taken from."""

    fact: str
    row: Row


@dataclass(frozen=True)
class Request:
    """A prompt, with a picture or without.

    schema : a JSON schema that the server shall hold the answer to; None for free text.
    """

    text: str
    picture: bytes | None = field(default=None, repr=False)
    schema: Mapping[str, Any] | None = field(default=None, repr=False)

    def key(self, model: str, max_tokens: int) -> str:
        """Content key of a model's reply."""
        held = () if self.schema is None else (json.dumps(self.schema, sort_keys=True),)
        return content_key("reply", model, max_tokens, self.text, self.picture, *held)


@dataclass(frozen=True)
class Reply:
    """What a model wrote, and the log-probabilities of its first token's alternatives, if known."""

    text: str
    first_token: Mapping[str, float] = field(default_factory=dict)


class ChatModel(Protocol):
    """A language model, with or without sight."""

    @property
    def name(self) -> str:
        """What enters cache keys and traces."""
        ...

    def reply(self, requests: Sequence[Request], *, max_tokens: int) -> list[Reply]:
        """Answer every request, in order. Raises WordsightError when one cannot be answered."""
        ...


class TextEmbedder(Protocol):
    """Texts to vectors of length one."""

    @property
    def name(self) -> str:
        """What enters cache keys and traces."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit rows."""
        ...


class RowEmbedder(Protocol):
    """Rows of a dataset, by their pictures, to vectors of length one."""

    @property
    def name(self) -> str:
        """What enters cache keys and traces."""
        ...

    def embed_rows(self, rows: Sequence[Row]) -> NDArray[np.float32]:
        """(n, d) unit rows."""
        ...


@dataclass(frozen=True)
class CachedChat:
    """A chat model whose replies are kept by content; only new requests reach it."""

    inner: ChatModel
    cache: ContentCache
    batch: int = 64

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self.inner.name

    def reply(self, requests: Sequence[Request], *, max_tokens: int) -> list[Reply]:
        """Answer from the cache, else from the model; each batch is kept as soon as it is there."""
        keys = [request.key(self.name, max_tokens) for request in requests]
        known = self.cache.fill(
            dict(zip(keys, requests, strict=True)),
            lambda new: [_pack(r) for r in self.inner.reply(new, max_tokens=max_tokens)],
            self.batch,
        )
        return [_unpack(known[key]) for key in keys]


@dataclass(frozen=True)
class CachedText:
    """A text embedder whose vectors are kept by content."""

    inner: TextEmbedder
    cache: ContentCache
    batch: int = 4096

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self.inner.name

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit rows; a text that stands many times is embedded once."""
        import numpy as np

        keys = [content_key("text", self.name, text) for text in texts]
        known = self.cache.fill(
            dict(zip(keys, texts, strict=True)),
            lambda new: [v.astype(np.float32).tobytes() for v in self.inner.embed(new)],
            self.batch,
        )
        if not keys:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack([np.frombuffer(known[key], dtype=np.float32) for key in keys])


def read_digit(reply: Reply) -> float | None:
    """Probability that the model answered 1 rather than 0; None when it answered neither.

    Where log-probabilities are known it is P(1) / (P(1) + P(0)), else a hard 1 or 0.
    """
    one, zero = reply.first_token.get("1"), reply.first_token.get("0")
    if one is not None and zero is not None:
        top = max(one, zero)
        return math.exp(one - top) / (math.exp(one - top) + math.exp(zero - top))
    found = re.match(r"\W*([01])(?!\d)", reply.text)
    return float(found.group(1)) if found else None


def _pack(reply: Reply) -> bytes:
    return json.dumps([reply.text, dict(reply.first_token)]).encode()


def _unpack(value: bytes) -> Reply:
    text, first_token = json.loads(value)
    return Reply(text, first_token)
