"""SPIS over the real VerSe items with captions, evaluated through lmms-eval by two oracles.

Pictures are made: each holds, in its pixels, the verb senses and the name of the COCO picture that
it stands for. What the oracles must score follows on paper:

* One that knows the meant sense and reads the senses off the picture finds the gold whichever
  picture of that sense it is: 1 on original and swapped, so Delta_SPIS = 0. Without the verb it
  knows no sense, all ten candidates tie, and a tie over ten is worth 1/10: Delta_verb = 0.9.
* One that recognises nothing but the caption's own picture finds it in the original pairing, with
  and without the verb: 1. In the swapped pairing that picture is not among the ten, all tie, 1/10:
  Delta_SPIS = 0.9, Delta_verb = 0.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image

from sage_tasks.build.neutralise import neutralise, pick_caption
from sage_tasks.build.pipeline import Options, build
from sage_tasks.build.verse import SPIS_VARIANTS, read_verse
from sage_tasks.package import open_package
from tests.wordsight.helpers import Scripted, read_run
from wordsight.answers import similarity
from wordsight.models.base import Ask
from wordsight.run.harness import run
from wordsight.run.spec import RunSpec
from wordsight.task_paths import task_folder

SIDE = 24
ORIGINAL, ORIGINAL_NEUTRAL, SWAPPED, SWAPPED_NEUTRAL = SPIS_VARIANTS


def engrave(text: str) -> bytes:
    """A picture whose pixels spell a text."""
    stream = io.BytesIO()
    pixels = text.encode().ljust(3 * SIDE * SIDE)
    Image.frombytes("RGB", (SIDE, SIDE), pixels).save(stream, "PNG")
    return stream.getvalue()


def engraved(ask: Ask) -> dict[str, Any]:
    """What the picture of a request spells."""
    stated: dict[str, Any] = json.loads(ask.source.picture(ask.image_id).tobytes())
    return stated


@dataclass(frozen=True)
class Built:
    """The dataset folder and what the oracles know about the captions."""

    folder: Path
    sense_of: dict[tuple[str, str], str]
    picture_of: dict[str, set[str]]


@pytest.fixture(scope="module")
def spis(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    verse = shared / "data" / "verse"
    annotations = verse / "3.5k_verse_gold_image_sense_annotations.csv"
    captions = verse / "verse_val2017_with_captions.json"
    root = tmp_path_factory.mktemp("spis")
    senses: dict[str, list[list[str]]] = {}
    with annotations.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["image"].startswith("COCO"):
                senses.setdefault(row["image"], []).append([row["lemma"], row["sense_chosen"]])
    (root / "coco").mkdir()
    for name, shown in senses.items():
        content = engrave(json.dumps({"picture": name, "senses": shown}))
        (root / "coco" / name).write_bytes(content)
    source = read_verse(annotations, [captions], root / "coco", variants=SPIS_VARIANTS)
    build(source, root / "verse", Options())
    sense_of: dict[tuple[str, str], str] = {}
    picture_of: dict[str, set[str]] = {}
    for item in json.loads(captions.read_text("utf-8")):
        caption = pick_caption([text.strip() for text in item["captions"]], item["verb"])
        sense_of[item["verb"], caption] = item["sense"]
        for text in (caption, neutralise(caption, item["verb"])):
            picture_of.setdefault(text, set()).add(item["image"])
    return Built(root / "verse", sense_of, picture_of)


def run_all(built: Built, out: Path, say: Callable[[Ask], str]) -> dict[str, tuple[float, int]]:
    """Hits@1 and number of items per variant, both splits together, as lmms-eval reports them."""
    tasks = out / "tasks"
    tasks.mkdir(parents=True)
    names = {
        (variant, split): f"{variant}_{split}"
        for variant in SPIS_VARIANTS
        for split in ("train", "test")
    }
    for (variant, split), name in names.items():
        task = {
            "task": name,
            "include": str(task_folder() / "_sage_yes_no_yaml"),
            "test_split": split,
            "metadata": {"version": 1, "dataset": str(built.folder), "config": variant},
        }
        (tasks / f"{name}.yaml").write_text(yaml.safe_dump(task), encoding="utf-8")
    spec = RunSpec(model="oracle", tasks=tuple(names.values()), include_path=str(tasks))
    assert run(spec, out / "run", model=Scripted(say), quiet=True) is not None
    metrics = read_run(out / "run").metrics
    result = {}
    for variant in SPIS_VARIANTS:
        sizes = {
            split: len(open_package(built.folder, variant, split).queries)
            for split in ("train", "test")
        }
        hits = sum(metrics[names[variant, s]]["hits1"] * size for s, size in sizes.items())
        total = sum(sizes.values())
        result[variant] = (hits / total, total)
    return result


@pytest.mark.shared_data
def test_an_oracle_of_senses_is_untouched_by_the_swap(spis: Built, tmp_path: Path) -> None:
    def say(ask: Ask) -> str:
        meant = spis.sense_of.get((ask.term, ask.context))
        return similarity(float([ask.term, meant] in engraved(ask)["senses"]))

    results = run_all(spis, tmp_path, say)

    assert {total for _, total in results.values()} == {151}
    hits = {variant: value for variant, (value, _) in results.items()}
    assert hits[SWAPPED] == 1.0
    assert hits[ORIGINAL] - hits[SWAPPED] == 0.0
    assert hits[SWAPPED_NEUTRAL] == pytest.approx(0.1)
    assert hits[SWAPPED] - hits[SWAPPED_NEUTRAL] == pytest.approx(0.9)


@pytest.mark.shared_data
def test_an_oracle_of_captions_lives_on_the_original_pairing(spis: Built, tmp_path: Path) -> None:
    def say(ask: Ask) -> str:
        own = spis.picture_of.get(ask.context, set())
        return similarity(float(engraved(ask)["picture"] in own))

    hits = {variant: value for variant, (value, _) in run_all(spis, tmp_path, say).items()}

    assert hits[ORIGINAL] == hits[ORIGINAL_NEUTRAL] == 1.0
    assert hits[SWAPPED] == pytest.approx(0.1)
    assert hits[ORIGINAL] - hits[SWAPPED] == pytest.approx(0.9)
    assert hits[SWAPPED] - hits[SWAPPED_NEUTRAL] == pytest.approx(0.0)
