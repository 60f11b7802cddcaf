from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from leaderboard.stats import (
    StatisticsError,
    bootstrap_means,
    difference_pairs,
    rank_sets,
    separated,
)
from leaderboard.stats.ranks import critical_value

Floats = NDArray[np.float64]


def test_models_far_apart_hold_one_place_each() -> None:
    rng = np.random.default_rng(0)
    values = (rng.random((3000, 4)) < [0.2, 0.8, 0.4, 0.6]).astype(float)
    assert rank_sets(values) == [(4, 4), (1, 1), (3, 3), (2, 2)]


def test_equal_models_share_all_places() -> None:
    values = np.tile(np.random.default_rng(1).random((500, 1)), (1, 5))
    assert rank_sets(values) == [(1, 5)] * 5


def test_a_tied_pair_between_two_others() -> None:
    rng = np.random.default_rng(2)
    values = (rng.random((3000, 4)) < [0.9, 0.6, 0.6, 0.3]).astype(float)
    assert rank_sets(values) == [(1, 1), (2, 3), (2, 3), (4, 4)]


def test_critical_value_of_one_pair_is_the_normal_one(mrr: Floats) -> None:
    means = bootstrap_means(mrr[:, :2])
    assert critical_value(means - means.mean(axis=0), 0.05) == pytest.approx(1.96, abs=0.12)


def test_critical_value_of_many_independent_models_is_tukeys() -> None:
    """The largest studentised difference of k equal, independent means: the studentised range."""
    values = np.random.default_rng(3).random((2000, 12))
    means = bootstrap_means(values)
    found = critical_value(means - values.mean(axis=0), 0.05)
    tukey = stats.studentized_range.ppf(0.95, 12, np.inf) / np.sqrt(2)
    assert found == pytest.approx(tukey, rel=0.03)


def test_separation_is_stricter_than_single_intervals(mrr: Floats) -> None:
    better = separated(mrr)
    pairs = difference_pairs(mrr)
    for first, second, low, high in zip(
        pairs.first, pairs.second, pairs.low, pairs.high, strict=True
    ):
        assert not better[first, second] or low > 0
        assert not better[second, first] or high < 0
    assert better.any()
    assert not (better & better.T).any()


@pytest.mark.parametrize("n", [1, 3, 5])
def test_a_handful_of_items_separates_nothing(n: int) -> None:
    assert rank_sets(np.tile([1.0, 0.0], (n, 1))) == [(1, 2), (1, 2)]


def test_one_model_winning_every_item_it_differs_on() -> None:
    # without a guard the standard error of 30 straight wins would be 0
    assert rank_sets(np.tile([0.0, 1.0], (30, 1))) == [(2, 2), (1, 1)]


def test_macro_ranks_see_a_difference_in_one_subset_only() -> None:
    rng = np.random.default_rng(4)
    same = np.tile(rng.random((500, 1)), (1, 2))
    apart = (rng.random((500, 2)) < [0.8, 0.4]).astype(float)
    assert rank_sets([same, apart]) == [(1, 1), (2, 2)]
    assert rank_sets([same, same]) == [(1, 2), (1, 2)]


def test_groups_separate_less() -> None:
    rng = np.random.default_rng(5)
    values = np.repeat((rng.random((60, 2)) < [0.75, 0.6]).astype(float), 20, axis=0)
    labels = np.repeat(np.arange(60), 20)
    assert rank_sets(values) == [(1, 1), (2, 2)]
    assert rank_sets(values, clusters=labels) == [(1, 2), (1, 2)]


def test_the_callers_resamples_are_used(mrr: Floats) -> None:
    assert rank_sets(mrr, means=bootstrap_means(mrr)) == rank_sets(mrr)


def test_edges(mrr: Floats) -> None:
    assert rank_sets(mrr[:, :0]) == []
    assert rank_sets(mrr[:, :1]) == [(1, 1)]
    with pytest.raises(StatisticsError, match="strictly between 0 and 1"):
        rank_sets(mrr, alpha=0)
    with pytest.raises(StatisticsError, match="nan"):
        rank_sets([[0.5, np.nan]])
