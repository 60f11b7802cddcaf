"""Ranking metrics against counting all orders, and the figures that follow from ties."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sage_tasks.metrics import item_metrics, rank_interval

KINDS = ("gold", *["hard"] * 4, *["random"] * 5)


def test_ten_equal_scores_give_chance_exactly() -> None:
    metrics = item_metrics([0.5] * 10, 0, KINDS)

    assert metrics.hits1 == 0.1
    assert metrics.mrr == pytest.approx(0.2928968253968254, abs=1e-15)
    assert metrics.hard == metrics.random == 0.5


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=2, max_size=6), st.data())
def test_ties_count_as_the_mean_over_all_orders(keys: list[float], data: st.DataObject) -> None:
    gold = data.draw(st.integers(0, len(keys) - 1))
    ranks = []
    for order in itertools.permutations(range(len(keys))):
        # a stable sort breaks ties by this order
        ranked = sorted(order, key=lambda i: -keys[i])
        ranks.append(ranked.index(gold) + 1)

    metrics = item_metrics(keys, gold, ["random"] * len(keys))

    assert metrics.hits1 == pytest.approx(sum(r == 1 for r in ranks) / len(ranks))
    assert metrics.mrr == pytest.approx(sum(1 / r for r in ranks) / len(ranks))


def test_confusion_counts_pairs_of_each_kind() -> None:
    keys = [0.5, 0.9, 0.5, 0.1, 0.1, 0.6, 0.7, 0.1, 0.1, 0.1]

    metrics = item_metrics(keys, 0, KINDS)

    assert metrics.hard == (1 + 0.5) / 4
    assert metrics.random == 2 / 5
    assert (metrics.hard_pairs, metrics.random_pairs) == (4, 5)


def test_no_pairs_of_a_kind_gives_no_figure_rather_than_zero() -> None:
    metrics = item_metrics([1.0, 0.0], 0, ["gold", "source"])

    assert metrics.hard is None
    assert metrics.random is None


def test_infinite_keys_tie_with_themselves() -> None:
    assert rank_interval([math.inf, math.inf, -math.inf], 0) == (1, 2)


def test_nan_has_no_rank() -> None:
    with pytest.raises(ValueError, match="NaN"):
        rank_interval([math.nan, 0.0], 1)
