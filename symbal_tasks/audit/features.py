"""Which pictures show a feature: from a table, from references, or from an open-set detector."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from symbal_tasks.backends import Row
from symbal_tasks.cache import ContentCache, content_key
from symbal_tasks.coco import read_coco
from symbal_tasks.words import content_words
from wordsight.errors import DataError
from wordsight.models.device import usable_device

Picture = Sequence[Row]
# for each feature the keys of the pictures that show it
Marks = dict[str, set[str]]


class FeatureSource(Protocol):
    """Marks pictures with features. A picture is given by all rows that share it."""

    @property
    def name(self) -> str:
        """What the report says about where the marks come from."""
        ...

    def candidates(self, names: Sequence[str]) -> list[str]:
        """Features that can be marked, given the names that Symbal found."""
        ...

    def marks(
        self, features: Sequence[str], keys: Sequence[str], pictures: Sequence[Picture]
    ) -> Marks:
        """Which pictures, given by key and rows, show each feature."""
        ...


@dataclass(frozen=True)
class TableFeatures:
    """A table of features per picture. All its features are candidates, whatever was named:
    the one that goes best with the error in the first half of the pictures is tested on the second.
    """

    by_picture: Mapping[str, frozenset[str]]
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """Size of the table."""
        return f"table of {len(self.names)} features over {len(self.by_picture)} pictures"

    def candidates(self, names: Sequence[str]) -> list[str]:
        """Every feature of the table."""
        del names
        return list(self.names)

    def marks(
        self, features: Sequence[str], keys: Sequence[str], pictures: Sequence[Picture]
    ) -> Marks:
        """Marks from the table. Raises DataError for a picture that it does not hold."""
        del pictures
        shown = {key: self.of(key) for key in keys}
        return {feature: {k for k in keys if feature in shown[k]} for feature in features}

    def of(self, key: str) -> frozenset[str]:
        """Features of a picture by its name, with or without folder and ending."""
        for name in (key, Path(key).name, Path(key).stem):
            if name in self.by_picture:
                return self.by_picture[name]
        same = self._by_stem.get(Path(key).stem, [])
        if len(same) == 1:
            return self.by_picture[same[0]]
        raise DataError(
            f"the table of features has no picture {key!r}; its first is "
            f"{next(iter(self.by_picture), 'none')!r}"
        )

    @cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        # a webdataset names pictures without their ending
        found: dict[str, list[str]] = {}
        for name in self.by_picture:
            found.setdefault(Path(name).stem, []).append(name)
        return found


@dataclass(frozen=True)
class ReferenceFeatures:
    """A picture shows what its references name. Offline, and blind to what they leave out."""

    name: str = "words of the references"

    def candidates(self, names: Sequence[str]) -> list[str]:
        """The names that hold a content word."""
        return [name for name in names if content_words(name)]

    def marks(
        self, features: Sequence[str], keys: Sequence[str], pictures: Sequence[Picture]
    ) -> Marks:
        """A picture shows a feature if one of its references holds all content words of it."""
        wanted = {feature: set(content_words(feature)) for feature in features}
        marks: Marks = {feature: set() for feature in features}
        for key, rows in zip(keys, pictures, strict=True):
            said = [set(content_words(row.reference)) for row in rows]
            for feature, words in wanted.items():
                if any(words <= one for one in said):
                    marks[feature].add(key)
        return marks


@dataclass(frozen=True)
class DetectorFeatures:
    """An open-set detector (OWLv2 in the paper), by transformers; marks are cached by content."""

    pretrained: str = "google/owlv2-large-patch14-ensemble"
    threshold: float = 0.2
    cache: ContentCache = field(default_factory=ContentCache, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Detector and threshold."""
        return f"detector {self.pretrained} at {self.threshold:g}"

    def candidates(self, names: Sequence[str]) -> list[str]:
        """Every name."""
        return list(names)

    def marks(
        self, features: Sequence[str], keys: Sequence[str], pictures: Sequence[Picture]
    ) -> Marks:
        """A picture shows a feature if one of its boxes reaches the threshold.

        Each picture is looked at once, for all features together. DataError without pictures.
        """
        marks: Marks = {feature: set() for feature in features}
        for key, rows in zip(keys, pictures, strict=True):
            if rows[0].picture is None:
                raise DataError(f"picture {key}: the detector needs --images")
            for feature, score in self._scores(features, rows[0].picture(), key).items():
                if score >= self.threshold:
                    marks[feature].add(key)
        return marks

    def _scores(self, features: Sequence[str], content: bytes, key: str) -> dict[str, float]:
        kept = {name: content_key("detect", self.pretrained, name, content) for name in features}
        held = self.cache.get_many(kept.values())
        if new := [name for name in features if kept[name] not in held]:
            found = self._detect(new, content, f"picture {key}")
            fresh = {
                kept[name]: repr(score).encode() for name, score in zip(new, found, strict=True)
            }
            self.cache.put_many(fresh)
            held |= fresh
        return {name: float(held[kept[name]]) for name in features}

    def _detect(self, features: Sequence[str], content: bytes, where: str) -> list[float]:
        import torch

        from wordsight.pictures import decode_rgb

        processor, model = self._loaded
        inputs = processor(
            text=[[f"a photo of {feature}" for feature in features]],
            images=decode_rgb(io.BytesIO(content), where),
            truncation=True,
            return_tensors="pt",
        ).to(model.device)
        with torch.inference_mode():
            # (1, patches, features)
            logits = model(**inputs).logits
        scores: list[float] = logits[0].sigmoid().amax(dim=0).tolist()
        return scores

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from transformers import AutoModelForZeroShotObjectDetection, AutoProcessor

        device = usable_device()
        processor: Any = AutoProcessor.from_pretrained(self.pretrained)
        model: Any = AutoModelForZeroShotObjectDetection.from_pretrained(self.pretrained)
        return processor, model.eval().to(device)


def read_features(path: Path) -> TableFeatures:
    """Read a table of features.

    CSV with a column ``image`` and one 0/1 column per feature; CSV with the columns ``image`` and
    ``feature``, a row for each feature shown; or COCO object annotations (JSON). Raises DataError
    naming file and line.
    """
    if path.suffix.lower() == ".json":
        pictures = read_coco(path)
        names = tuple(sorted({name for picture in pictures for name in picture.shares}))
        return TableFeatures({p.file: frozenset(p.shares) for p in pictures}, names)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error})") from None
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    if not rows or "image" not in rows[0]:
        raise DataError(f"{path}: expected a CSV with a column 'image' and one per feature")
    found: dict[str, set[str]] = {}
    columns = [name for name in rows[0] if name != "image"]
    if columns == ["feature"]:
        for row in rows:
            shown = found.setdefault(row["image"], set())
            if row["feature"]:
                shown.add(row["feature"])
    else:
        for number, row in enumerate(rows, 2):
            values = {name: (row[name] or "").strip() for name in columns}
            wrong = [name for name, value in values.items() if value not in ("0", "1")]
            if wrong:
                raise DataError(f"{path}: line {number}: {wrong[0]} is neither 0 nor 1")
            found[row["image"]] = {name for name, value in values.items() if value == "1"}
    names = tuple(sorted({name for shown in found.values() for name in shown}))
    return TableFeatures({key: frozenset(shown) for key, shown in found.items()}, names)
