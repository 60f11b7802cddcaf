"""ConSE, a zero-shot matcher from a picture classifier and a sentence embedding.

A picture's vector is the mean of the embeddings of its most probable class names, weighted by
their probabilities (Norouzi et al., 2014); its similarity to a text is the cosine with the text's
embedding. Both parts come as Python packages, so it runs offline, on a CPU, in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import torch

from wordsight.errors import WordsightError
from wordsight.models.base import Ask
from wordsight.models.offline import class_name_vectors, picture_classifier, sentence_encoder
from wordsight.models.similarity import SimilarityModel

TextForm = Literal["word", "context", "gloss"]


class ConSE(SimilarityModel):
    """Registered as ``conse``.

    Parameters
    ----------
    text : what stands for the sense: "word" (the term alone), "context" (term and context) or
        "gloss" (its definition, where the dataset gives one).
    device : "cpu" or nothing.
    top : number of classes that take part.
    power : exponent on their probabilities before they weight; below 1 it flattens them.
    """

    def __init__(
        self,
        text: TextForm = "context",
        top: int = 50,
        power: float = 0.5,
        device: str | None = None,
        **options: Any,
    ) -> None:
        # A run's record names the device that was asked for: it must be the one that computed.
        if device is not None and device != "cpu":
            raise WordsightError(
                f"conse: device={device}, but it computes on the CPU only, so that its scores are "
                "the same everywhere; leave device out"
            )
        super().__init__(device="cpu", **options)
        forms = get_args(TextForm)
        if text not in forms:
            raise WordsightError(f"conse: text={text!r}; choose one of {', '.join(forms)}")
        self.text = text
        self.top = int(top)
        self.power = float(power)

    def prepare(self, ask: Ask) -> Ask:
        """Nothing: the classifier keeps its own pictures, for all models of the process."""
        return ask

    def encode_pictures(self, prepared: Sequence[Ask]) -> torch.Tensor:
        """Vectors of pictures.

        Pictures are encoded one at a time: a batch would change the last digits, and scores must
        not depend on how a run was cut up.
        """
        classify = picture_classifier()
        probabilities = (classify(ask.image_id, ask.picture) for ask in prepared)
        return torch.stack([picture_vector(p, self.top, self.power) for p in probabilities])

    def encode_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """Vectors of texts."""
        encode = sentence_encoder()
        return torch.stack([encode(text) for text in texts])

    def words(self, ask: Ask) -> str:
        """The ask's words. Raises WordsightError where a gloss is wanted and there is none."""
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
