"""Image-text matching models: CLIP, SigLIP and their like."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import torch

from wordsight.errors import WordsightError
from wordsight.models.base import Ask
from wordsight.models.similarity import SimilarityModel
from wordsight.models.tensors import stack
from wordsight.models.towers import OpenClipTowers, Tensors, Towers, TransformersTowers

OPEN_CLIP = "open_clip:"
TEXTS = {
    "caption": "{context}",
    "term_caption": "{term}: {context}",
    "gloss": "{gloss}",
    "gloss_caption": "{context}: {gloss}",
}
_FIELDS = {"term": "bat", "context": "a bat in a cave", "gloss": "a flying animal"}
_MOST_WORKERS = 4


class ImageTextMatcher(SimilarityModel):
    """Registered as ``wordsight_itm``: cosine between picture and text embedding.

    Parameters
    ----------
    pretrained : name or folder of a checkpoint of transformers with an image and a text tower, or
        "open_clip:" and a checkpoint of open_clip ("open_clip:ViT-B-32/laion2b_s34b_b79k",
        "open_clip:hf-hub:ORG/NAME").
    text : what stands for the meaning: "caption" (the context alone), "term_caption", "gloss" (the
        dataset's definition), "gloss_caption", or a template with {term}, {context}, {gloss}.
    dtype : "float32", "bfloat16" or "float16".
    workers : threads that decode and preprocess pictures.
    """

    def __init__(
        self,
        pretrained: str,
        text: str = "term_caption",
        dtype: str = "float32",
        workers: int | None = None,
        **options: Any,
    ) -> None:
        most = max(1, min(_MOST_WORKERS, (os.cpu_count() or 1) - 1))
        super().__init__(workers=most if workers is None else workers, **options)
        self._template = TEXTS.get(text, text)
        try:
            self._template.format(**_FIELDS)
        except (KeyError, IndexError, ValueError):
            raise WordsightError(
                f"text={text!r}: choose one of {', '.join(TEXTS)} or a template with "
                f"{', '.join(f'{{{name}}}' for name in _FIELDS)}"
            ) from None
        precision = getattr(torch, dtype)
        self._towers: Towers = (
            OpenClipTowers(pretrained.removeprefix(OPEN_CLIP), precision, self.device)
            if pretrained.startswith(OPEN_CLIP)
            else TransformersTowers(pretrained, precision, self.device)
        )

    def words(self, ask: Ask) -> str:
        """The template, filled. Raises WordsightError where it needs a gloss and there is none."""
        if "{gloss}" in self._template and not ask.gloss:
            raise WordsightError(
                f"text needs a definition, but the dataset gives none for {ask.term!r} in "
                f"{ask.context!r}; use text=term_caption"
            )
        return self._template.format(term=ask.term, context=ask.context, gloss=ask.gloss)

    def prepare(self, ask: Ask) -> Tensors:
        """Decode and preprocess."""
        return self._towers.prepare(ask.picture())

    def encode_pictures(self, prepared: Sequence[Tensors]) -> torch.Tensor:
        """Vectors of pictures."""
        return self._towers.pictures(stack(prepared))

    def encode_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """Vectors of texts."""
        return self._towers.texts(texts)
