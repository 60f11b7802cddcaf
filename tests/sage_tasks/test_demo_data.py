"""The demo set in the repository: whole, fair, licensed, and as its card says."""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from sage_tasks.package import Package, open_package, read_jsonl
from sage_tasks.records import ImageRecord, Query
from wordsight.errors import DataError

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "sage_tasks" / "demo"
CONFIGS = ("demo", "demo_swapped")


@pytest.fixture(scope="module")
def packages() -> dict[str, Package]:
    return {config: open_package(DEMO, config, "test") for config in CONFIGS}


@pytest.fixture(scope="module")
def pixels(packages: dict[str, Package]) -> dict[str, np.ndarray[Any, Any]]:
    """Small copies of all pictures, (32, 32, 3), and a check that each is a 224-px RGB picture."""
    small: dict[str, np.ndarray[Any, Any]] = {}
    for package in packages.values():
        for image_id in package.images.keys() - small.keys():
            picture = package.picture(image_id)
            assert picture.size == (224, 224), package.images[image_id].file
            small[image_id] = np.asarray(picture.resize((32, 32)), dtype=float)
    return small


@pytest.fixture(scope="module")
def curated() -> dict[str, dict[str, Any]]:
    """Each sense of the curation list: its file slugs, and the senses that may pass for it."""
    senses = {}
    rows = yaml.safe_load((ROOT / "tools/build_demo/senses.yaml").read_text(encoding="utf-8"))
    for term, entries in rows.items():
        for row in entries:
            slugs = set()
            for entry in row["pictures"]:
                kind, _, name = entry.partition("/")
                stem = re.sub(r"[^a-z0-9+]+", "-", name.rsplit("/", 1)[-1].lower()).strip("-")
                prefixes = ("fluent", "noto") if kind == "emoji" else (kind,)
                slugs |= {f"{prefix}-{stem}" for prefix in prefixes}
            context = row["context"].lower().replace("'", "").replace(" ", "-")
            senses[f"{term}/{context}"] = {
                "term": term,
                "synset": row["synset"],
                "slugs": slugs,
                "also": row.get("also", []),
            }
    return senses


def slugs_by_kind(package: Package, query: Query, kind: str) -> set[str]:
    pairs = zip(query.candidates, query.kinds, strict=True)
    return {package.images[i].file.removesuffix(".webp") for i, k in pairs if k == kind}


@pytest.mark.parametrize("config", CONFIGS)
def test_every_item_names_task_sense_and_gloss(packages: dict[str, Package], config: str) -> None:
    queries = packages[config].queries
    assert {q.task for q in queries} == {f"sage_{config}"}
    for query in queries:
        assert re.fullmatch(rf"[\w'-]+\.{query.pos}\.\d\d", query.sense), query.source_id
        assert len(query.gloss) > 10, query.source_id
        assert re.search(rf"\b{query.term}\b", query.context), query.source_id
        assert query.kinds.count("hard") >= 1, query.source_id
    assert len({q.source_id for q in queries}) == len(queries)
    assert min(Counter(q.gold for q in packages["demo"].queries).values()) >= 8


def test_swapped_items_differ_from_their_originals_in_the_gold_alone(
    packages: dict[str, Package],
) -> None:
    originals = {q.source_id: q for q in packages["demo"].queries}
    same_order = 0
    for query in packages["demo_swapped"].queries:
        original = originals[query.source_id]
        for field in ("term", "context", "pos", "sense", "gloss"):
            assert getattr(query, field) == getattr(original, field), query.source_id
        negatives = {
            q.task: {
                (source, kind)
                for source, kind in zip(q.candidate_sources, q.kinds, strict=True)
                if kind != "gold"
            }
            for q in (original, query)
        }
        assert negatives["sage_demo"] == negatives["sage_demo_swapped"], query.source_id
        assert query.candidates[query.gold] not in original.candidates, query.source_id
        same_order += query.gold == original.gold
    assert same_order < len(originals) / 4


