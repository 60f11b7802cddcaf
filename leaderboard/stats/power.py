"""How small a difference could this many items tell apart? Power of the paired tests."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.stats.checks import (
    FloatArray,
    Labels,
    StatisticsError,
    as_scores,
    as_units,
    check_level,
)


def mcnemar_power(
    n_items: int, differing: float, difference: float, *, alpha: float = 0.05
) -> float:
    """Chance that the exact McNemar test finds a true difference in Hits@1.

    differing : share of items that exactly one of the two models gets right.
    difference : true difference in Hits@1, at most ``differing``.
    Exact: sums over the number of such items and over how many of them the better model wins.
    """
    from scipy import stats

    _check(n_items, differing, alpha)
    if abs(difference) > differing + 1e-12:
        raise StatisticsError(
            f"a difference of {difference} needs at least as large a share of differing items, "
            f"not {differing}"
        )
    if differing == 0:
        return 0.0
    win = min(1.0, (1 + abs(difference) / differing) / 2)
    counts = np.arange(n_items + 1)
    weight = stats.binom.pmf(counts, n_items, differing)
    # largest number of losses with 2 * P(losses or fewer) <= alpha; -1 where there is none
    limit = stats.binom.ppf(alpha / 2, counts, 0.5).astype(np.int64)
    limit = np.where(2 * stats.binom.cdf(limit, counts, 0.5) <= alpha, limit, limit - 1)
    found = stats.binom.cdf(limit, counts, 1 - win) + stats.binom.cdf(limit, counts, win)
    return float(np.clip((weight * np.where(limit >= 0, found, 0.0)).sum(), 0.0, 1.0))


def smallest_detectable_difference(
    n_items: int, differing: float, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Smallest true difference in Hits@1 that the exact McNemar test finds with chance ``power``.

    None where even the largest possible difference (the better model wins every item on which the
    two differ) is found less often. For a claim among m pairs use ``alpha / m``.
    """
    from scipy import optimize

    _check(n_items, differing, alpha)
    check_level(power)

    def short(difference: float) -> float:
        return mcnemar_power(n_items, differing, difference, alpha=alpha) - power

    if differing == 0 or short(differing) < 0:
        return None
    return float(optimize.brentq(short, 0.0, differing, xtol=1e-6))


def detectable_difference(
    values: ArrayLike,
    *,
    clusters: Labels | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float | None:
    """Smallest difference in a mean score that a typical pair of these models could show.

    values : (n_items, n_models), any metric in 0..1. The median over all pairs of models of
    (z_(1 - alpha/2) + z_power) times the standard error of their paired difference, which takes
    in how much the pair agrees, and the groups where ``clusters`` are given. None with fewer than
    two models or two units.
    """
    from scipy import stats

    check_level(alpha)
    check_level(power)
    errors = _paired_errors(as_scores(values, unit_range=True), clusters)
    if errors.size == 0:
        return None
    factor = stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(power)
    return float(factor * np.median(errors))


def _paired_errors(scores: FloatArray, clusters: Labels | None) -> FloatArray:
    units = as_units(scores.shape[0], clusters)
    if units.count < 2:
        return np.zeros(0)
    parts = units.sums(scores - scores.mean(axis=0)) / scores.shape[0]
    gram = parts.T @ parts
    first, second = np.triu_indices(len(gram), k=1)
    squares = np.diag(gram)[first] + np.diag(gram)[second] - 2 * gram[first, second]
    variances: FloatArray = np.maximum(squares, 0.0) * units.count / (units.count - 1)
    return np.sqrt(variances)


def _check(n_items: int, differing: float, alpha: float) -> None:
    if n_items < 1:
        raise StatisticsError(f"{n_items} items: at least one is needed")
    if not (0 <= differing <= 1) or math.isnan(differing):
        raise StatisticsError(f"a share of differing items lies in 0..1, not {differing}")
    check_level(alpha)
