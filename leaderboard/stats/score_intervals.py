"""Wilson's interval for a share, and the same idea for losses and for grouped items."""

from __future__ import annotations

import math

import numpy as np

from leaderboard.stats.checks import FloatArray, StatisticsError, Units, check_level


def wilson(
    share: float, size: float, *, degrees: float | None = None, level: float = 0.95
) -> tuple[float, float]:
    """Wilson's score interval for a share of ``size`` trials.

    degrees : degrees of freedom of Student's quantile, which replaces the normal one. With it the
        coverage at n = 30 stays above 93% for every share (docs/statistics.md); the plain form
        (None) dips to 92%. Zero degrees (a single unit) give [0, 1]: one trial says next to
        nothing.
    """
    check_level(level)
    if not (0 <= share <= 1 and size > 0):
        raise StatisticsError(f"no interval for a share of {share} in {size} trials")
    z = _quantile(level, degrees)
    if math.isinf(z):
        return 0.0, 1.0
    shrink = 1 + z * z / size
    centre = (share + z * z / (2 * size)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    # exact at the ends, where rounding would leave 1 - 1e-17 or -1e-17
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return low, high


def scaled_wilson(
    losses: FloatArray, size: float, *, degrees: float | None = None, level: float = 0.95
) -> tuple[float, float]:
    """Score interval for the mean of losses in 0..1 that are mostly 0.

    A loss that occurs with probability q and has the mean square r times its mean (r <= 1) has the
    variance m (r - m) at mean m: Wilson's formula for the share m / r, times r. For losses of 0
    and 1, r is 1 and this is Wilson's interval; with no loss at all r is taken as 1, the widest.
    """
    total = math.fsum(losses)
    ratio = math.fsum(losses**2) / total if total > 0 else 1.0
    share = min(1.0, total / len(losses) / ratio)
    low, high = wilson(share, size, degrees=degrees, level=level)
    return ratio * low, ratio * high


def clustered_sample_size(column: FloatArray, units: Units) -> float:
    """Number of independent items that would tell as much as these grouped ones (Kish).

    The variance of the mean between groups against m (1 - m) / n; never more than the number of
    items, and the number of groups where nothing varies.
    """
    n_items = len(column)
    if units.codes is None:
        return n_items
    mean = math.fsum(column) / n_items
    deviations = units.sums((column - mean)[:, None])[:, 0]
    if units.count < 2 or not np.any(deviations):
        return units.count
    variance = units.count / (units.count - 1) * math.fsum(deviations**2) / n_items**2
    if variance <= 0 or not 0 < mean < 1:
        return units.count
    return min(float(n_items), mean * (1 - mean) / variance)


def _quantile(level: float, degrees: float | None) -> float:
    from scipy import stats

    tail = (1 + level) / 2
    if degrees is None:
        return float(stats.norm.ppf(tail))
    return float(stats.t.ppf(tail, degrees)) if degrees > 0 else math.inf
