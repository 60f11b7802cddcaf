"""Seeded draws and the choice of negatives."""

from __future__ import annotations

from collections import Counter

import pytest

from sage_tasks.build.plan import (
    Choice,
    Draw,
    Item,
    Planned,
    Skipped,
    arrange,
    checked,
    choose_negatives,
    follow,
    with_gold,
)

POOL = [f"p{n}" for n in range(50)]
ITEM = Item("verse", "test", "ride", "riding", "ride/1", "file:1")


def same(name: str) -> str:
    return name


@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_a_draw_gives_every_value_once(size: int) -> None:
    drawn = list(Draw(0, "item").endless("x", POOL[:size]))
    assert sorted(drawn) == sorted(POOL[:size])
    assert list(Draw(0, "item").endless("x", [])) == []


def test_draws_depend_on_seed_item_and_purpose() -> None:
    draws = {
        tuple(Draw(seed, item).endless(purpose, POOL))
        for seed in (0, 1)
        for item in ("a", "b")
        for purpose in ("x", "y")
    }
    assert len(draws) == 8


def test_draws_are_even_over_items() -> None:
    first = Counter(next(Draw(0, f"item {n}").endless("x", POOL[:5])) for n in range(2_000))
    # binomial(2000, 1/5): five standard deviations are 89
    assert all(abs(count - 400) < 90 for count in first.values())


def test_gold_stands_at_each_place_alike_and_stays_when_it_is_swapped() -> None:
    negatives = [(name, "random") for name in POOL[:9]]
    places: Counter[int] = Counter()
    for number in range(2_000):
        draw = Draw(0, f"item {number}")
        choice = arrange(draw, "gold", negatives)  # type: ignore[arg-type]
        other = arrange(draw, "another gold", negatives)  # type: ignore[arg-type]
        assert choice.kinds == other.kinds
        places[choice.kinds.index("gold")] += 1
    # binomial(2000, 1/10): five standard deviations are 67
    assert all(abs(count - 200) < 68 for count in places.values())


def test_hard_negatives_come_first_and_one_per_group() -> None:
    hard = [["h1", "h2"], ["missing", "h3"], ["missing"], ["gold copy"]]
    content = {"missing": None, "gold copy": "gold"}
    chosen = choose_negatives(
        Draw(0, "i"),
        lambda name: content.get(name, name),
        taken={"gold"},
        hard=hard,
        random_pool=POOL,
        forbidden={"p0", "p1"},
    )
    assert chosen is not None
    assert chosen[:2] == [("h1", "hard"), ("h3", "hard")]
    assert [kind for _, kind in chosen[2:]] == ["random"] * 7
    assert not {"p0", "p1"} & {name for name, _ in chosen}
    assert len(set(chosen)) == 9


def test_more_hard_groups_than_places_fill_them_all() -> None:
    hard = [[f"h{n}"] for n in range(12)]
    chosen = choose_negatives(Draw(0, "i"), same, (), hard, POOL, frozenset())
    assert chosen == [(f"h{n}", "hard") for n in range(9)]


def test_a_pool_that_runs_dry_gives_none() -> None:
    assert choose_negatives(Draw(0, "i"), same, (), [], POOL[:8], frozenset()) is None


def planned() -> Planned:
    return Planned(ITEM, tuple(POOL[:10]), ("gold", *["random"] * 9))  # type: ignore[arg-type]


def test_a_plan_with_missing_or_equal_pictures_is_no_query() -> None:
    assert checked(planned(), same) == planned()
    missing = checked(planned(), lambda name: None if name == "p3" else name)
    assert isinstance(missing, Skipped)
    assert missing.detail == "p3"
    equal = checked(planned(), lambda name: "p1" if name == "p4" else name)
    assert isinstance(equal, Skipped)
    assert equal.detail == "p1 and p4"


def test_another_gold_takes_the_place_of_the_first() -> None:
    swapped = with_gold(planned(), ITEM, "own")
    assert swapped.pictures == ("own", *POOL[1:10])


def test_following_a_manifest_draws_nothing() -> None:
    choice = Choice(tuple(POOL[10:20]), planned().kinds)
    manifest = {("verse", "test", "ride/1"): choice}
    followed = follow(ITEM, manifest, same)
    assert isinstance(followed, Planned)
    assert followed.pictures == choice.pictures
    missing = follow(ITEM, {}, same)
    assert isinstance(missing, Skipped)
    assert missing.reason == "not in the manifest that is followed"
