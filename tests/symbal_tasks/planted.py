"""Captions of the COCO mini pictures with two planted errors, and what was planted."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

from symbal_tasks.coco import read_coco
from symbal_tasks.phrases import mention_pattern, template_sentences

# t, v: pictures that truly show or name a t are left out
PLANTED = (("kite", "person"), ("umbrella", "bottle"))


@dataclass(frozen=True)
class Plant:
    """Files of a caption set, and for each planted error the pictures that got it."""

    captions: Path
    features: Path
    images: Path
    wrong: dict[str, set[str]]
    shows: dict[str, set[str]]
    pictures: list[str]


def plant(mini: Path, folder: Path, seed: int = 3) -> Plant:
    """Write captions.jsonl: two true captions of each boxed picture, planted ones, references."""
    annotations = mini / "annotations"
    pictures = read_coco(
        annotations / "instances_val2017.json", annotations / "captions_val2017.json"
    )
    pictures = tuple(
        picture
        for picture in pictures
        if not any(
            t in picture.shares or mention_pattern(t, True).search(" ".join(picture.captions))
            for t, _ in PLANTED
        )
    )
    rng = random.Random(seed)
    wrong: dict[str, set[str]] = {t: set() for t, _ in PLANTED}
    rows = []
    for picture in pictures:
        caption = " ".join(picture.captions[:2])
        for t, v in PLANTED:
            if rng.random() < (0.9 if v in picture.shares else 0.05):
                caption += " " + rng.choice(template_sentences(t))
                wrong[t].add(picture.file)
        rows.append(
            {
                "image": picture.file,
                "caption": caption,
                "reference": " ".join(picture.captions[2:]),
            }
        )
    path = folder / "captions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shows = {v: {p.file for p in pictures if v in p.shares} for _, v in PLANTED}
    return Plant(
        path,
        annotations / "instances_val2017.json",
        mini / "val2017",
        wrong,
        shows,
        [p.file for p in pictures],
    )
