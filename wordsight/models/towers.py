"""Picture and text encoders of transformers and of open_clip behind one interface."""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch

from wordsight.errors import WordsightError
from wordsight.models.checkpoint import find_checkpoint, find_repository

if TYPE_CHECKING:
    from PIL.Image import Image

Tensors = dict[str, torch.Tensor]
_NO_LENGTH = 10**6


class Towers(Protocol):
    """A pair of encoders into one space. Vectors have length 1 and lie on the CPU."""

    def prepare(self, picture: Image) -> Tensors:
        """The picture encoder's input for one picture, shapes (1, ...); safe in threads."""
        ...

    def pictures(self, inputs: Tensors) -> torch.Tensor:
        """Vectors of a batch of prepared pictures, shape (n, d)."""
        ...

    def texts(self, texts: Sequence[str]) -> torch.Tensor:
        """Vectors of texts, shape (n, d); what is too long for the encoder is cut."""
        ...


class TransformersTowers:
    """CLIP, SigLIP, SigLIP 2, ALIGN and their like."""

    def __init__(self, pretrained: str, dtype: torch.dtype, device: torch.device) -> None:
        from transformers import AutoModel, AutoProcessor

        place = find_checkpoint(pretrained)
        self._processor = AutoProcessor.from_pretrained(place)
        self._model = AutoModel.from_pretrained(place, dtype=dtype).eval().to(device)
        if not all(hasattr(self._model, f"get_{side}_features") for side in ("image", "text")):
            raise WordsightError(
                f"{pretrained}: {type(self._model).__name__} has no picture and text towers; "
                "models that answer questions run as wordsight_hf"
            )
        self._local = threading.local()
        text = self._model.config.text_config
        # What the model has places for, and what its tokenizer states: ALIGN saw 64 of its 512.
        # Tokenizers that state nothing give an absurd number.
        stated = [self._processor.tokenizer.model_max_length]
        stated.append(getattr(text, "max_position_embeddings", None) or _NO_LENGTH)
        # SigLIP was trained on texts padded to full length and scores others wrongly.
        siglip = "siglip" in self._model.config.model_type
        self._padding: dict[str, Any] = {"padding": "max_length" if siglip else True}
        if min(stated) < _NO_LENGTH:
            self._padding["max_length"] = min(stated)

    def prepare(self, picture: Image) -> Tensors:
        """The processor's tensors for one picture."""
        if not hasattr(self._local, "processor"):
            self._local.processor = copy.deepcopy(self._processor)
        return dict(self._local.processor(images=[picture], return_tensors="pt"))

    def pictures(self, inputs: Tensors) -> torch.Tensor:
        """Vectors of a batch."""
        with torch.inference_mode():
            return _unit(self._model.get_image_features(**self._moved(inputs)))

    def texts(self, texts: Sequence[str]) -> torch.Tensor:
        """Vectors of texts."""
        tokens = self._processor(
            text=list(texts), return_tensors="pt", truncation=True, **self._padding
        )
        with torch.inference_mode():
            return _unit(self._model.get_text_features(**self._moved(dict(tokens))))

    def _moved(self, inputs: Tensors) -> Tensors:
        device, dtype = self._model.device, self._model.dtype
        return {
            k: v.to(device, dtype if v.is_floating_point() else v.dtype) for k, v in inputs.items()
        }


class OpenClipTowers:
    """Checkpoints of open_clip.

    name : "MODEL/WEIGHTS" as open_clip lists them ("ViT-B-32/laion2b_s34b_b79k"), or a name with
    a scheme that open_clip knows ("hf-hub:ORG/NAME", "local-dir:PATH").
    """

    def __init__(self, name: str, dtype: torch.dtype, device: torch.device) -> None:
        try:
            import open_clip  # type: ignore[import-untyped]
        except ImportError as error:
            raise WordsightError(
                "open_clip checkpoints need the package open_clip_torch: "
                "pip install open_clip_torch"
            ) from error
        if ":" in name:
            model, weights = name, None
        else:
            model, _, weights = name.partition("/")
            if not weights:
                raise WordsightError(
                    f"open_clip: {name!r} names no weights; write MODEL/WEIGHTS, for instance "
                    "open_clip:ViT-B-32/laion2b_s34b_b79k"
                )
        if repository := _open_clip_repository(model, weights):
            find_repository(repository)
        precision = {torch.bfloat16: "bf16", torch.float16: "fp16"}.get(dtype, "fp32")
        try:
            self._model, _, self._transform = open_clip.create_model_and_transforms(
                model, pretrained=weights, precision=precision, device=device
            )
        except RuntimeError as error:
            raise WordsightError(f"open_clip:{name}: {error}") from error
        self._model.eval()
        self._tokenizer = open_clip.get_tokenizer(model)
        self._device, self._dtype = device, dtype

    def prepare(self, picture: Image) -> Tensors:
        """Pixels of one picture."""
        return {"pixels": self._transform(picture).unsqueeze(0)}

    def pictures(self, inputs: Tensors) -> torch.Tensor:
        """Vectors of a batch."""
        with torch.inference_mode():
            return _unit(self._model.encode_image(inputs["pixels"].to(self._device, self._dtype)))

    def texts(self, texts: Sequence[str]) -> torch.Tensor:
        """Vectors of texts."""
        with torch.inference_mode():
            return _unit(self._model.encode_text(self._tokenizer(list(texts)).to(self._device)))


def _open_clip_repository(model: str, weights: str | None) -> str:
    """The repository of the Hub that open_clip would take the weights from, or nothing."""
    from open_clip.pretrained import get_pretrained_cfg  # type: ignore[import-untyped]

    if weights is None:
        return model.removeprefix("hf-hub:") if model.startswith("hf-hub:") else ""
    if Path(weights).is_file():
        return ""
    # "ORG/NAME/" or "ORG/NAME/FILE"
    place: str = get_pretrained_cfg(model, weights).get("hf_hub", "")
    return place.rpartition("/")[0]


def _unit(output: Any) -> torch.Tensor:
    features = output if isinstance(output, torch.Tensor) else output.pooler_output
    return torch.nn.functional.normalize(features.float(), dim=-1).cpu()
