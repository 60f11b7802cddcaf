"""Whole builds: repeatable, resumable, readable without this package."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sage_tasks.build.pipeline import Options, build, dry_run
from sage_tasks.build.report import SenseCounter
from sage_tasks.build.verse import SPIS_VARIANTS, read_verse
from sage_tasks.build.vwsd import read_vwsd
from sage_tasks.package import open_package
from wordsight.errors import DataError, WordsightError


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_build_repeats_bit_for_bit_and_another_seed_does_not(
    verse_options: dict[str, Any], tmp_path: Path
) -> None:
    for name, seed in (("one", 0), ("two", 0), ("other", 1)):
        source = read_verse(**verse_options, variants=SPIS_VARIANTS, seed=seed)
        build(source, tmp_path / name, Options(seed=seed))
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert files(tmp_path / "one") != files(tmp_path / "other")


def test_each_picture_is_stored_once_in_bounded_shards(vwsd_source: Path, tmp_path: Path) -> None:
    report = build(read_vwsd(vwsd_source), tmp_path / "out", Options(shard_bytes=1_000))
    assert report["pictures"]["stored"] == 60
    sizes = [len(p.read_bytes()) for p in (tmp_path / "out" / "images").iterdir()]
    assert len(sizes) == report["pictures"]["shards"] > 3
    used: set[str] = set()
    for split in ("train", "trial", "test"):
        package = open_package(tmp_path / "out", "vwsd", split)
        used |= set(package.images)
        for image_id in package.images:
            assert package.picture(image_id).size == (8, 8)
    assert len(used) == 60


def test_load_dataset_reads_it_in_a_process_without_this_package(
    verse_options: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    build(read_verse(**verse_options), out, Options())
    program = """
import sys
from datasets import load_dataset
queries = load_dataset(sys.argv[1], "verse", split="test")
images = load_dataset(sys.argv[1], "images", split="images")
assert not {"sage_tasks", "wordsight"} & set(sys.modules)
kinds = queries.features["kinds"].feature
gold = kinds.str2int("gold")
ids = dict(zip(images["id"], range(len(images))))
for row in queries:
    assert row["kinds"][row["gold"]] == gold and len(row["candidates"]) == 10
    assert all(image in ids for image in row["candidates"])
