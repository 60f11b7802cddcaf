"""Ranking groups by misalignment."""

from __future__ import annotations

import numpy as np

from symbal_tasks.cluster import Clustering
from symbal_tasks.groups import Ranking, merge_near, rank, sample


def _rank(groups: list[list[float]], margin: float, min_share: float = 0.0) -> Ranking:
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    scores = np.array([score for group in groups for score in group])
    members = [(str(k), f"fact {k}") for k in range(len(scores))]
    clustering = Clustering(labels, len(groups), {})
    return rank(members, clustering, scores, min_share=min_share, of=len(scores), margin=margin)


GROUPS = [[0.0, 0.1], [0.1] * 20 + [0.2] * 20, [0.9] * 40, [np.nan] * 5]


def test_a_small_group_is_not_worst_by_chance() -> None:
    assert [g.number for g in _rank(GROUPS, 0.0).stage.groups] == [0, 1, 2, 3]
    assert [g.number for g in _rank(GROUPS, 2.0).stage.groups] == [1, 0, 2, 3]
    # the margin is in units of the scores' own spread, so their scale does not matter
    scaled = [[score / 100 for score in group] for group in GROUPS]
    assert [g.number for g in _rank(scaled, 2.0).stage.groups] == [1, 0, 2, 3]


def test_of_equal_groups_the_larger_is_worse() -> None:
    groups = [[0.0] * 3, [0.0] * 9, [1.0] * 9]
    for margin in (0.0, 2.0):
        assert [g.number for g in _rank(groups, margin).recurring] == [1, 0, 2]


def test_groups_hold_their_members_and_what_was_read() -> None:
    ranking = _rank([[0.5, np.nan, 0.0], [1.0]], 0.0)
    worst, other = ranking.stage.groups
    assert (worst.size, worst.scored, worst.score) == (3, 2, 0.25)
    assert worst.members == (("0", "fact 0"), ("1", "fact 1"), ("2", "fact 2"))
    # a single member does not recur
    assert ranking.recurring == (worst,)
    assert ranking.stage.left_out == 1
    assert other.number == 1


def test_share_of_all_rows_decides_what_recurs() -> None:
    assert [g.number for g in _rank(GROUPS, 0.0, min_share=0.1).recurring] == [1, 2]
    # where nothing recurs, all groups stay
    assert len(_rank([[0.1], [0.2]], 0.0).recurring) == 2


def test_groups_with_near_centres_are_one() -> None:
    vectors = np.array([[1, 0], [1, 0.1], [0.98, 0.2], [1, 0.15], [0, 1], [0.1, 1]], np.float32)
    labels = np.array([0, 0, 1, 1, 2, 2])
    clustering = Clustering(labels, 3, {})
    members = [(str(k), "") for k in range(6)]
    scores = np.array([0.0, 0.0, 0.1, 0.1, 0.2, 0.2])
    groups = rank(members, clustering, scores, min_share=0.0, of=6, margin=0.0).recurring

    def numbers(most: int, least_cosine: float) -> list[list[int]]:
        found = merge_near(groups, clustering, vectors, most=most, least_cosine=least_cosine)
        return [held for _, held in found]

    assert numbers(2, 0.95) == [[0, 1, 2, 3], [4, 5]]
    assert numbers(2, 1.1) == [[0, 1], [2, 3]]
    # what is near to a chosen one joins it, also after as many as wanted are chosen
    assert numbers(1, 0.95) == [[0, 1, 2, 3]]


def test_sample_keeps_order_and_seed() -> None:
    items = list(range(100))
    assert sample(items, None, 0) == items
    assert sample(items, 10, 1) == sorted(sample(items, 10, 1))
    assert sample(items, 10, 1) != sample(items, 10, 2)
