"""WikiDiverse: names, the entity-picture map, hard negatives, labels alone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from sage_tasks.build.pipeline import Options, build, dry_run
from sage_tasks.build.wiki_labels import label_report
from sage_tasks.build.wiki_names import entity_title, file_names, picture_name
from sage_tasks.build.wikidiverse import read_wikidiverse
from sage_tasks.package import open_package
from sage_tasks.records import Query
from wordsight.errors import DataError

WIKI = "https://en.wikipedia.org/wiki/"
Built = tuple[dict[str, Query], dict[str, Any]]


@pytest.mark.parametrize(
    ("address", "title"),
    [
        (WIKI + "Red_Hat", "Red_Hat"),
        ("n" + WIKI + "Red_Hat", "Red_Hat"),
        ("h" + WIKI + "Red_Hat", "Red_Hat"),
        ("]" + WIKI + "Red_Hat", "Red_Hat"),
        (WIKI[1:] + "Red_Hat", "Red_Hat"),
        (WIKI + "Alena_K%C3%A1nov%C3%A1", "Alena_K\u00e1nov\u00e1"),
        (WIKI + "Alena_Ka\u0301nova\u0301", "Alena_K\u00e1nov\u00e1"),
        (WIKI + "AC/DC", "AC/DC"),
        (WIKI + "Turkey#History", "Turkey"),
        ("red hat", "Red_hat"),
        ("nil", ""),
        ("NIL", ""),
        ("", ""),
    ],
)
def test_entity_titles(address: str, title: str) -> None:
    assert entity_title(address) == title


def test_picture_names_are_hashes_of_the_last_part() -> None:
    digest = hashlib.md5(b"Flag_of_X.svg").hexdigest()
    address = "https://upload.example.org/a/ab/Flag_of_X.svg"
    assert picture_name(address) == digest + ".png"
    whole = hashlib.md5(address.encode()).hexdigest()
    assert file_names(address) == [
        f"{stem}{end}" for stem, end in ((digest, ".png"), (digest, ".svg"))
    ] + [f"{whole}.svg", f"{whole}.png"]
    assert picture_name("https://x/220px-X.svg.PNG").endswith(".PNG")


@pytest.fixture
def built(wikidiverse_source: dict[str, Path], tmp_path: Path) -> Built:
    out = tmp_path / "out"
    source = read_wikidiverse(wikidiverse_source["source"], wikidiverse_source["images"])
    report = build(source, out, Options())
    return {q.term: q for q in open_package(out, "wikidiverse").queries}, report


def test_counts_and_reasons(built: Built) -> None:
    queries, report = built
    assert len(queries) == 15
    assert report["configs"]["wikidiverse"]["validation"]["items"] == 12
    assert report["facts"]["nil"] == 2
    assert report["facts"]["gold_without_a_picture_address"] == {"test": 1}
    reasons = report["skipped"]["by_reason"]
    assert reasons["row: NIL: the mention has no entity"] == 2
    assert reasons["item: the entity has no usable picture"] == 1
    assert reasons["picture: the file is missing"] == 17
    where = [c["where"] for c in report["skipped"]["cases"] if c["reason"].startswith("NIL")]
    assert where == ["test_w_10cands.json: element 3", "test_w_10cands.json: element 4"]


def test_other_candidates_are_hard_once_each_and_the_gold_is_not(
    built: Built,
) -> None:
    queries, _ = built
    jaguar = queries["Jaguar"]
    assert jaguar.sense == "Jaguar_Cars"
    hard = {s for s, k in zip(jaguar.candidate_sources, jaguar.kinds, strict=True) if k == "hard"}
    assert len(hard) == 2  # the animal (listed twice) and the band
    flore = queries["Flore"]
    assert flore.sense == "Caf\u00e9_de_Flore"
    assert "hard" not in flore.kinds  # its only candidate has no picture
    assert flore.kinds.count("random") == 9


def test_random_negatives_are_not_pictures_of_candidates(
    built: Built,
) -> None:
    queries, _ = built
    jaguar = queries["Jaguar"]
    related = {
        s for s, k in zip(jaguar.candidate_sources, jaguar.kinds, strict=True) if k != "random"
    }
    randoms = [
        s for s, k in zip(jaguar.candidate_sources, jaguar.kinds, strict=True) if k == "random"
    ]
    assert len(randoms) == 7
    assert not related & set(randoms)


def test_dry_run_needs_no_pictures(wikidiverse_source: dict[str, Path]) -> None:
    report = dry_run(read_wikidiverse(wikidiverse_source["source"]), Options())
    assert report["configs"]["wikidiverse"]["test"]["items"] == 15


def test_dry_run_without_the_picture_map_counts_every_linked_mention(
    wikidiverse_source: dict[str, Path],
) -> None:
    (wikidiverse_source["source"] / "wikipedia_entity2imgs.tsv").unlink()
    report = dry_run(read_wikidiverse(wikidiverse_source["source"]), Options())
    assert report["configs"]["wikidiverse"]["test"]["items"] == 16
    assert report["facts"]["picture_map"].startswith("missing")


def test_rows_of_the_file_without_candidates_are_refused(
    wikidiverse_source: dict[str, Path],
) -> None:
    path = wikidiverse_source["source"] / "test_w_10cands.json"
    path.write_text(json.dumps([["A caption.", "http://x/y.jpg", "topic", []]]), encoding="utf-8")
    with pytest.raises(DataError, match=r"element 0: 4 fields instead of 11"):
        read_wikidiverse(wikidiverse_source["source"])


def test_a_build_without_the_picture_map_is_refused(wikidiverse_source: dict[str, Path]) -> None:
    (wikidiverse_source["source"] / "wikipedia_entity2imgs.tsv").unlink()
    with pytest.raises(DataError, match=r"wikipedia_entity2imgs\.tsv"):
        read_wikidiverse(wikidiverse_source["source"], wikidiverse_source["images"])


@pytest.mark.shared_data
def test_real_labels_are_counted_and_the_distance_is_told(shared: Path) -> None:
    report = label_report(shared / "data" / "wikidiverse")
    assert report is not None
    facts = report["facts"]
    assert (facts["labels"], facts["nil"], facts["linked"]) == (1_570, 287, 1_283)
    assert facts["linked_minus_paper"] == 40
    assert report["skipped"]["total"] == 287
    assert "40 more than the paper's 1243" in report["notes"][0]
