"""ConSE, a zero-shot matcher from a picture classifier and a sentence embedding.

A picture's vector is the mean of the embeddings of its most probable class names, weighted by
their probabilities (Norouzi et al., 2014); its similarity to a text is the cosine with the text's
embedding. Both parts come as Python packages, so it runs offline, on a CPU, in seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args

import torch

from wordsight.answers import similarity
from wordsight.errors import WordsightError
from wordsight.models.base import Ask, PictureModel
from wordsight.models.offline import class_name_vectors, picture_classifier, sentence_encoder

TextForm = Literal["word", "context", "gloss"]


class ConSE(PictureModel):
    """Registered as ``conse``.

    Parameters
    ----------
    text : what stands for the sense: "word" (the term alone), "context" (term and context) or
        "gloss" (its definition, where the dataset gives one).
    top : number of classes that take part.
    power : exponent on their probabilities before they weight; below 1 it flattens them.
    """

    def __init__(
        self, text: TextForm = "context", top: int = 50, power: float = 0.5, **options: Any
    ) -> None:
        super().__init__(**options)
        forms = get_args(TextForm)
        if text not in forms:
            raise WordsightError(f"conse: text={text!r}; choose one of {', '.join(forms)}")
        self.text = text
        self.top = int(top)
        self.power = float(power)

    def answer(self, asks: Sequence[Ask]) -> Iterator[str]:
        """Yield one cosine per ask.

        Pictures are encoded one at a time: a batch would change the last digits, and scores must
        not depend on how a run was cut up.
        """
        encode = sentence_encoder()
        classify = picture_classifier()
        vectors: dict[str, torch.Tensor] = {}
        for ask in asks:
            if ask.image_id not in vectors:
                probabilities = classify(ask.image_id, ask.picture)
                vectors[ask.image_id] = picture_vector(probabilities, self.top, self.power)
            yield similarity(float(vectors[ask.image_id] @ encode(self._words(ask))))

    def _words(self, ask: Ask) -> str:
        if self.text == "word":
            return ask.term
        if self.text == "context":
            return f"{ask.term}: {ask.context}"
        if not ask.gloss:
            raise WordsightError(
                f"conse: text=gloss, but the dataset gives no definition for {ask.term!r} in "
                f"{ask.context!r}; use text=context"
            )
        return ask.gloss


def picture_vector(probabilities: torch.Tensor, top: int, power: float) -> torch.Tensor:
    """Weighted mean of class-name vectors, normalised; (1000,) probabilities to (384,)."""
    best, classes = probabilities.topk(top)
    weights = best**power
    vector = (weights / weights.sum()) @ class_name_vectors()[classes]
    return torch.nn.functional.normalize(vector, dim=0)