print(len(queries), images[0]["image"].mode, images[0]["licence"])
"""
    result = subprocess.run(
        [sys.executable, "-c", program, str(out)],
        env=os.environ | {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    expected = len(open_package(out, "verse").queries)
    assert result.stdout.split() == [
        str(expected),
        "RGB",
        "http://creativecommons.org/licenses/by/2.0/",
    ]


BUILD = """
import sys
from pathlib import Path
from sage_tasks.build.pipeline import Options, build, dry_run
from sage_tasks.build.report import SenseCounter
from sage_tasks.build.vwsd import read_vwsd
report = build(read_vwsd(Path(sys.argv[1])), Path(sys.argv[2]), Options(shard_bytes=200))
print(report["shards_written"], report["shards_kept"])
"""


def test_a_killed_build_goes_on_without_redoing_finished_shards(
    tmp_path: Path, picture: Callable[..., bytes]
) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    (source / "test_images").mkdir(parents=True)
    names = [f"image.{n}.png" for n in range(600)]
    for number, name in enumerate(names):
        (source / "test_images" / name).write_bytes(picture(number))
    rows = ["\t".join(["bat", "a bat", *names[n : n + 10]]) for n in range(0, 600, 10)]
    (source / "en.test.data.txt").write_text("\n".join(rows), encoding="utf-8")
    (source / "en.test.gold.txt").write_text("\n".join(names[::10]), encoding="utf-8")

    command = [sys.executable, "-c", BUILD, str(source), str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None and len(list((out / "images").glob("*.parquet"))) < 5:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (out / "report.json").exists(), "the build was over before it could be killed"
    done = {p.name: p.stat().st_mtime_ns for p in (out / "images").glob("*.parquet")}
    with pytest.raises(DataError):
        open_package(out, "vwsd")

    again = subprocess.run(command, capture_output=True, text=True, check=True)
    written, kept = map(int, again.stdout.split())
    assert kept == len(done) >= 5
    assert written + kept == len(list((out / "images").iterdir()))
    after = {p.name: p.stat().st_mtime_ns for p in (out / "images").iterdir()}
    assert {name: after[name] for name in done} == done

    whole = tmp_path / "whole"
    subprocess.run([*command[:-1], str(whole)], check=True, stdout=subprocess.DEVNULL)
    assert files(out) == files(whole)


def test_a_picture_that_changes_between_scan_and_writing_stops_the_build(
    vwsd_source: Path, tmp_path: Path, picture: Callable[..., bytes]
) -> None:
    target = vwsd_source / "test_images" / "IMAGE.3.JPEG"

    def meddle(stage: str, done: int) -> None:
        if stage == "pictures looked at" and done == 60:
            target.write_bytes(picture(99_999))

    with pytest.raises(DataError, match="changed while the dataset was being built"):
        build(read_vwsd(vwsd_source), tmp_path / "out", Options(progress=meddle))


def test_table_15_counts_queries_and_a_failing_lexicon_is_only_noted(vwsd_source: Path) -> None:
    def refuse(term: str) -> int:
        raise WordsightError("the day's requests are spent")

    known = {"bat": 5, "mouse": 4}
    counters = [
        SenseCounter("wordnet", "3.0", lambda term: known.get(term, 0), splits=("test",)),
        SenseCounter("babelnet", "", refuse),
    ]
    source = read_vwsd(vwsd_source, pictures=False)
    report = dry_run(source, Options(lexicons=counters))
    figures = report["lexicons"]["wordnet"]["splits"]
    assert set(figures) == {"test"}
    assert figures["test"]["coverage"] == pytest.approx(100 * 2 / 3)
    assert figures["test"]["ambiguity"] == pytest.approx(9 / 3)
    assert figures["test"]["paper"] == {"coverage": 97.84, "ambiguity": 6.94}
    assert report["notes"] == ["no figures for babelnet: the day's requests are spent"]


def test_a_folder_with_something_else_is_left_alone(vwsd_source: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(DataError, match="not empty and not a dataset"):
        build(read_vwsd(vwsd_source), tmp_path, Options())


def test_a_second_build_into_the_same_folder_leaves_nothing_of_the_first(
    verse_options: dict[str, Any], tmp_path: Path
) -> None:
    out, fresh = tmp_path / "out", tmp_path / "fresh"
    build(read_verse(**verse_options, variants=SPIS_VARIANTS), out, Options(shard_bytes=400))
    for folder in (out, fresh):
        build(read_verse(**verse_options), folder, Options())
    assert files(out) == files(fresh)


def test_the_card_names_every_config_and_split(
    verse_options: dict[str, Any], tmp_path: Path
) -> None:
    import yaml

    out = tmp_path / "out"
    build(read_verse(**verse_options, variants=SPIS_VARIANTS), out, Options())
    card = (out / "README.md").read_text("utf-8")
    header = yaml.safe_load(card.split("---\n")[1])
    named = {c["config_name"]: {d["split"] for d in c["data_files"]} for c in header["configs"]}
    assert set(named) == {*SPIS_VARIANTS, "images"}
    for config, splits in named.items():
        if config != "images":
            on_disk = {p.name.split("-")[0] for p in (out / config).iterdir()}
            assert splits == on_disk
    assert [c["config_name"] for c in header["configs"] if c.get("default")] == ["verse"]
    assert header["license"] == "cc-by-4.0"
    assert "$" not in card.split("---\n", 2)[2]
    from huggingface_hub import DatasetCard

    assert DatasetCard(card).data.license == "cc-by-4.0"


def test_the_report_says_what_was_left_out(verse_options: dict[str, Any], tmp_path: Path) -> None:
    report = build(read_verse(**verse_options), tmp_path / "out", Options())
    stored = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert stored["skipped"]["total"] == len(stored["skipped"]["cases"])
    assert stored["skipped"]["by_reason"]["row: no sense fits (-1)"] == 1
    kept = sum(e["items"] for e in stored["configs"]["verse"].values())
    rows = stored["facts"]["rows"]
    assert kept + stored["skipped"]["total"] == rows
    text = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "| verse | test |" in text
    assert (
        report["fingerprints"]["verse/test"] == open_package(tmp_path / "out", "verse").fingerprint
    )
