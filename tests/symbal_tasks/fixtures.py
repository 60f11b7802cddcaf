"""A small made-up COCO release: 60 pictures, captions, boxes, with the oddities of the real one."""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

# Two spinning thread pools on a small machine take turns instead of working.
os.environ.setdefault("OMP_NUM_THREADS", "1")

LICENCE = "http://creativecommons.org/licenses/by/2.0/"
NAMES = ("person", "dog", "umbrella", "skis", "car")


@dataclass(frozen=True)
class Release:
    """Paths of a COCO-like release."""

    instances: Path
    captions: Path
    images: Path


@pytest.fixture(scope="session")
def coco_release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    from PIL import Image

    root = tmp_path_factory.mktemp("coco")
    rng = random.Random(7)
    images: list[dict[str, object]] = []
    boxes: list[dict[str, object]] = []
    captions: list[dict[str, object]] = []
    (root / "val").mkdir()
    for key in range(1, 61):
        file = f"{key:012d}.jpg"
        images.append({"id": key, "file_name": file, "width": 100, "height": 80, "license": 4})
        Image.new("RGB", (100, 80), (key * 4, 40, 90)).save(root / "val" / file)
        shown = [name for name in NAMES if rng.random() < 0.35]
        for name in shown:
            # 20 x 20 of 100 x 80 is exactly the 5% that counts
            boxes.append(_box(len(boxes), key, name, 20, 20))
        if key % 5 == 0:
            boxes.append(_box(len(boxes), key, "car", 19, 20))
        texts = [f"A view of {' and '.join(shown) or 'nothing'} number {k}" for k in range(5)]
        if key == 3:
            texts += ["A sixth caption.", "A seventh caption."]
        if key == 4:
            texts = texts[:2]
        captions += [
            {"id": key * 10 + k, "image_id": key, "caption": text + (" \n" if k % 2 else ".")}
            for k, text in enumerate(texts)
        ]
    categories = [{"id": k, "name": name} for k, name in enumerate(NAMES)]
    licences = [{"id": 4, "name": "Attribution License", "url": LICENCE}]
    instances = root / "instances.json"
    instances.write_text(
        json.dumps(
            {
                "images": images,
                "annotations": boxes,
                "categories": categories,
                "licenses": licences,
            }
        )
    )
    captions_file = root / "captions.json"
    captions_file.write_text(json.dumps({"images": images, "annotations": captions}))
    return Release(instances, captions_file, root / "val")


def build_natural(release: Release, out: Path, images: Path | None = None) -> Path:
    """The release as a benchmark of two pairs."""
    from symbal_tasks.build import NaturalSources, build

    pairs = out.with_suffix(".csv")
    pairs.write_text("t,v\nskis,dog\ncar,umbrella\n")
    sources = NaturalSources(release.instances, release.captions)
    list(build(sources, out, images=images, pairs=str(pairs), tolerance=0.1))
    return out


def _box(key: int, image: int, name: str, width: int, height: int) -> dict[str, object]:
    return {
        "id": key,
        "image_id": image,
        "category_id": NAMES.index(name),
        "bbox": [1, 1, width, height],
        "iscrowd": 0,
    }
