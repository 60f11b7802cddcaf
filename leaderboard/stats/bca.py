"""Bias-corrected and accelerated bootstrap limits (Efron 1987)."""

from __future__ import annotations

import numpy as np

from leaderboard.stats.checks import FloatArray, Units, check_level


def bca_limits(means: FloatArray, scores: FloatArray, units: Units, level: float) -> FloatArray:
    """Limits of each column: (2, n_models), from its resampled means and its own jackknife.

    Where a column does not vary the limits are its value: BCa cannot help there.
    """
    from scipy import stats

    tail = (1 - check_level(level)) / 2
    totals, sizes = units.sums(scores), units.sizes(scores.shape[0])
    estimate = totals.sum(axis=0) / sizes.sum()
    limits = np.tile(estimate, (2, 1))
    if units.count < 2:
        return limits
    left = (totals.sum(axis=0) - totals) / (sizes.sum() - sizes)[:, None]
    deviations = left.mean(axis=0) - left
    spread = (deviations**2).sum(axis=0)
    below = ((means < estimate).mean(axis=0) + (means <= estimate).mean(axis=0)) / 2
    for model in np.flatnonzero((spread > 1e-18) & (below > 0) & (below < 1)):
        acceleration = (deviations[:, model] ** 3).sum() / (6 * spread[model] ** 1.5)
        bias = stats.norm.ppf(below[model])
        z = bias + stats.norm.ppf([tail, 1 - tail])
        limits[:, model] = np.quantile(
            means[:, model], stats.norm.cdf(bias + z / (1 - acceleration * z))
        )
    return limits
