"""Made-up sources in the shape of the official ones."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image


def png(number: int, side: int = 8) -> bytes:
    """A picture that differs from that of every other number below 2 ** 24."""
    stream = io.BytesIO()
    colour = (number & 255, number >> 8 & 255, number >> 16)
    Image.new("RGB", (side, side), colour).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture
def picture() -> Callable[..., bytes]:
    return png


@pytest.fixture
def vwsd_source(tmp_path: Path) -> Path:
    """The users' layout: train and trial below the train package, test beside it."""
    root = tmp_path / "vwsd_download"
    packages = {
        "train": root / "semeval-2023-task-1-V-WSD-train-v1" / "train_v1",
        "trial": root / "semeval-2023-task-1-V-WSD-train-v1" / "trial_v1",
        "test": root,
    }
    files = {
        "train": ("train.data.v1.txt", "train_images_v1", "\r\n"),
        "trial": ("trial.data.txt", "trial_images_v1", "\n"),
        "test": ("en.test.data.v1.1.txt", "test_images", "\n"),
    }
    suffixes = ["jpg", "JPG", "png", "jpeg", "PNG"]
    for offset, (split, folder) in enumerate(packages.items()):
        data, images, end = files[split]
        (folder / images).mkdir(parents=True)
        names = [f"image.{n}.{suffixes[n % 5]}" for n in range(20)]
        for number, name in enumerate(names):
            # on disk the suffix is in another case than in the list
            (folder / images / name.swapcase()).write_bytes(png(1000 * offset + number))
        rows = [
            ["bat", "flying bat", *names[:10]],
            ["caf\u00e9", "caf\u00e9 terrace", *names[10:]],
            ["m\u200eouse", "computer mouse", *names[5:15]],
        ]
        golds = [names[0], names[19], names[7]]
        text = end.join("\t".join(row) for row in rows) + end
        (folder / data).write_bytes(text.encode())
        (folder / data.replace(".data.", ".gold.")).write_bytes((end.join(golds) + end).encode())
    return root


@pytest.fixture
def verse_source(tmp_path: Path) -> dict[str, Path]:
    """Annotations, captions and pictures: verbs with one to three senses over both splits."""
    rows: list[tuple[str, str, str]] = []
    number = 0

    def add(verb: str, sense: str, split: str, count: int) -> None:
        nonlocal number
        for _ in range(count):
            number += 1
            rows.append((verb, f"COCO_{split}2014_{number:012d}.jpg", sense))

    add("ride", "1", "val", 4)
    add("ride", "1", "train", 1)
    add("play", "1", "val", 3)
    add("play", "2", "val", 2)
    add("play", "7.10", "train", 1)
    add("play", "7.1", "train", 2)
    add("hold", "1", "val", 12)
    add("hold", "1", "train", 12)
    add("wave", "-1", "val", 1)
    rows.append(("ride", "some_tuhoi_picture.jpg", "1"))
    # the same picture under two verbs: no negative for either
    rows.append(("hold", rows[0][1], "1"))
    folder = tmp_path / "verse_download"
    (folder / "val2014").mkdir(parents=True)
    (folder / "train2014").mkdir()
    annotations = folder / "3.5k_verse_gold_image_sense_annotations.csv"
    with annotations.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\r\n")
        writer.writerow(["lemma", "image", "sense_chosen", "COCO/TUHOI"])
        writer.writerows([*row, "COCO" if row[1].startswith("COCO") else "TUHOI"] for row in rows)
    gerunds = {"ride": "riding", "play": "playing", "hold": "holding", "wave": "waving"}
    notes: dict[str, list[Any]] = {"train": [], "val": []}
    images: dict[str, list[Any]] = {"train": [], "val": []}
    for index, name in enumerate(dict.fromkeys(r[1] for r in rows if r[1].startswith("COCO"))):
        split = "train" if "train" in name else "val"
        identity = int(name[-16:-4])
        verb = next(r[0] for r in rows if r[1] == name)
        (folder / f"{split}2014" / name).write_bytes(png(index + 1))
        images[split].append({"id": identity, "license": 4, "flickr_url": f"http://f/{identity}"})
        # annotation ids out of order: the second in the file comes first
        notes[split] += [
            {
                "id": 2 * index + 1,
                "image_id": identity,
                "caption": f"A person {gerunds[verb]} it. ",
            },
            {"id": 2 * index, "image_id": identity, "caption": "A scene."},
        ]
    licences = [{"id": 4, "url": "http://creativecommons.org/licenses/by/2.0/", "name": "BY"}]
    for split in ("train", "val"):
        document = {
            "images": images[split],
            "annotations": notes[split],
            "licenses": licences,
        }
        (folder / f"captions_{split}2014.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "verse_visualness_labels.csv").write_bytes(
        b"lemma\tsense_num\tdefinition\tontonotes_sense_examples\tvisualness_label\r\n"
        b'ride\t1\t"sit on and\nbe carried"\t"one.\ntwo."\t1.0\n'
        b"play\t7.1\tseven point one\tx\t1.0\r\n"
        b"play\t7.10\tseven point ten\tx\t1.0\n"
        b"play\t7.1\tnot this one\tx\t1.0\n"
    )
    return {"folder": folder, "annotations": annotations}


