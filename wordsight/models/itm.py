"""Image-text matching models (CLIP, SigLIP and their like) from transformers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from wordsight.answers import similarity
from wordsight.models.base import Ask, PictureModel


class ImageTextMatcher(PictureModel):
    """Registered as ``wordsight_itm``: cosine between picture and text embedding.

    Parameters
    ----------
    pretrained : name or folder of a checkpoint with an image and a text tower.
    text : template of the text, with {term}, {context} and {gloss}.
    dtype : "float32", "bfloat16" or "float16".
    """

    def __init__(
        self,
        pretrained: str,
        text: str = "{term}: {context}",
        dtype: str = "float32",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        from transformers import AutoModel, AutoProcessor

        self.text = text
        self._processor = AutoProcessor.from_pretrained(pretrained)
        loaded = AutoModel.from_pretrained(pretrained, dtype=getattr(torch, dtype))
        self._model = loaded.eval().to(self.device)

    def answer(self, asks: Sequence[Ask]) -> Iterator[str]:
        """Yield one cosine per ask; each distinct picture and text is encoded once."""
        texts: dict[str, torch.Tensor] = {}
        pictures: dict[str, torch.Tensor] = {}
        for ask in asks:
            text = self.text.format(term=ask.term, context=ask.context, gloss=ask.gloss)
            if text not in texts:
                texts[text] = self._encode_text(text)
            if ask.image_id not in pictures:
                pictures[ask.image_id] = self._encode_picture(ask)
            yield similarity(float(pictures[ask.image_id] @ texts[text]))

    def _encode_text(self, text: str) -> torch.Tensor:
        # SigLIP was trained on texts padded to full length and scores others wrongly.
        siglip = "siglip" in self._model.config.model_type
        tokens = self._processor(
            text=[text],
            return_tensors="pt",
            truncation=True,
            padding="max_length" if siglip else True,
        ).to(self.device)
        with torch.inference_mode():
            return _unit(self._model.get_text_features(**tokens))

    def _encode_picture(self, ask: Ask) -> torch.Tensor:
        pixels = self._processor(images=[ask.picture()], return_tensors="pt").to(self.device)
        with torch.inference_mode():
            return _unit(self._model.get_image_features(pixel_values=pixels["pixel_values"]))


def _unit(output: Any) -> torch.Tensor:
    features = output if isinstance(output, torch.Tensor) else output.pooler_output
    return torch.nn.functional.normalize(features[0].float(), dim=0).cpu()
