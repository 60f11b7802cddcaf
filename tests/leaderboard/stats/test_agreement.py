from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from leaderboard.stats import StatisticsError, subset_agreement, tau_b

Floats = NDArray[np.float64]


@pytest.mark.parametrize("seed", range(5))
def test_tau_equals_scipy_with_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, (2, 20)) / 10
    assert tau_b(x, y, resamples=50).tau == pytest.approx(stats.kendalltau(x, y).statistic)


def test_p_equals_scipys_exact_test_without_ties() -> None:
    x, y = [1, 2, 3, 4, 5, 6, 7], [2, 1, 3, 5, 4, 7, 6]
    assert tau_b(x, y).p == pytest.approx(stats.kendalltau(x, y, method="exact").pvalue)


def test_p_with_ties_counts_all_orders() -> None:
    x, y = [1, 1, 2, 3, 4], [1, 2, 2, 4, 3]
    observed = abs(stats.kendalltau(x, y).statistic)
    taus = [abs(stats.kendalltau(x, order).statistic) for order in permutations(y)]
    assert tau_b(x, y).p == pytest.approx(np.mean(np.array(taus) >= observed - 1e-9))


def test_p_of_many_models_is_drawn() -> None:
    rng = np.random.default_rng(1)
    x = rng.random(25)
    y = x + rng.random(25) * 1.5
    expected = stats.kendalltau(x, y, method="exact").pvalue
    found = tau_b(x, y, resamples=20_000).p
    assert found == pytest.approx(expected, abs=0.006)
    assert tau_b(x, x, resamples=99).p == 1 / 100


def test_no_order_on_one_side() -> None:
    found = tau_b([1, 1, 1], [1, 2, 3])
    assert np.isnan(found.tau)
    assert found.p == 1


def models(rng: np.random.Generator, truth: Floats, n: int) -> Floats:
    return (rng.random((n, len(truth))) < truth).astype(float)


def test_subsets_are_compared_pair_by_pair(hits: Floats, mrr: Floats) -> None:
    found = subset_agreement([hits, mrr, 1 - hits], resamples=300)
    assert [(a.first, a.second) for a in found] == [(0, 1), (0, 2), (1, 2)]
    assert found[0].tau == pytest.approx(
        stats.kendalltau(hits.mean(axis=0), mrr.mean(axis=0)).statistic
    )
    assert found[1].tau == pytest.approx(-1)
    assert all(-1 <= a.low <= a.high <= 1 for a in found if a.low is not None and a.high)


def test_interval_covers_the_true_agreement() -> None:
    rng = np.random.default_rng(2)
    one = np.linspace(0.4, 0.8, 12)
    other = one[rng.permutation(12)] * 0.5 + one * 0.5
    truth = stats.kendalltau(one, other).statistic
    inside = 0
    for seed in range(60):
        found = subset_agreement(
            [models(rng, one, 400), models(rng, other, 400)], resamples=500, seed=seed
        )[0]
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= truth <= found.high
    # 95% of 60 is 57; fewer than 52 have a chance of 1%
    assert inside >= 52


def test_groups_widen_the_interval() -> None:
    rng = np.random.default_rng(3)
    truth = np.linspace(0.5, 0.7, 10)
    subsets = [np.repeat(models(rng, truth, 60), 10, axis=0) for _ in range(2)]
    labels = np.repeat(np.arange(60), 10)
    naive = subset_agreement(subsets, resamples=500)[0]
    grouped = subset_agreement(subsets, resamples=500, clusters=[labels, labels])[0]
    assert naive.low is not None
    assert grouped.low is not None
    assert grouped.low < naive.low


def test_bad_input(hits: Floats) -> None:
    with pytest.raises(StatisticsError, match="at least two models"):
        tau_b([1], [1])
    with pytest.raises(StatisticsError, match="different numbers of models"):
        subset_agreement([hits, hits[:, :2]])
