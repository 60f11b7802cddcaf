"""VerSe: pool, swap, negatives and the four variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sage_tasks.build.manifest import read_manifest
from sage_tasks.build.pipeline import Options, build, dry_run
from sage_tasks.build.plan import Planned
from sage_tasks.build.verse import SPIS_VARIANTS, Verse, read_verse
from sage_tasks.package import open_package

CSV = "data/verse/3.5k_verse_gold_image_sense_annotations.csv"


def planned(source: Verse) -> list[Planned]:
    return [plan for plan in source.plan(lambda name: name) if isinstance(plan, Planned)]


def pictures_by_sense(source: Verse) -> dict[tuple[str, str], set[str]]:
    groups: dict[tuple[str, str], set[str]] = {}
    for row in source.rows:
        groups.setdefault((row.verb, row.sense), set()).add(row.picture)
    return groups


@pytest.mark.shared_data
def test_real_annotations_give_the_papers_counts(shared: Path) -> None:
    report = dry_run(read_verse(shared / CSV), Options())
    splits = report["configs"]["verse"]
    assert {split: e["items"] for split, e in splits.items()} == {"train": 1_042, "test": 1_264}
    assert report["skipped"]["by_reason"] == {
        "row: not a COCO picture, so without captions": 1_188,
        "row: no other picture of this verb sense": 20,
        "row: no sense fits (-1)": 1,
    }
    # One hard negative per competing sense, counted here from the file itself.
    source = read_verse(shared / CSV)
    senses = Counter(verb for verb, _ in pictures_by_sense(source))
    for split, entry in splits.items():
        plans = [plan for plan in planned(source) if plan.item.split == split]
        expected = sum(senses[plan.item.term] - 1 for plan in plans) / len(plans)
        assert entry["mean_hard_negatives"] == pytest.approx(expected)
        assert entry["mean_hard_negatives"] + entry["mean_random_negatives"] == pytest.approx(9)


@pytest.mark.shared_data
def test_negatives_of_real_items_never_show_the_meant_sense(shared: Path) -> None:
    source = read_verse(shared / CSV)
    groups = pictures_by_sense(source)
    of_verb: dict[str, set[str]] = {}
    for (verb, _), pictures in groups.items():
        of_verb.setdefault(verb, set()).update(pictures)
    for plan in planned(source):
        sense = plan.item.sense.removeprefix(plan.item.term + ".")
        same = groups[plan.item.term, sense]
        own = plan.item.source_id.split("/")[1] + ".jpg"
        gold = plan.pictures[plan.gold]
        assert gold in same
        assert gold != own
        for picture, kind in zip(plan.pictures, plan.kinds, strict=True):
            if kind == "hard":
                assert picture in of_verb[plan.item.term] - same
            elif kind == "random":
                assert picture not in of_verb[plan.item.term]
                expected = "train2014" if plan.item.split == "train" else "val2014"
                assert expected in picture


def test_senses_are_text_and_definitions_may_span_lines(verse_options: dict[str, Any]) -> None:
    source = read_verse(**verse_options)
    groups = pictures_by_sense(source)
    assert len(groups["play", "7.1"]) == 2
    assert len(groups["play", "7.10"]) == 1
    glosses = {plan.item.sense: plan.item.gloss for plan in planned(source)}
    assert glosses["play.7.1"] == "seven point one"
    assert glosses["ride.1"] == "sit on and be carried"


def test_split_is_the_golds_and_crosses_over_only_when_it_must(
    verse_options: dict[str, Any],
) -> None:
    plans = {plan.item.source_id: plan for plan in planned(read_verse(**verse_options))}
    # five pictures of ride.1: four of val, one of train, whose only partners are in val
    crossing = [p for key, p in plans.items() if key.startswith("ride/COCO_train")]
    assert [p.item.split for p in crossing] == ["test"]
    assert all(
        p.item.split == ("train" if "train" in key else "test")
        for key, p in plans.items()
        if key.startswith("hold")
    )


def test_every_competing_sense_gives_one_hard_negative(verse_options: dict[str, Any]) -> None:
    for plan in planned(read_verse(**verse_options)):
        expected = {"play": 3, "ride": 0, "hold": 0}[plan.item.term]
        assert plan.kinds.count("hard") == expected


def test_context_is_the_first_caption_with_the_verb(verse_options: dict[str, Any]) -> None:
    contexts = {plan.item.term: plan.item.context for plan in planned(read_verse(**verse_options))}
    assert contexts["ride"] == "A person riding it."


def test_variants_differ_in_gold_and_wording_only(
    verse_options: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    build(read_verse(**verse_options, variants=SPIS_VARIANTS), out, Options())
    packages = {variant: open_package(out, variant) for variant in SPIS_VARIANTS}
    items = {variant: p.queries for variant, p in packages.items()}
    assert len({len(queries) for queries in items.values()}) == 1
    for original, original_neutral, swapped, neutral in zip(
        *(items[variant] for variant in SPIS_VARIANTS), strict=True
    ):
        queries = (original, original_neutral, swapped, neutral)
        assert len({q.source_id for q in queries}) == 1
        assert len({q.gold for q in queries}) == 1
        assert len({q.id for q in queries}) == 4
        others = {q.candidates[: q.gold] + q.candidates[q.gold + 1 :] for q in queries}
        assert len(others) == 1
        own = swapped.source_id.split("/")[1] + ".jpg"
        assert original.candidate_sources[original.gold] == own
        assert own not in swapped.candidate_sources
        assert original.candidates == original_neutral.candidates
        assert swapped.candidates == neutral.candidates
        for kept in (original, swapped):
            assert kept.term in ("ride", "play", "hold")
        for withheld in (original_neutral, neutral):
            assert withheld.term == "do"
            assert withheld.context == "A person doing it."
            assert withheld.sense == ""
            assert withheld.gloss == ""


def test_the_neutral_verb_is_an_option(verse_options: dict[str, Any]) -> None:
    source = read_verse(**verse_options, variants=("verse_neutral",), neutral="interact with")
    assert {plan.item.context for plan in planned(source)} == {"A person interacting with it."}


def test_pictures_equal_by_content_are_neither_swap_nor_negative(
    verse_options: dict[str, Any], tmp_path: Path, picture: Callable[..., bytes]
) -> None:
    folder = verse_options["coco_images"] / "val2014"
    first = (folder / f"COCO_val2014_{1:012d}.jpg").read_bytes()
    # another picture of the same sense, and a negative, become copies of the first
    for number in (2, 20):
        (folder / f"COCO_val2014_{number:012d}.jpg").write_bytes(first)
    out = tmp_path / "out"
    build(read_verse(**verse_options), out, Options())
    for query in open_package(out, "verse").queries:
        if query.source_id in ("ride/COCO_val2014_000000000001", "ride/COCO_val2014_000000000002"):
            names = {f"COCO_val2014_{n:012d}.jpg" for n in (1, 2, 20)}
            assert not names & set(query.candidate_sources)


def test_a_damaged_picture_is_replaced_and_counted(
    verse_options: dict[str, Any], tmp_path: Path
) -> None:
    damaged = verse_options["coco_images"] / "val2014" / f"COCO_val2014_{15:012d}.jpg"
    damaged.write_bytes(damaged.read_bytes()[:40])
    report = build(read_verse(**verse_options), tmp_path / "out", Options())
    reasons = report["skipped"]["by_reason"]
    assert sum(n for reason, n in reasons.items() if reason.startswith("picture:")) == 1
    assert reasons["item: the caption's own picture cannot be used"] == 1
    for query in open_package(tmp_path / "out", "verse").queries:
        assert damaged.name not in query.candidate_sources


def test_another_build_can_follow_the_manifest(
    verse_options: dict[str, Any], tmp_path: Path
) -> None:
    first, second, own = tmp_path / "first", tmp_path / "second", tmp_path / "own"
    build(read_verse(**verse_options, seed=1), first, Options(seed=1))
    manifest = read_manifest(first)
    build(read_verse(**verse_options, seed=2, manifest=manifest), second, Options(seed=2))
    build(read_verse(**verse_options, seed=2), own, Options(seed=2))
    chosen = [
        [q.candidate_sources for q in open_package(p, "verse").queries]
        for p in (
            first,
            second,
            own,
        )
    ]
    assert chosen[0] == chosen[1]
    assert chosen[0] != chosen[2]


def test_removing_one_row_changes_no_other_items_draw(verse_options: dict[str, Any]) -> None:
    before = {p.item.source_id: p for p in planned(read_verse(**verse_options))}
    path = verse_options["annotations"]
    lines = path.read_text("utf-8").splitlines(keepends=True)
    # the wave row has no sense and no influence
    path.write_text("".join(line for line in lines if not line.startswith("wave")), "utf-8")
    after = {p.item.source_id: p for p in planned(read_verse(**verse_options))}
    assert {k: p.pictures for k, p in before.items()} == {k: p.pictures for k, p in after.items()}
