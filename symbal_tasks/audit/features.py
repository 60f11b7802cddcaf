"""Which pictures show a feature: from a table, from references, or from an open-set detector."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from symbal_tasks.backends import Row
from symbal_tasks.cache import ContentCache, content_key
from symbal_tasks.coco import read_coco
from symbal_tasks.words import content_words
from wordsight.errors import DataError

Picture = Sequence[Row]


class FeatureSource(Protocol):
    """Marks pictures with features. A picture is given by all rows that share it."""

    @property
    def name(self) -> str:
        """What the report says about where the marks come from."""
        ...

    def candidates(self, names: Sequence[str]) -> list[str]:
        """Features that can be marked, given the names that Symbal found."""
        ...

    def shown(self, feature: str, keys: Sequence[str], pictures: Sequence[Picture]) -> list[bool]:
        """Whether each picture, given by key and rows, shows the feature."""
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

    def shown(self, feature: str, keys: Sequence[str], pictures: Sequence[Picture]) -> list[bool]:
        """Marks from the table. Raises DataError for a picture that it does not hold."""
        del pictures
        return [feature in self.of(key) for key in keys]

    def of(self, key: str) -> frozenset[str]:
        """Features of a picture by its name, with or without folder and ending."""
        for name in (key, Path(key).name, Path(key).stem):
            if name in self.by_picture:
                return self.by_picture[name]
        raise DataError(
            f"the table of features has no picture {key!r}; its first is "
            f"{next(iter(self.by_picture), 'none')!r}"
        )


@dataclass(frozen=True)
class ReferenceFeatures:
    """A picture shows what its references name. Offline, and blind to what they leave out."""

    name: str = "words of the references"

    def candidates(self, names: Sequence[str]) -> list[str]:
        """The names that hold a content word."""
        return [name for name in names if content_words(name)]

    def shown(self, feature: str, keys: Sequence[str], pictures: Sequence[Picture]) -> list[bool]:
        """Whether a reference holds all content words of the feature."""
        del keys
        wanted = set(content_words(feature))
        return [any(wanted <= set(content_words(r.reference)) for r in rows) for rows in pictures]


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

    def shown(self, feature: str, keys: Sequence[str], pictures: Sequence[Picture]) -> list[bool]:
        """Whether a box of the feature reaches the threshold. DataError without pictures."""
        marks = []
        detect: Callable[[bytes, str], float] | None = None
        for key, rows in zip(keys, pictures, strict=True):
            if rows[0].picture is None:
                raise DataError(f"picture {key}: the detector needs --images")
            content = rows[0].picture()
            kept = content_key("detect", self.pretrained, feature, content)
            held = self.cache.get_many([kept]).get(kept)
            if held is None:
                detect = detect or _detector(self.pretrained)
                held = repr(detect(content, feature)).encode()
                self.cache.put_many({kept: held})
            marks.append(float(held) >= self.threshold)
        return marks


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


def _detector(pretrained: str) -> Callable[[bytes, str], float]:
    import torch
    from transformers import AutoModelForZeroShotObjectDetection, AutoProcessor

    from wordsight.pictures import decode_rgb

    processor: Any = AutoProcessor.from_pretrained(pretrained)
    model: Any = AutoModelForZeroShotObjectDetection.from_pretrained(pretrained).eval()

    def detect(content: bytes, feature: str) -> float:
        picture = decode_rgb(io.BytesIO(content), "picture to detect in")
        inputs = processor(
            text=[[f"a photo of {feature}"]],
            images=picture,
            truncation=True,
            return_tensors="pt",
        )
        with torch.inference_mode():
            logits = model(**inputs).logits
        return float(logits.sigmoid().max())

    return detect
