from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from leaderboard.stats import (
    StatisticsError,
    bootstrap_macro,
    bootstrap_means,
    difference_pairs,
    mcnemar_exact,
    paired_difference,
    sign_flip_p,
)

Floats = NDArray[np.float64]


def test_equals_scipys_paired_bootstrap_within_monte_carlo_error(mrr: Floats) -> None:
    a, b = mrr[:, 3], mrr[:, 1]
    found = paired_difference(a, b)
    assert found.method == "paired bootstrap"
    expected = stats.bootstrap(
        (a, b),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        paired=True,
        n_resamples=10_000,
        method="percentile",
        rng=2,
        batch=1000,
    ).confidence_interval
    error = (a - b).std() / np.sqrt(len(a))
    assert found.difference == pytest.approx((a - b).mean())
    assert found.low == pytest.approx(expected.low, abs=0.15 * error)
    assert found.high == pytest.approx(expected.high, abs=0.15 * error)


def test_p_and_interval_are_counted_from_the_resamples(mrr: Floats) -> None:
    found = paired_difference(mrr[:, 1], mrr[:, 0], resamples=999)
    means = bootstrap_means(mrr[:, [1, 0]], resamples=999)
    draws = means[:, 0] - means[:, 1]
    assert found.p == 2 * (min((draws <= 0).sum(), (draws >= 0).sum()) + 1) / 1000
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])))


def test_p_never_reaches_zero_and_agrees_with_the_interval(mrr: Floats) -> None:
    clear = paired_difference(mrr[:, 5], mrr[:, 0])
    assert clear.p == pytest.approx(2 / 10_001)
    found = difference_pairs(mrr)
    np.testing.assert_array_equal(found.p < 0.05, (found.low > 0) | (found.high < 0))


def test_all_pairs_equal_single_pairs_and_chosen_ones(mrr: Floats) -> None:
    every = difference_pairs(mrr).rows()
    assert len(every) == 15
    # pairs in the order (0, 1), (0, 2), ... (4, 5)
    single = paired_difference(mrr[:, 1], mrr[:, 3])
    assert (every[6].low, every[6].high) == pytest.approx((single.low, single.high), abs=1e-7)
    assert every[6].p == single.p
    chosen = difference_pairs(mrr, pairs=[(3, 1), (2, 2)]).rows()
    assert (chosen[0].low, chosen[0].high) == pytest.approx((-single.high, -single.low), abs=1e-7)
    assert chosen[1].difference == chosen[1].low == 0 or chosen[1].p == 1


def test_many_pairs_are_handled_in_blocks() -> None:
    values = np.random.default_rng(5).random((150, 14))
    found = difference_pairs(values, resamples=400)
    means = bootstrap_means(values, resamples=400)
    draws = means[:, found.first] - means[:, found.second]
    assert len(found.p) == 91
    np.testing.assert_allclose(found.low, np.quantile(draws, 0.025, axis=0), atol=1e-7)
    np.testing.assert_allclose(found.high, np.quantile(draws, 0.975, axis=0), atol=1e-7)


def test_macro_differences(mrr: Floats) -> None:
    subsets = [mrr[:150], mrr[150:]]
    found = difference_pairs(subsets)
    means = bootstrap_macro(subsets)
    draws = means[:, 0] - means[:, 1]
    assert (found.low[0], found.high[0]) == pytest.approx(
        tuple(np.quantile(draws, [0.025, 0.975])), abs=1e-7
    )
    expected = np.mean([s[:, 0].mean() - s[:, 1].mean() for s in subsets])
    assert found.difference[0] == pytest.approx(expected)


def test_the_same_model_twice_does_not_differ(mrr: Floats) -> None:
    for values in (mrr[:, 0], mrr[:12, 0]):
        found = paired_difference(values, values)
        assert found.p == 1
        assert found.low < 0 < found.high


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a_handful_of_wins_is_no_claim(n: int) -> None:
    found = paired_difference(np.ones(n), np.zeros(n))
    assert found.p == 2 * 0.5**n
    assert found.low <= 0 < found.high == 1
    # the same wins among many items on which both agree
    padded = paired_difference(np.r_[np.ones(n), np.ones(400)], np.r_[np.zeros(n), np.ones(400)])
    assert padded.p == 2 * 0.5**n
    assert padded.low <= 0 < padded.difference < padded.high


def test_small_samples_are_covered() -> None:
    rng = np.random.default_rng(11)
    inside = 0
    for _ in range(400):
        hits = rng.random((30, 2)) < [0.9, 0.75]
        found = paired_difference(*hits.T.astype(float), resamples=200)
        inside += found.low <= 0.15 <= found.high
    assert inside / 400 >= 0.93


def test_sign_flips_of_hits_are_mcnemars_test_where_counted_out() -> None:
    a = np.array([1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0.0])
    b = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0.0])
    assert sign_flip_p(a, b) == pytest.approx(mcnemar_exact(a, b).p)


def test_drawn_sign_flips_equal_scipy_within_monte_carlo_error(mrr: Floats) -> None:
    a, b = mrr[:60, 2], mrr[:60, 1]
    expected = stats.permutation_test(
        (a, b), lambda x, y: (x - y).mean(), permutation_type="samples", n_resamples=9999, rng=3
    ).pvalue
    assert sign_flip_p(a, b) == pytest.approx(expected, abs=0.02)
    assert paired_difference(a, b).p == sign_flip_p(a, b)


def test_all_pairs_of_a_small_sample_equal_single_pairs(mrr: Floats) -> None:
    values = mrr[:60]
    found = difference_pairs(values)
    assert found.small.all()
    single = paired_difference(values[:, 1], values[:, 3])
    every = found.rows()[6]
    assert every.method == single.method == "sign flips, Student"
    assert (every.p, every.difference) == (single.p, single.difference)
    assert (every.low, every.high) == pytest.approx((single.low, single.high))


def test_sign_flips_of_groups() -> None:
    # four groups, all for the first model: 2 of 16 sign patterns are as extreme
    a, b = np.ones(40), np.zeros(40)
    assert sign_flip_p(a, b, clusters=np.repeat(np.arange(4), 10)) == 2 / 16
    assert sign_flip_p(a, b) < 0.001


def test_groups_widen_a_difference() -> None:
    rng = np.random.default_rng(2)
    a, b = np.repeat((rng.random((150, 2)) < [0.7, 0.5]).astype(float), 10, axis=0).T
    labels = np.repeat(np.arange(150), 10)
    naive, grouped = paired_difference(a, b), paired_difference(a, b, clusters=labels)
    ratio = (grouped.high - grouped.low) / (naive.high - naive.low)
    assert ratio == pytest.approx(np.sqrt(10), rel=0.06)
    assert grouped.p > naive.p


def test_edges(mrr: Floats) -> None:
    assert difference_pairs(mrr[:, :1]).rows() == []
    assert difference_pairs(mrr[:, :0]).rows() == []
    assert difference_pairs(mrr, pairs=[]).rows() == []
    with pytest.raises(StatisticsError, match=r"outside 0\.\.5"):
        difference_pairs(mrr, pairs=[(0, 6)])
    with pytest.raises(StatisticsError, match="between 0 and 1"):
        paired_difference([0.5, 2.0], [0.5, 1.0])
    with pytest.raises(StatisticsError, match="nan"):
        paired_difference([0.5, np.nan], [0.5, 1.0])
    with pytest.raises(StatisticsError, match="do not belong"):
        difference_pairs(mrr, means=np.zeros((10, 3)))
