"""VWSD as users have it on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sage_tasks.build.pipeline import Options, build, dry_run
from sage_tasks.build.vwsd import read_vwsd
from sage_tasks.package import open_package
from wordsight.errors import DataError


def test_all_splits_are_found_whatever_their_file_names(vwsd_source: Path, tmp_path: Path) -> None:
    report = build(read_vwsd(vwsd_source), tmp_path / "out", Options())
    assert {split: e["items"] for split, e in report["configs"]["vwsd"].items()} == {
        "train": 3,
        "trial": 3,
        "test": 3,
    }
    assert report["skipped"]["total"] == 0


def test_candidates_stay_as_the_source_gives_them(vwsd_source: Path, tmp_path: Path) -> None:
    build(read_vwsd(vwsd_source), tmp_path / "out", Options())
    package = open_package(tmp_path / "out", "vwsd", "train")
    query = package.queries[1]
    assert query.term == "caf\u00e9"
    assert query.candidate_sources[0] == "train/image.10.jpg"
    assert query.candidate_sources[9] == "train/image.19.PNG"
    assert query.gold == 9
    assert set(query.kinds) == {"gold", "source"}
    source = vwsd_source / "semeval-2023-task-1-V-WSD-train-v1" / "train_v1" / "train_images_v1"
    original = (source / "IMAGE.10.JPG").read_bytes()
    assert package.picture_bytes(query.candidates[0]) == original


def test_direction_marks_are_removed_from_targets(vwsd_source: Path) -> None:
    terms = [item.term for item, _, _ in read_vwsd(vwsd_source, pictures=False).items]
    assert terms.count("mouse") == 3


def test_same_name_in_two_splits_is_two_pictures(vwsd_source: Path, tmp_path: Path) -> None:
    build(read_vwsd(vwsd_source), tmp_path / "out", Options())
    first = {
        split: open_package(tmp_path / "out", "vwsd", split).queries[0].candidates[0]
        for split in ("train", "test")
    }
    assert first["train"] != first["test"]


def test_other_languages_have_only_a_test_split(vwsd_source: Path) -> None:
    for kind, text in (("data", (vwsd_source / "en.test.data.v1.1.txt").read_text("utf-8")),):
        (vwsd_source / f"fa.test.{kind}.txt").write_text(text, encoding="utf-8")
    gold = (vwsd_source / "en.test.gold.v1.1.txt").read_text("utf-8")
    (vwsd_source / "fa.test.gold.txt").write_text(gold, encoding="utf-8")
    items = [item for item, _, _ in read_vwsd(vwsd_source, "fa").items]
    assert {(item.config, item.split) for item in items} == {("vwsd_fa", "test")}
    out = vwsd_source.parent / "fa"
    report = build(read_vwsd(vwsd_source, "fa"), out, Options())
    assert report["dataset"] == "vwsd_fa"
    card = (out / "README.md").read_text("utf-8")
    assert "language:\n- fa\n" in card
    assert "# SAGE: VWSD (fa)" in card
    with pytest.raises(DataError, match=r"it\.test\.data"):
        read_vwsd(vwsd_source, "it")


def test_faulty_rows_are_listed_with_file_and_line(vwsd_source: Path) -> None:
    data, gold = (vwsd_source / f"en.test.{kind}.v1.1.txt" for kind in ("data", "gold"))
    lines = data.read_text("utf-8").splitlines()
    lines[0] = lines[0].rsplit("\t", 1)[0]
    data.write_text("\n".join(lines), encoding="utf-8")
    golds = gold.read_text("utf-8").splitlines()
    golds[1] = "image.0.jpg"
    gold.write_text("\n".join(golds), encoding="utf-8")
    report = dry_run(read_vwsd(vwsd_source, pictures=False), Options())
    assert report["configs"]["vwsd"]["test"]["items"] == 1
    assert [(c["where"], c["reason"]) for c in report["skipped"]["cases"]] == [
        ("en.test.data.v1.1.txt:1", "11 cells instead of 12"),
        ("en.test.data.v1.1.txt:2", "the gold is not among the candidates"),
    ]


def test_gold_of_another_release_is_an_error(vwsd_source: Path) -> None:
    (vwsd_source / "en.test.gold.v1.1.txt").write_text("image.0.jpg\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"3 rows, but .* has 1"):
        read_vwsd(vwsd_source)


def test_missing_and_equal_pictures_drop_the_item_and_are_listed(
    vwsd_source: Path, tmp_path: Path, picture: Callable[..., bytes]
) -> None:
    images = vwsd_source / "test_images"
    (images / "IMAGE.0.JPG").unlink()
    (images / "IMAGE.12.PNG").write_bytes(picture(2013))  # the bytes of image.13
    report = build(read_vwsd(vwsd_source), tmp_path / "out", Options())
    assert "test" not in report["configs"]["vwsd"]
    cases = {(c["reason"], c["detail"]) for c in report["skipped"]["cases"]}
    assert ("the file is missing", "test/image.0.jpg") in cases
    assert ("a candidate picture cannot be used", "test/image.0.jpg") in cases
    doubled = "test/image.12.png and test/image.13.jpeg"
    assert ("two candidates are the same picture", doubled) in cases


def test_full_size_pictures_are_preferred_to_resized_ones(vwsd_source: Path) -> None:
    (vwsd_source / "test_images_resized").mkdir()
    assert read_vwsd(vwsd_source).folders["test"].root == vwsd_source / "test_images"


@pytest.mark.shared_data
def test_real_files_give_the_papers_counts(shared: Path) -> None:
    report = dry_run(read_vwsd(shared / "data" / "vwsd", pictures=False), Options())
    splits = report["configs"]["vwsd"]
    assert {split: e["items"] for split, e in splits.items()} == {"train": 12_869, "test": 463}
    assert all(e["difference"] == 0 for e in splits.values())
    assert report["facts"]["distinct_pictures"] == {"train": 12_999, "test": 4_090}
    assert report["facts"]["distinct_targets"]["test"] == 259
