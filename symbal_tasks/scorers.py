"""How well a fact fits its picture (section 4.1): embedding, text-only and vision-language.

Every scorer returns one number per claim, larger for a better fit, and NaN where the model's
answer could not be read. ``uses_reference`` says whether a true caption changes the score;
``needs_reference`` whether it cannot score without one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from symbal_tasks.backends import (
    ChatModel,
    Claim,
    Request,
    Row,
    RowEmbedder,
    TextEmbedder,
    read_digit,
)
from symbal_tasks.facts import sentences
from symbal_tasks.prompts import ACCURATE_BOTH, ACCURATE_PICTURE, ACCURATE_TEXT, CAPTION
from symbal_tasks.words import content_words
from wordsight.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CAPTION_TOKENS = 256


class Scorer(Protocol):
    """Degree to which facts agree with their pictures."""

    @property
    def name(self) -> str:
        """What enters cache keys and traces."""
        ...

    @property
    def uses_reference(self) -> bool:
        """Whether a true caption changes the score."""
        ...

    @property
    def needs_reference(self) -> bool:
        """Whether it cannot score without a true caption or a captioner."""
        ...

    def score(self, claims: Sequence[Claim]) -> NDArray[np.float64]:
        """(n,) agreement, NaN where unread."""
        ...


@dataclass(frozen=True)
class EmbeddingScorer:
    """Cosine of fact and picture in one space. Ignores references, as in the paper."""

    texts: TextEmbedder
    pictures: RowEmbedder
    uses_reference: bool = False
    needs_reference: bool = False

    @property
    def name(self) -> str:
        """Both towers, and that a reference changes nothing."""
        return f"embedding({self.texts.name}, {self.pictures.name}; ignores references)"

    def score(self, claims: Sequence[Claim]) -> NDArray[np.float64]:
        """(n,) cosines."""
        import numpy as np

        rows = {claim.row.id: claim.row for claim in claims}
        place = {key: k for k, key in enumerate(rows)}
        embedded = self.pictures.embed_rows(list(rows.values()))
        pictures = embedded[[place[claim.row.id] for claim in claims]]
        facts = self.texts.embed([claim.fact for claim in claims])
        cosines: NDArray[np.float64] = (facts * pictures).sum(axis=1, dtype=np.float64)
        return cosines


class AskingScorer(ABC):
    """A model is asked for a digit about each claim: how, is what its kinds differ in."""

    model: ChatModel
    uses_reference = True

    @abstractmethod
    def requests(self, claims: Sequence[Claim]) -> list[Request]:
        """One question per claim."""

    def score(self, claims: Sequence[Claim]) -> NDArray[np.float64]:
        """(n,) probability of "accurate", NaN where the answer is no digit."""
        import numpy as np

        replies = self.model.reply(self.requests(claims), max_tokens=1)
        read = [read_digit(reply) for reply in replies]
        return np.array([np.nan if value is None else value for value in read], dtype=np.float64)


@dataclass(frozen=True)
class TextScorer(AskingScorer):
    """A language model compares the fact with the reference, or with a captioner's caption."""

    model: ChatModel
    captioner: ChatModel | None = None

    @property
    def needs_reference(self) -> bool:
        """Without a captioner there is nothing else to compare with."""
        return self.captioner is None

    @property
    def name(self) -> str:
        """Model, captioner and prompt version."""
        captioner = f", {self.captioner.name}" if self.captioner else ""
        return f"text({self.model.name}{captioner}, {ACCURATE_TEXT.version})"

    def requests(self, claims: Sequence[Claim]) -> list[Request]:
        """The fact beside what is true of the picture."""
        truths = true_texts([claim.row for claim in claims], self.captioner)
        return [
            Request(ACCURATE_TEXT.fill(reference=truth, fact=claim.fact))
            for claim, truth in zip(claims, truths, strict=True)
        ]


@dataclass(frozen=True)
class VisionScorer(AskingScorer):
    """A vision-language model looks at the picture; a reference, if there is one, goes with it."""

    model: ChatModel
    needs_reference = False

    @property
    def name(self) -> str:
        """Model and prompt version."""
        return f"vision({self.model.name}, {ACCURATE_PICTURE.version})"

    def requests(self, claims: Sequence[Claim]) -> list[Request]:
        """The fact beside the picture. DataError when a row has none."""
        return [Request(_question(claim), picture_of(claim.row)) for claim in claims]


@dataclass(frozen=True)
class SentenceScorer:
    """Offline text-only scorer: the fact's closest sentence in the reference, by cosine."""

    texts: TextEmbedder
    uses_reference: bool = True
    needs_reference: bool = True

    @property
    def name(self) -> str:
        """The embedder."""
        return f"closest-sentence({self.texts.name})"

    def score(self, claims: Sequence[Claim]) -> NDArray[np.float64]:
        """(n,) largest cosine to a sentence of the row's reference."""
        import numpy as np

        rows = {claim.row.id: claim.row for claim in claims}
        parts = {key: sentences(reference_of(row)) for key, row in rows.items()}
        ends = np.cumsum([len(part) for part in parts.values()])
        held = self.texts.embed([text for part in parts.values() for text in part])
        references = dict(zip(parts, np.split(held, ends[:-1]), strict=True)) if rows else {}
        facts = self.texts.embed([claim.fact for claim in claims])
        return np.array(
            [
                float((references[claim.row.id] @ fact).max())
                for claim, fact in zip(claims, facts, strict=True)
            ]
        )


@dataclass(frozen=True)
class LexicalScorer:
    """Offline text-only scorer: share of the fact's content words that the reference holds."""

    name: str = "lexical-1"
    uses_reference: bool = True
    needs_reference: bool = True

    def score(self, claims: Sequence[Claim]) -> NDArray[np.float64]:
        """(n,) shares; NaN for a fact without content words."""
        import numpy as np

        held: dict[str, frozenset[str]] = {}
        scores = []
        for claim in claims:
            if claim.row.id not in held:
                held[claim.row.id] = frozenset(content_words(reference_of(claim.row)))
            words = set(content_words(claim.fact))
            shared = len(words & held[claim.row.id])
            scores.append(shared / len(words) if words else np.nan)
        return np.array(scores, dtype=np.float64)


def true_texts(rows: Sequence[Row], captioner: ChatModel | None) -> list[str]:
    """The reference of every row, else a caption made for its picture; captions are cached."""
    if captioner is None:
        return [reference_of(row) for row in rows]
    missing = {row.id: row for row in rows if not row.reference}
    requests = [Request(CAPTION.template, picture_of(row)) for row in missing.values()]
    replies = captioner.reply(requests, max_tokens=CAPTION_TOKENS)
    made = {key: reply.text for key, reply in zip(missing, replies, strict=True)}
    return [row.reference or made[row.id] for row in rows]


def reference_of(row: Row) -> str:
    """The row's reference. Raises DataError where there is none."""
    if not row.reference:
        raise DataError(
            f"row {row.id}: no reference caption; this scorer needs one, or a captioner"
        )
    return row.reference


def picture_of(row: Row) -> bytes:
    """The row's picture. Raises DataError where there is none."""
    if row.picture is None:
        raise DataError(f"row {row.id}: no picture, and the model has to look at one")
    return row.picture()


def _question(claim: Claim) -> str:
    if claim.row.reference:
        return ACCURATE_BOTH.fill(reference=claim.row.reference, fact=claim.fact)
    return ACCURATE_PICTURE.fill(fact=claim.fact)
