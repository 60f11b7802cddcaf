"""Studentised (bootstrap-t) limits: each resample is measured in its own standard errors."""

from __future__ import annotations

import numpy as np

from leaderboard.stats.checks import FloatArray, Seed, Units, check_level
from leaderboard.stats.resampling import resampled_sums


def studentised_limits(
    scores: FloatArray,
    units: Units,
    *,
    level: float,
    resamples: int,
    seed: Seed,
    log_odds: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper limits for the means of the columns (Efron and Tibshirani 1993, ch. 12).

    With groups, the mean is total / number of items and its variance the usual linearised one.
    A resample without any spread counts as infinitely far out: it says that the sample at hand is
    too poor, which must widen the interval and never narrow it.

    log_odds : for scores in 0..1 with means strictly between. Distances are then measured between
        log-odds, where the spread depends less on the mean (ch. 12.6): limits stay inside 0..1,
        and the coverage of small samples is nearer to the level.
    """
    check_level(level)
    sizes = units.sizes(scores.shape[0])
    sums = units.sums(scores)
    width = sums.shape[1]
    columns = [sizes[:, None], (sizes**2)[:, None], sums, sums**2, sums * sizes[:, None]]
    observed = np.concatenate(columns, axis=1)
    estimate, error = _ratio(observed.sum(axis=0, keepdims=True), width)
    resampled, errors = _ratio(resampled_sums(observed, resamples, seed), width)
    side = np.sign(np.where(np.abs(resampled - estimate) < 1e-9, 0, resampled - estimate))
    still = errors <= 1e-9
    if log_odds:
        estimate, error = _log_odds(estimate, error)
        resampled, errors = _log_odds(resampled, errors)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(still, side * 1e9, (resampled - estimate) / errors)
    tail = (1 - level) / 2
    lower, upper = np.quantile(t, [tail, 1 - tail], axis=0)
    low, high = (estimate - upper * error)[0], (estimate - lower * error)[0]
    return (_share(low), _share(high)) if log_odds else (low, high)


def _log_odds(mean: FloatArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log-odds of means in 0..1, and their standard errors (delta method)."""
    from scipy.special import logit

    with np.errstate(divide="ignore", invalid="ignore"):
        return logit(mean), error / (mean * (1 - mean))


def _share(log_odds: FloatArray) -> FloatArray:
    from scipy.special import expit

    found: FloatArray = expit(log_odds)
    return found


def _ratio(totals: FloatArray, width: int) -> tuple[FloatArray, FloatArray]:
    """Means and standard errors from totals of size, size^2, sum, sum^2 and sum x size."""
    size, squares = totals[:, :1], totals[:, 1:2]
    sums, sums2, cross = np.split(totals[:, 2:], [width, 2 * width], axis=1)
    mean = sums / size
    variance = (sums2 - 2 * mean * cross + mean**2 * squares) / size**2
    return mean, np.sqrt(np.maximum(variance, 0.0))
