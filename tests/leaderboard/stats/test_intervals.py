from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from leaderboard.stats import (
    StatisticsError,
    bootstrap_macro,
    bootstrap_means,
    macro_intervals,
    mean_intervals,
    wilson,
)

Floats = NDArray[np.float64]


@pytest.mark.parametrize(
    ("method", "scipys"), [("percentile", "percentile"), ("bca", "BCa"), ("auto", "percentile")]
)
def test_equal_to_scipy_within_monte_carlo_error(mrr: Floats, method: str, scipys: str) -> None:
    intervals = mean_intervals(mrr, kind="mrr", method=method)  # type: ignore[arg-type]
    for column, interval in zip(mrr.T, intervals, strict=True):
        expected = stats.bootstrap(
            (column,), np.mean, n_resamples=10_000, method=scipys, rng=1, batch=1000
        )
        # an end's Monte Carlo error is about 0.03 standard errors of the mean; two ends differ
        error = column.std() / np.sqrt(len(column))
        assert interval.low == pytest.approx(expected.confidence_interval.low, abs=0.15 * error)
        assert interval.high == pytest.approx(expected.confidence_interval.high, abs=0.15 * error)
        assert interval.estimate == pytest.approx(column.mean(), abs=1e-12)


def test_percentile_limits_are_numpys_quantiles(mrr: Floats) -> None:
    means = bootstrap_means(mrr, resamples=999)
    low, high = np.quantile(means, [0.05, 0.95], axis=0)
    found = mean_intervals(mrr, kind="mrr", resamples=999, level=0.9)
    np.testing.assert_allclose([i.low for i in found], low, rtol=0, atol=1e-12)
    np.testing.assert_allclose([i.high for i in found], high, rtol=0, atol=1e-12)
    assert mean_intervals(mrr, kind="mrr", level=0.9, means=means) == found


@pytest.mark.parametrize(("right", "n"), [(0, 8), (3, 30), (15, 30), (30, 30), (7, 2000)])
def test_wilson_equals_statsmodels(right: int, n: int) -> None:
    low, high = proportion_confint(right, n, method="wilson")
    assert wilson(right / n, n) == pytest.approx((low, high), abs=1e-12)


def test_wilson_with_students_quantile_is_its_own_inversion() -> None:
    low, high = wilson(0.9, 30, degrees=29)
    t = stats.t.ppf(0.975, 29)
    for end in (low, high):
        assert abs(0.9 - end) == pytest.approx(t * np.sqrt(end * (1 - end) / 30))


@pytest.mark.parametrize(
    ("right", "n", "method"),
    [
        (50, 99, "Wilson"),
        (50, 100, "percentile bootstrap"),
        (9, 1000, "Wilson"),
        (10, 1000, "percentile bootstrap"),
        (991, 1000, "Wilson"),
        (990, 1000, "percentile bootstrap"),
    ],
)
def test_rule_for_hits(right: int, n: int, method: str) -> None:
    values = np.r_[np.ones(right), np.zeros(n - right)]
    assert mean_intervals(values, resamples=500)[0].method == method


@pytest.mark.parametrize(
    ("right", "n", "method"),
    [
        (50, 99, "studentised bootstrap"),
        (50, 100, "percentile bootstrap"),
        (9, 200, "studentised bootstrap"),
        (191, 200, "studentised bootstrap"),
        (194, 200, "studentised bootstrap"),
        (195, 200, "Wilson for the loss"),
        (30, 30, "Wilson"),
    ],
)
def test_rule_for_mrr(right: int, n: int, method: str) -> None:
    values = np.r_[np.ones(right), 1 / (2 + np.arange(n - right) % 9)]
    interval = mean_intervals(values, kind="mrr", resamples=2000)[0]
    assert interval.method == method
    assert 0 <= interval.low < interval.estimate <= interval.high <= 1
    assert interval.high > interval.low + 0.001