def test_no_two_candidates_look_alike(
    packages: dict[str, Package], pixels: dict[str, np.ndarray[Any, Any]]
) -> None:
    for package in packages.values():
        for query in package.queries:
            for one, other in itertools.combinations(query.candidates, 2):
                distance = np.sqrt(((pixels[one] - pixels[other]) ** 2).mean())
                names = (package.images[one].file, package.images[other].file)
                assert distance > 15, (query.source_id, names)


def test_gold_shows_the_sense_and_no_negative_does(
    packages: dict[str, Package], curated: dict[str, dict[str, Any]]
) -> None:
    for package in packages.values():
        for query in package.queries:
            sense = curated[query.source_id]
            assert (sense["term"], sense["synset"]) == (query.term, query.sense)
            family = [s for s in curated.values() if s["term"] == query.term]
            others = set().union(*(s["slugs"] for s in family if s is not sense))
            passing = set().union(
                sense["slugs"],
                *(curated[name]["slugs"] for name in sense["also"]),
                *(s["slugs"] for s in curated.values() if query.source_id in s["also"]),
                *(s["slugs"] for s in curated.values() if s["synset"] == query.sense),
            )
            assert slugs_by_kind(package, query, "gold") <= sense["slugs"]
            hard = slugs_by_kind(package, query, "hard")
            assert hard <= others, query.source_id
            assert hard.isdisjoint(sense["slugs"]), query.source_id
            assert slugs_by_kind(package, query, "random").isdisjoint(passing | others), (
                query.source_id
            )


def test_pictures_on_disk_are_those_used_and_carry_a_free_licence(
    packages: dict[str, Package],
) -> None:
    records = list(read_jsonl(DEMO / "images.jsonl", ImageRecord))
    used = set().union(*(package.images for package in packages.values()))
    assert {r.id for r in records} == used
    assert {r.file for r in records} == {p.name for p in (DEMO / "images").iterdir()}
    assert len({r.source_id for r in records}) == len(records)
    assert {(r.source, r.licence) for r in records} == {
        ("Open Clip Art Library", "public domain"),
        ("Fluent Emoji", "MIT"),
        ("Noto Emoji", "Apache-2.0"),
    }
    notice = (DEMO / "NOTICE").read_text(encoding="utf-8")
    for text in (
        "Open Clip Art Library",
        "Copyright (c) Microsoft Corporation",
        "The above copyright notice and this permission notice shall be included",
        "END OF TERMS AND CONDITIONS",
        "WordNet 3.0 Copyright 2006 by Princeton University",
    ):
        assert text in notice
    assert all(r.credit and r.label for r in records)


def test_card_states_the_counts_of_the_data(packages: dict[str, Package]) -> None:
    card = (DEMO / "README.md").read_text(encoding="utf-8")
    for config, package in packages.items():
        kinds = Counter(kind for q in package.queries for kind in q.kinds)
        counts = (
            len(package.queries),
            len({q.term for q in package.queries}),
            len(package.images),
            *(kinds[kind] for kind in ("gold", "hard", "random")),
        )
        assert f"| `{config}` | " + " | ".join(map(str, counts)) + " |" in card
    records = read_jsonl(DEMO / "images.jsonl", ImageRecord)
    for licence, count in Counter(r.licence for r in records).items():
        assert f"| {licence} | {count} |" in card
    guess = np.mean([1 / (1 + q.kinds.count("hard")) for q in packages["demo"].queries])
    assert guess == pytest.approx(1 / 3, abs=0.02)  # "right on about one item in three"


def test_load_dataset_reads_the_header_of_the_card(
    packages: dict[str, Package], tmp_path: Path
) -> None:
    from datasets import load_dataset

    for config in CONFIGS:
        rows = load_dataset(str(DEMO), config, split="test", cache_dir=str(tmp_path))
        assert rows["id"][:] == [q.id for q in packages[config].queries]
    images = load_dataset(str(DEMO), "images", split="images", cache_dir=str(tmp_path))
    assert set(images["id"][:]) == set().union(*(p.images for p in packages.values()))


