"""Pictures out of Parquet shards."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from sage_tasks.build.scan import Scanned
from sage_tasks.build.writer import Stored, picture_record, write_images
from sage_tasks.image_shards import KEPT_GROUPS, ImageShards
from sage_tasks.package import open_package
from wordsight.errors import DataError

PICTURES = 300


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    """Picture id -> bytes; what the bytes are does not matter to the reader."""
    draw = np.random.default_rng(0)
    values = [draw.bytes(int(size)) for size in draw.integers(50, 5_000, PICTURES)]
    return {hashlib.sha256(value).hexdigest(): value for value in values}


@pytest.fixture
def folder(contents: dict[str, bytes], tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    stored = []
    for number, (identity, value) in enumerate(contents.items()):
        path = tmp_path / "source" / f"{number}.png"
        path.write_bytes(value)
        scanned = Scanned(
            f"{number}.png", str(path), id=identity, stored_bytes=len(value), width=1, height=1
        )
        stored.append(Stored(picture_record(scanned, "made", "", ""), scanned))
    write_images(tmp_path / "images", stored, shard_bytes=150_000)
    assert len(list((tmp_path / "images").iterdir())) > 3
    return tmp_path / "images"


def test_every_picture_is_found_again(folder: Path, contents: dict[str, bytes]) -> None:
    shards = ImageShards(folder)
    rows = [row["id"] for row, _ in shards.rows()]
    assert rows == list(contents)
    for identity in reversed(rows):
        assert shards.read(identity) == contents[identity]
    assert len(shards._groups) <= KEPT_GROUPS


def test_threads_do_not_mix_pictures_up(folder: Path, contents: dict[str, bytes]) -> None:
    shards = ImageShards(folder)
    ids = [row["id"] for row, _ in shards.rows()]
    order = [ids[i] for i in np.random.default_rng(1).integers(0, len(ids), 2_000)]
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(shards.read, order))
    assert all(hashlib.sha256(v).hexdigest() == i for v, i in zip(read, order, strict=True))


def test_a_cut_shard_is_named(folder: Path) -> None:
    cut = sorted(folder.iterdir())[1]
    cut.write_bytes(cut.read_bytes()[:-20])
    with pytest.raises(DataError, match=cut.name):
        list(ImageShards(folder).rows())


def test_a_picture_in_two_shards_is_refused(folder: Path) -> None:
    first = sorted(folder.iterdir())[0]
    first.with_name("zzz.parquet").write_bytes(first.read_bytes())
    (folder.parent / "vwsd").mkdir()
    _write_query(folder.parent / "vwsd", [str(row["id"]) for row, _ in ImageShards(folder).rows()])
    with pytest.raises(DataError, match=r"zzz\.parquet: row 0: picture .* stands twice"):
        open_package(folder.parent, "vwsd")


def _write_query(folder: Path, ids: list[str]) -> None:
    from sage_tasks.build.writer import write_queries
    from sage_tasks.records import Kind, Query, item_id

    names = tuple(f"{n}.png" for n in range(10))
    others: list[Kind] = ["source"] * 9
    query = Query(
        id=item_id("sage_vwsd", "bat", "a bat", names),
        task="sage_vwsd",
        term="bat",
        context="a bat",
        candidates=tuple(ids[:10]),
        candidate_sources=names,
        kinds=("gold", *others),
        gold=0,
        source_id="0",
    )
    write_queries(folder, "test", [query])
