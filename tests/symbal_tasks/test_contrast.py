"""Ratio, interval, test and correction, against scipy, statsmodels and simulation."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, fisher_exact
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep

from symbal_tasks.audit.contrast import contrast, from_counts, holm, score_interval


def test_counts_and_ratio() -> None:
    found = contrast([True, True, False, True, False], [True, True, True, False, False])
    assert (found.errors_with, found.n_with) == (2, 3)
    assert (found.errors_without, found.n_without) == (1, 2)
    assert found.ratio == pytest.approx((2 / 3) / (1 / 2))
    with pytest.raises(ValueError, match="marks"):
        contrast([True], [])


@pytest.mark.parametrize("counts", [(0, 5, 0, 5), (2, 4, 0, 0), (0, 0, 1, 3)])
def test_what_cannot_be_tested_is_no_finding(counts: tuple[int, int, int, int]) -> None:
    found = from_counts(*counts)
    assert found.ratio is None
    assert found.p == 1.0


def test_no_error_without_the_feature_is_infinite() -> None:
    found = from_counts(8, 10, 0, 50)
    assert found.ratio == math.inf
    assert found.high == math.inf
    assert found.low is not None
    assert found.low > 5
    assert found.p == pytest.approx(fisher_exact([[8, 2], [0, 50]]).pvalue)


@given(st.integers(1, 80), st.integers(1, 80), st.data())
def test_interval_ends_where_the_score_test_rejects(n1: int, n0: int, data: st.DataObject) -> None:
    a, b = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n0))
    if a + b == 0:
        return
    low, high = score_interval(a, n1, b, n0)
    assert low <= high
    if a and b:
        assert low <= (a / n1) / (b / n0) <= high
        # a ratio of 1 is inside exactly when Pearson's test of independence does not reject
        if 0 < a + b < n1 + n0:
            p = chi2_contingency([[a, n1 - a], [b, n0 - b]], correction=False).pvalue
            if abs(p - 0.05) > 1e-4:
                assert (low <= 1 <= high) is bool(p > 0.05)


@pytest.mark.parametrize(
    "counts", [(9, 20, 3, 80), (20, 20, 3, 80), (1, 50, 1, 50), (5, 900, 0, 4000)]
)
def test_interval_is_statsmodels_up_to_its_small_sample_factor(
    counts: tuple[int, int, int, int],
) -> None:
    # statsmodels multiplies the variance by n / (n - 1), which widens its interval a little
    theirs = confint_proportions_2indep(*counts, compare="ratio", method="score")
    ours = score_interval(*counts)
    assert ours[0] == pytest.approx(theirs[0], rel=0.02)
    assert ours[1] == pytest.approx(theirs[1], rel=0.02)
    assert ours[0] >= theirs[0]


def test_interval_covers() -> None:
    rng = np.random.default_rng(0)
    n1, n0, p1, p0 = 30, 120, 0.3, 0.05
    draws = zip(rng.binomial(n1, p1, 2000), rng.binomial(n0, p0, 2000), strict=True)
    kept = [(int(a), int(b)) for a, b in draws if a + b]
    inside = [
        low <= p1 / p0 <= high for a, b in kept for low, high in [score_interval(a, n1, b, n0)]
    ]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)


def test_holm_is_statsmodels() -> None:
    rng = random.Random(1)
    p_values = [rng.random() ** 3 for _ in range(12)]
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())
    assert holm([]) == []
