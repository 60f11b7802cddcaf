"""COCO captions: the official files, and the joined form of VerSe items with their captions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sage_tasks.build.plan import PictureInfo
from sage_tasks.build.text import read_json
from wordsight.errors import DataError


@dataclass
class Captions:
    """Captions and picture facts per COCO picture number."""

    texts: dict[int, list[str]] = field(default_factory=dict)
    infos: dict[int, PictureInfo] = field(default_factory=dict)


def coco_number(name: str) -> int | None:
    """12345 for "COCO_val2014_000000012345.jpg" and "000000012345.jpg"; None for other names."""
    match = re.search(r"(?:^|_)(\d{12})\.\w+$", name)
    return int(match.group(1)) if match else None


def read_captions(paths: Iterable[Path], wanted: set[int]) -> Captions:
    """Captions of the wanted pictures, in the order of their annotation ids.

    A path is an official ``captions_*.json`` or a list of ``{"image", "captions"}`` objects. One
    file is in memory at a time. Raises DataError for any other content.
    """
    result = Captions()
    for path in paths:
        document = read_json(path)
        if isinstance(document, dict) and "annotations" in document:
            _official(document, wanted, result)
        elif isinstance(document, list) and all("captions" in entry for entry in document):
            for entry in document:
                number = coco_number(entry.get("image", ""))
                if number in wanted and number not in result.texts:
                    texts = [text.strip() for text in entry["captions"] if text.strip()]
                    result.texts[number] = texts
        else:
            raise DataError(
                f"{path}: neither COCO captions (an object with 'annotations') nor a list of "
                "objects with 'image' and 'captions'"
            )
    return result


def _official(document: dict[str, Any], wanted: set[int], result: Captions) -> None:
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for annotation in document["annotations"]:
        number, text = annotation["image_id"], annotation["caption"].strip()
        if number in wanted and text:
            found[number].append((annotation["id"], text))
    for number, texts in found.items():
        result.texts[number] = [text for _, text in sorted(texts)]
    names = {licence["id"]: licence for licence in document.get("licenses", [])}
    for image in document.get("images", []):
        if image["id"] in wanted:
            licence = names.get(image.get("license"), {})
            result.infos[image["id"]] = PictureInfo(
                "COCO 2014", licence.get("url") or "", image.get("flickr_url") or ""
            )