def test_the_rule_is_applied_to_each_model_on_its_own() -> None:
    values = np.zeros((500, 3))
    values[:250, 0] = 1
    values[:499, 2] = 1
    found = mean_intervals(values)
    assert [i.method for i in found] == ["percentile bootstrap", "Wilson", "Wilson"]
    assert found[1].low == 0 < found[1].high
    alone = [mean_intervals(values[:, m])[0] for m in range(3)]
    assert alone == found


def test_ties_everywhere_give_no_degenerate_interval() -> None:
    for n in (20, 3000):
        interval = mean_intervals(np.full(n, 0.1))[0]
        assert interval.method == "Wilson"
        assert interval.estimate == 0.1
        # the interval of a run that breaks its ties at random
        assert (interval.low, interval.high) == wilson(0.1, n, degrees=n - 1)
        mrr = mean_intervals(np.full(n, 7381 / 25200), kind="mrr")[0]
        assert mrr.method == "Wilson"
        assert mrr.low < mrr.estimate < mrr.high


def test_some_ties_are_resampled_as_they_are() -> None:
    values = np.r_[np.ones(60), np.zeros(60), np.full(30, 0.5)]
    interval = mean_intervals(values)[0]
    assert interval.method == "percentile bootstrap"
    half = (interval.high - interval.low) / 2
    assert half == pytest.approx(1.96 * values.std() / np.sqrt(150), rel=0.06)


def test_all_right_and_all_wrong_at_n_1_and_30() -> None:
    for n in (1, 30):
        right, wrong = mean_intervals(np.tile([1.0, 0.0], (n, 1)))
        assert (right.high, wrong.low) == (1, 0)
        assert right.low == pytest.approx(1 - wrong.high)
        assert right.low < 1
    assert mean_intervals([1.0])[0].low == 0


def test_studentised_equals_students_interval_for_symmetric_data() -> None:
    values = stats.norm.ppf((np.arange(60) + 0.5) / 60) * 0.05 + 0.5
    interval = mean_intervals(values, kind="mean", resamples=20_000)[0]
    assert interval.method == "studentised bootstrap"
    half = stats.t.ppf(0.975, 59) * values.std(ddof=1) / np.sqrt(60)
    assert interval.high - 0.5 == pytest.approx(half, rel=0.04)
    assert 0.5 - interval.low == pytest.approx(half, rel=0.04)


def test_studentised_log_odds_equal_a_plain_loop() -> None:
    rng = np.random.default_rng(5)
    values = np.where(rng.random(40) < 0.7, 1.0, 1 / rng.integers(2, 11, 40))
    interval = mean_intervals(values, kind="mrr")[0]

    def log_odds(sample: Floats) -> tuple[float, float]:
        mean = sample.mean()
        spread = mean * (1 - mean)
        return float(np.log(mean / (1 - mean))), float(sample.std() / np.sqrt(40) / spread)

    estimate, error = log_odds(values)
    t = []
    for _ in range(20_000):
        centre, own = log_odds(rng.choice(values, 40))
        t.append((centre - estimate) / own)
    low, high = (estimate - np.quantile(t, q) * error for q in (0.975, 0.025))
    assert interval.low == pytest.approx(1 / (1 + np.exp(-low)), abs=0.004)
    assert interval.high == pytest.approx(1 / (1 + np.exp(-high)), abs=0.004)


def test_a_run_with_nearly_everything_missing_is_known_to_be_low() -> None:
    values = np.zeros(192)
    values[:3] = 1, 0.5, 0.2
    interval = mean_intervals(values, kind="mrr")[0]
    assert interval.method == "Wilson for the mean"
    assert 0 <= interval.low < interval.estimate < interval.high < 0.05


def test_studentised_leans_to_the_long_tail() -> None:
    values = np.r_[np.ones(40), np.full(8, 0.1)]
    interval = mean_intervals(values, kind="mrr")[0]
    assert interval.estimate - interval.low > 1.2 * (interval.high - interval.estimate)


def test_constant_other_scores_say_that_they_have_no_interval() -> None:
    interval = mean_intervals([2.5, 2.5], kind="mean")[0]
    assert (interval.low, interval.high) == (2.5, 2.5)
    assert interval.method == "none: all values are equal"


