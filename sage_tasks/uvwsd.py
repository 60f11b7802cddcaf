"""The gloss-weighted baseline of Table 2 (UVWSD, Kwon et al., 2023) on any similarity model.

Each meaning that a lexicon gives for the term is joined to the caption; meanings are weighted by
how well their definition fits the caption, by the same text encoder. A picture's score is the mean
of its cosines with the joined texts under these weights. The paper's own form normalises over the
ten candidates of a query; here every picture is scored alone, which leaves the order within a
query as it is for one meaning and close to it for several.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from sage_tasks.lexicons.base import Lexicon
from sage_tasks.lexicons.registry import LEXICONS, open_lexicon
from wordsight.answers import similarity
from wordsight.errors import WordsightError
from wordsight.models.base import Ask, PictureModel
from wordsight.models.similarity import SimilarityModel

DATASET = "dataset"


@dataclass(frozen=True)
class Sense:
    """What stands for the term's meaning: a vector, and the definition with the most weight."""

    vector: torch.Tensor
    gloss: str
    weight: float


class UVWSD(PictureModel):
    """Registered as ``uvwsd``.

    Parameters
    ----------
    base : "wordsight_itm", "conse" or another model that compares pictures with texts; further
        options (``pretrained``, ...) are its own.
    lexicon : names joined by "+" ("wordnet"), or "dataset" for the definition that the dataset
        gives, where it gives one. Options named as a lexicon give its file.
    sharpness : how strongly fit decides between meanings; weights are softmax(sharpness * cosine).
    """

    def __init__(
        self,
        base: str = "wordsight_itm",
        lexicon: str = "wordnet",
        sharpness: float = 100.0,
        batch_size: int | str = 1,
        device: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(batch_size=batch_size, device=device)
        from lmms_eval.models import get_model

        files = {name: options.pop(name) for name in LEXICONS if name in options}
        self._lexicon: Lexicon | None = (
            None if lexicon == DATASET else open_lexicon(lexicon, **files)
        )
        model = get_model(base, False)(batch_size=batch_size, device=device, **options)
        if not isinstance(model, SimilarityModel):
            raise WordsightError(
                f"uvwsd: base={base!r} compares no pictures with texts; use wordsight_itm or conse"
            )
        self._base = model
        self._sharpness = float(sharpness)
        self._senses: dict[tuple[str, str, str, str], Sense] = {}

    def answer(self, asks: Sequence[Ask]) -> Iterator[str]:
        """Yield one weighted cosine per ask; ``gloss`` is the meaning with the most weight."""
        for ask, picture in zip(asks, self._base.picture_vectors(asks), strict=True):
            key = (ask.term, ask.context, ask.pos, ask.gloss)
            if key not in self._senses:
                self._senses[key] = self._sense(ask)
            sense = self._senses[key]
            value = float(picture @ sense.vector)
            yield similarity(value, gloss=sense.gloss, gloss_weight=round(sense.weight, 6))

    def _sense(self, ask: Ask) -> Sense:
        definitions = self._definitions(ask)
        if not definitions:
            return Sense(self._base.text_vectors([ask.context])[0], "", 0.0)
        context, *meanings = self._base.text_vectors([ask.context, *definitions])
        fit = torch.stack(meanings) @ context
        weights = (self._sharpness * fit).softmax(0)
        joined = self._base.text_vectors([f"{ask.context}: {text}" for text in definitions])
        best = int(weights.argmax())
        return Sense(weights @ joined, definitions[best], float(weights[best]))

    def _definitions(self, ask: Ask) -> list[str]:
        if self._lexicon is None:
            return [ask.gloss] if ask.gloss else []
        glosses = self._lexicon.lookup(ask.term, ask.pos)
        return list(dict.fromkeys(gloss.text for gloss in glosses))
