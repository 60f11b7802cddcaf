"""A dataset folder opens, or says which file and item is wrong and why."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sage_tasks.package import open_package
from sage_tasks.records import item_id
from wordsight.errors import DataError

Edit = Callable[[Path, Callable[[list[dict[str, Any]]], object]], None]


def _rehash(row: dict[str, Any]) -> None:
    row["id"] = item_id(row["task"], row["term"], row["context"], row["candidate_sources"])


def test_a_valid_folder_opens_and_decodes_pictures(dataset: Path) -> None:
    package = open_package(dataset, "toy")

    picture = package.picture(package.queries[0].candidates[3])

    assert (picture.mode, picture.size) == ("RGB", (8, 6))
    assert picture.getpixel((0, 0)) == (60, 0, 195)


def test_fingerprint_depends_on_content_and_not_on_order(dataset: Path, change: Edit) -> None:
    before = open_package(dataset, "toy").fingerprint
    change(dataset / "toy" / "test.jsonl", lambda rows: rows.reverse())

    assert open_package(dataset, "toy").fingerprint == before


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere.*does not exist"):
        open_package(tmp_path / "nowhere", "toy")


def test_unknown_config_lists_those_that_are_there(dataset: Path) -> None:
    with pytest.raises(DataError, match=r"no config 'tay'.*\['toy'\]"):
        open_package(dataset, "tay")


def test_missing_picture_names_file_and_item(dataset: Path) -> None:
    item = open_package(dataset, "toy").queries[0].id
    (dataset / "images" / "p0.png").unlink()

    with pytest.raises(DataError, match=rf"p0\.png.*{item}.*missing"):
        open_package(dataset, "toy")


def test_a_changed_picture_is_noticed(dataset: Path) -> None:
    package = open_package(dataset, "toy")
    path = dataset / "images" / "p0.png"
    path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(DataError, match=rf"p0\.png.*{package.queries[0].id}.*changed or cut"):
        package.picture(package.queries[0].candidates[0])


def test_a_broken_picture_names_file_and_item(dataset: Path, change: Edit) -> None:
    import hashlib

    broken = b"RIFF\x00\x00\x00\x00WEBPVP8 "
    (dataset / "images" / "p0.png").write_bytes(broken)
    content = hashlib.sha256(broken).hexdigest()

    def swap(rows: list[dict[str, Any]]) -> None:
        rows[0]["id"] = content

    def point(rows: list[dict[str, Any]]) -> None:
        rows[0]["candidates"][0] = content

    change(dataset / "images.jsonl", swap)
    change(dataset / "toy" / "test.jsonl", point)
    package = open_package(dataset, "toy")

    with pytest.raises(DataError, match=rf"p0\.png.*{package.queries[0].id}.*cannot be decoded"):
        package.picture(content)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("gold", 10, "gold is 10, outside 0..9"),
        ("gold", -1, "gold is -1, outside 0..9"),
        ("term", "  ", "term: String should have at least 1 character"),
        ("kinds", ["gold"] * 10, "'gold' at the gold index and nowhere else"),
        ("candidates", ["ab"] * 10, "candidates.0"),
        ("colour", "red", "colour: Extra inputs are not permitted"),
    ],
)
def test_a_wrong_field_names_file_line_item_and_field(
    dataset: Path, change: Edit, field: str, value: object, message: str
) -> None:
    def damage(rows: list[dict[str, Any]]) -> None:
        rows[1][field] = value

    change(dataset / "toy" / "test.jsonl", damage)
    item = json.loads((dataset / "toy" / "test.jsonl").read_text().splitlines()[1])["id"]

    with pytest.raises(DataError) as caught:
        open_package(dataset, "toy")
    assert "test.jsonl: line 2" in str(caught.value)
    assert item in str(caught.value)
    assert message in str(caught.value)


def test_candidate_that_no_picture_has(dataset: Path, change: Edit) -> None:
    def damage(rows: list[dict[str, Any]]) -> None:
        rows[0]["candidates"][4] = "0" * 64

    change(dataset / "toy" / "test.jsonl", damage)

    with pytest.raises(DataError, match=r"item [0-9a-f]{20} \('bat'\): candidate 4 is picture 000"):
        open_package(dataset, "toy")


def test_the_same_picture_twice_among_candidates(dataset: Path, change: Edit) -> None:
    def damage(rows: list[dict[str, Any]]) -> None:
        rows[0]["candidates"][4] = rows[0]["candidates"][5]

    change(dataset / "toy" / "test.jsonl", damage)

    with pytest.raises(DataError, match="the same picture stands twice"):
        open_package(dataset, "toy")


def test_duplicate_item(dataset: Path, change: Edit) -> None:
    change(dataset / "toy" / "test.jsonl", lambda rows: rows.append(rows[0]))

    with pytest.raises(DataError, match=r"item [0-9a-f]{20} stands twice"):
        open_package(dataset, "toy")


def test_an_edited_item_no_longer_fits_its_id(dataset: Path, change: Edit) -> None:
    def damage(rows: list[dict[str, Any]]) -> None:
        rows[0]["context"] = "another context"

    change(dataset / "toy" / "test.jsonl", damage)

    with pytest.raises(DataError, match="content hashes to"):
        open_package(dataset, "toy")


def test_a_file_cut_in_the_middle_names_the_line(dataset: Path) -> None:
    path = dataset / "toy" / "test.jsonl"
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(DataError, match=r"test\.jsonl: line 2: not JSON.*cut"):
        open_package(dataset, "toy")


def test_a_hostile_file_name_cannot_leave_the_dataset(dataset: Path, change: Edit) -> None:
    def damage(rows: list[dict[str, Any]]) -> None:
        rows[0]["file"] = "../../secret.png"

    change(dataset / "images.jsonl", damage)

    with pytest.raises(DataError, match="outside the images folder"):
        open_package(dataset, "toy")


def test_item_ids_do_not_depend_on_picture_bytes() -> None:
    ids = {item_id("t", "bat", "bat cave", [f"p{i}" for i in range(10)]) for _ in range(2)}
    other = item_id("t", "bat", "bat cave", [f"p{i}" for i in reversed(range(10))])

    assert len(ids) == 1
    assert other not in ids