@pytest.fixture
def build_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """``tools`` is not installed; it is imported from the checkout."""
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.usefixtures("build_on_path")
def test_choice_depends_on_seed_and_names_only() -> None:
    from tools.build_demo.compose import Sense, compose, in_hash_order

    names = [f"set/{n}" for n in range(50)]
    assert in_hash_order(names, 7) == in_hash_order(reversed(names), 7)
    assert in_hash_order(names, 7) != in_hash_order(names, 8)

    def sense(term: str, number: int, also: frozenset[str] = frozenset()) -> Sense:
        entry = f"{term}{number}"
        pictures = (f"one/{entry}", f"two/{entry}")
        synset = f"{term}.n.0{number}"
        return Sense(f"{term}/{number}", term, "c", synset, "g", frozenset([entry]), pictures, also)

    senses = [sense(term, number) for term in "abcdefghij" for number in (1, 2)]
    for item in compose(senses, 7):
        assert item.swap is not None
        assert {item.gold[:3], item.swap[:3]} == {"one", "two"}  # another drawing set
        assert len(item.hard) == 2
        terms = [name.split("/")[1][0] for name in item.random]
        assert len(terms) == len(set(terms)) == 7
        assert item.sense.term not in terms
    assert compose(senses, 7) == compose(senses, 7)

    barred = frozenset(f"{term}/{number}" for term in "bc" for number in (1, 2))
    first = compose([sense("a", 1, barred), *senses[1:]], 7)[0]
    assert {name.split("/")[1][0] for name in first.random} == set("defghij")
    with pytest.raises(ValueError, match="a/1: 2 hard and 5 random negatives instead of 9"):
        compose(senses[:12], 7)


@pytest.mark.usefixtures("build_on_path")
def test_clip_art_without_a_public_domain_statement_is_refused(tmp_path: Path) -> None:
    from tools.build_demo.sources import PUBLIC_DOMAIN, clipart_metadata

    svg = tmp_path / "bat.svg"
    text = (
        '<svg xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:cc="http://web.resource.org/cc/" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<metadata><rdf:RDF><cc:Work><dc:title>A bat</dc:title>"
        "<dc:creator><cc:Agent><dc:title>Ann</dc:title></cc:Agent></dc:creator>"
        '<cc:license rdf:resource="{}"/></cc:Work></rdf:RDF></metadata></svg>'
    )
    svg.write_text(text.format(PUBLIC_DOMAIN))
    assert clipart_metadata(svg) == ("A bat", "Ann")
    svg.write_text(text.format("http://creativecommons.org/licenses/by-nc/2.0/"))
    with pytest.raises(DataError, match=r"bat\.svg: does not state that it is in the public"):
        clipart_metadata(svg)


@pytest.mark.usefixtures("build_on_path")
def test_missing_packages_end_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tools.build_demo.__main__ import main

    monkeypatch.setattr(sys, "argv", ["x", "--sources", str(tmp_path), "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"error: .*cannot be read"):
        main()


@pytest.mark.usefixtures("build_on_path")
def test_rebuild_gives_the_same_items(
    packages: dict[str, Package], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = os.environ.get("WORDSIGHT_DEMO_SOURCES")
    if not sources:
        pytest.skip("set WORDSIGHT_DEMO_SOURCES to the folder described in tools/build_demo")
    monkeypatch.setattr(sys, "argv", ["x", "--sources", sources, "--out", str(tmp_path / "demo")])
    from tools.build_demo.__main__ import main

    main()
    for config, package in packages.items():
        rebuilt = open_package(tmp_path / "demo", config, "test")
        # picture bytes depend on the encoder's version, item ids do not
        assert [q.id for q in rebuilt.queries] == [q.id for q in package.queries]
        assert [q.gold for q in rebuilt.queries] == [q.gold for q in package.queries]
