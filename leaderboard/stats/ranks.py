"""Rank sets: which places could each model hold, all statements true together?

Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for ranks": a model's best possible place is
one more than the number of models that are shown to be better, where all pairs are tested together
by the largest studentised difference (max-t).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from leaderboard.stats.checks import RESAMPLES, FloatArray, Seed, check_level
from leaderboard.stats.contributions import (
    Clusters,
    Scores,
    contributions,
    resampled_estimates,
)
from leaderboard.stats.paired import differ_on, pair_indices, squared_sums

# Entries of (models, resamples) handled at once, so that they stay in the processor's cache.
_TILE = 1 << 18


def rank_sets(
    values: Scores,
    *,
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Clusters = None,
    means: FloatArray | None = None,
) -> list[tuple[int, int]]:
    """Best and worst place (from 1) of every model; all true places lie inside at 1 - alpha.

    values : (n_items, n_models) scores in 0..1 (larger = better), or a list of such tables, one
        per subset, for ranks by macro average.
    means : resampled means of the same arguments, where the caller has them already.
    """
    better = separated(
        values, alpha=alpha, resamples=resamples, seed=seed, clusters=clusters, means=means
    )
    count = len(better)
    return [
        (1 + int(better[:, model].sum()), count - int(better[model].sum()))
        for model in range(count)
    ]


def separated(
    values: Scores,
    *,
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Clusters = None,
    means: FloatArray | None = None,
) -> NDArray[np.bool_]:
    """Entry [i, j] says that model i is shown to be better than model j; no error at 1 - alpha.

    A pair is separated when its difference exceeds the critical value times the standard error.
    The critical value is the bootstrap's 1 - alpha quantile of the largest studentised difference
    of all pairs. The standard error is that under "no difference" (root of the sum of squared
    differences), which cannot vanish when one model wins every item on which the two differ, and
    fewer such items than an exact sign test would need (six at alpha = 0.05) never count.
    """
    check_level(alpha)
    base = contributions(values, clusters)
    count = base.parts.shape[1]
    better = np.zeros((count, count), dtype=bool)
    if count < 2:
        return better
    if means is None:
        means = resampled_estimates(values, resamples=resamples, seed=seed, clusters=clusters)
    first, second = pair_indices(count)
    difference = base.estimates[first] - base.estimates[second]
    error = np.sqrt(squared_sums(base, first, second))
    enough = differ_on(base, first, second, math.ceil(1 + math.log2(1 / alpha)))
    shown = enough & (np.abs(difference) > critical_value(means - base.estimates, alpha) * error)
    ahead = np.where(difference > 0, first, second)[shown]
    behind = np.where(difference > 0, second, first)[shown]
    better[ahead, behind] = True
    return better


def critical_value(centred: FloatArray, alpha: float) -> float:
    """Quantile 1 - alpha of the largest studentised difference over all pairs of models.

    centred : resampled means less their estimates, (resamples, n_models). The quantile is taken
        at its upper 99% Monte Carlo bound, so that too few resamples make claims rarer and never
        commoner. At least the normal value of a single pair, which also serves where no two
        models differ.
    """
    from scipy import stats

    count = len(centred)
    largest = _largest_studentised(centred)
    margin = stats.norm.ppf(0.99) * math.sqrt(count * alpha * (1 - alpha))
    order = min(count, math.ceil((1 - alpha) * (count + 1) + margin))
    reached = float(np.partition(largest, order - 1)[order - 1])
    return max(reached, float(stats.norm.ppf(1 - alpha / 2)))


def _largest_studentised(centred: FloatArray) -> NDArray[np.float32]:
    """Largest absolute difference of any two columns, each in its own spread, in every row."""
    count, models = centred.shape
    gram = centred.T @ centred / count
    own = np.diag(gram)
    spread = np.sqrt(np.maximum(own[:, None] + own - 2 * gram, 0.0))
    # models that never differ have no spread and no say
    scale = np.where(spread > 1e-9, 1 / np.maximum(spread, 1e-9), 0.0).astype(np.float32)
    largest = np.zeros(count, dtype=np.float32)
    rows = max(1, _TILE // max(1, models))
    for start in range(0, count, rows):
        columns = np.ascontiguousarray(centred[start : start + rows].T, dtype=np.float32)
        top = largest[start : start + rows]
        gaps = np.empty_like(columns)
        for model in range(models - 1):
            here = gaps[model + 1 :]
            np.subtract(columns[model + 1 :], columns[model], out=here)
            np.multiply(here, scale[model + 1 :, model, None], out=here)
            np.abs(here, out=here)
            np.maximum(top, here.max(axis=0), out=top)
    return largest