@pytest.fixture
def verse_options(verse_source: dict[str, Path]) -> dict[str, Any]:
    """Arguments of ``read_verse`` for a whole build."""
    folder = verse_source["folder"]
    return {
        "annotations": verse_source["annotations"],
        "captions": [folder / "captions_train2014.json", folder / "captions_val2014.json"],
        "coco_images": folder,
    }


WIKI = "https://en.wikipedia.org/wiki/"
UPLOAD = "https://upload.example.org/"


@pytest.fixture
def wikidiverse_source(tmp_path: Path) -> dict[str, Path]:
    """Eleven-field rows with the faults of the real ones, and the entity-picture map."""
    root = tmp_path / "wikidiverse_download"
    images = root / "images"
    images.mkdir(parents=True)
    others = [f"Other_{n}" for n in range(12)]
    titles = ["Caf\u00e9_de_Flore", "AC/DC", "Jaguar_Cars", "Jaguar", "Jaguar_(band)", *others]
    lines = []
    for number, title in enumerate(titles):
        suffix = [".jpg", ".JPG", ".svg", ".png", ".jpeg", ".gif"][number % 6]
        address = f"{UPLOAD}{number % 7:x}/pic_{number}{suffix}"
        last = address.rsplit("/", 1)[1]
        # two ways of naming are seen: after the last part, and after the whole address
        stem = hashlib.md5((address if number == 3 else last).encode()).hexdigest()
        stored = ".png" if suffix in (".svg", ".gif") else suffix
        (images / (stem + stored)).write_bytes(png(number + 1))
        lines.append(f"{title}@@@@{UPLOAD}0/gone_{number}.jpg[AND]{address}")
    lines.append("Without_picture@@@@")
    (root / "wikipedia_entity2imgs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def row(mention: str, entity: str, candidates: list[str]) -> list[Any]:
        sentence = f"A photograph of {mention} in town."
        url = f"{UPLOAD}a/news.jpg"
        return [sentence, url, mention, "Thing", ["A"], ["town"], entity, candidates, "news", 0, 1]

    jaguars = [WIKI + t for t in ("Jaguar", "Jaguar", "Jaguar_(band)", "Jaguar_Cars")]
    test = [
        row("Jaguar", "n" + WIKI + "Jaguar_Cars", jaguars),
        row("Flore", "]" + WIKI + "Caf%C3%A9_de_Flore", [WIKI + "Without_picture"]),
        row("AC/DC", WIKI + "AC/DC", []),
        row("nobody", "nil", jaguars),
        row("nobody else", "NIL", []),
        row("hidden", WIKI + "Without_picture", jaguars),
        *(row(f"other {t}", "h" + WIKI + t, [WIKI + "Jaguar"]) for t in others),
    ]
    (root / "test_w_10cands.json").write_text(json.dumps(test), encoding="utf-8")
    valid = [row(f"other {t}", WIKI + t, []) for t in others]
    (root / "valid_w_10cands.json").write_text(json.dumps(valid), encoding="utf-8")
    return {"source": root, "images": images}