def test_groups_that_resemble_each_other_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    values = np.repeat(rng.random((150, 1)) < 0.6, 10).astype(float)
    labels = np.repeat(np.arange(150), 10)
    naive, grouped = (mean_intervals(values, clusters=c)[0] for c in (None, labels))
    assert grouped.method == "cluster bootstrap"
    # ten copies of each item tell no more than one
    ratio = (grouped.high - grouped.low) / (naive.high - naive.low)
    assert ratio == pytest.approx(np.sqrt(10), rel=0.06)


def test_few_groups_use_the_effective_number_of_items() -> None:
    rng = np.random.default_rng(1)
    values = np.repeat(rng.random((40, 1)) < 0.6, 10).astype(float)
    grouped = mean_intervals(values, clusters=np.repeat(np.arange(40), 10))[0]
    alone = mean_intervals(values[::10])[0]
    assert grouped.method == "Wilson of clusters"
    assert grouped.low == pytest.approx(alone.low, abs=0.006)
    assert grouped.high == pytest.approx(alone.high, abs=0.006)
    # all right: nothing tells how alike a group's items are, so each group counts as one item
    sure = mean_intervals(np.ones(400), clusters=np.repeat(np.arange(40), 10))[0]
    assert sure == mean_intervals(np.ones(400), clusters=np.repeat(np.arange(40), 10), seed=9)[0]
    assert (sure.low, sure.high) == wilson(1.0, 40, degrees=39)
    mrr = mean_intervals(
        np.where(values == 1, 1, 0.5), kind="mrr", clusters=np.repeat(np.arange(40), 10)
    )[0]
    assert mrr.method == "studentised bootstrap of clusters"


def test_label_names_and_item_order_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    values = (rng.random(900) < 0.5).astype(float)
    labels = np.repeat(np.arange(150), 6)
    named = [f"term {label * 7 % 150}" for label in labels]
    assert mean_intervals(values, clusters=labels) == mean_intervals(values, clusters=named)


def test_macro_intervals(hits: Floats) -> None:
    subsets = [hits[:150], hits[150:]]
    found = macro_intervals(subsets)
    low, high = np.quantile(bootstrap_macro(subsets), [0.025, 0.975], axis=0)
    assert [i.low for i in found] == pytest.approx(list(low))
    assert [i.high for i in found] == pytest.approx(list(high))
    assert {i.method for i in found} == {"percentile bootstrap"}
    assert [i.estimate for i in found] == pytest.approx(
        list((subsets[0].mean(axis=0) + subsets[1].mean(axis=0)) / 2)
    )


def test_macro_of_a_small_subset_combines_the_subsets_intervals(hits: Floats) -> None:
    one = macro_intervals([hits[:40]])[0]
    alone = mean_intervals(hits[:40])[0]
    assert (one.low, one.high) == pytest.approx((alone.low, alone.high))
    assert one.method == "combined subset intervals"
    combined = macro_intervals([np.ones((30, 1)), np.ones((30, 1))])[0]
    assert combined.high == 1
    assert 1 - combined.low == pytest.approx((1 - wilson(1, 30, degrees=29)[0]) / np.sqrt(2))


def test_nothing_to_rank_and_unusable_scores(hits: Floats) -> None:
    assert mean_intervals(np.zeros((5, 0))) == []
    assert macro_intervals([np.zeros((5, 0))]) == []
    with pytest.raises(StatisticsError, match="item 1 of model 0 is nan"):
        mean_intervals([1.0, np.nan])
    with pytest.raises(StatisticsError, match="between 0 and 1"):
        mean_intervals([1.0, 1.5])
    with pytest.raises(StatisticsError, match="strictly between 0 and 1"):
        mean_intervals(hits, level=95)
    with pytest.raises(StatisticsError, match="do not belong"):
        mean_intervals(hits, means=np.zeros((10, 2)))
    with pytest.raises(StatisticsError, match="no interval for a share"):
        wilson(1.2, 10)
