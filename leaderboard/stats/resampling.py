"""Resampling of items with one weight matrix for all models, so that everything stays paired.

A resample is not a list of drawn items but how often each item was drawn; the means of all models
over all resamples are then one matrix product. Sums are taken in fixed point, where addition is
exact in any order: the same seed gives the same bits with any BLAS and any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leaderboard.stats.checks import (
    RESAMPLES,
    FloatArray,
    Labels,
    Seed,
    StatisticsError,
    as_scores,
    as_subsets,
    as_units,
    check_resamples,
)

# Draws handled at once: small enough that the weights stay in the processor's cache.
_CHUNK_DRAWS = 1 << 18
# Every Hits@1 and MRR of ten candidates under fair ties is a whole multiple of 1 / 2520**2
# (2520 = least common multiple of 1..10); further halvings serve other scores.
_UNITS = float(2520**2 * 2**7)


def resample_weights(
    n_items: int, *, resamples: int = RESAMPLES, seed: Seed = 0, clusters: Labels | None = None
) -> Iterator[NDArray[np.float32]]:
    """How often each item is drawn, as chunks of shape (chunk, n_items); rows total ``resamples``.

    With ``clusters`` (one label per item) whole groups are drawn. Equal arguments give equal
    weights, whatever the scores: that is what keeps comparisons between models paired.
    """
    units = as_units(n_items, clusters)
    check_resamples(resamples)
    for weights in _unit_weights(units.count, resamples, seed):
        yield weights if units.codes is None else weights[:, units.codes]


def bootstrap_means(
    values: ArrayLike,
    *,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Labels | None = None,
) -> FloatArray:
    """Means of every model in every resample: (resamples, n_models).

    values : (n_items, n_models), or one model's vector.
    clusters : one label per item; groups are drawn whole, and a resample's mean is its total over
        its number of items (which varies with the groups drawn).
    """
    scores = as_scores(values)
    units = as_units(scores.shape[0], clusters)
    sums = units.sums(scores)
    if units.codes is None:
        return resampled_sums(sums, resamples, seed) / units.count
    totals = resampled_sums(np.column_stack([units.sizes(scores.shape[0]), sums]), resamples, seed)
    return totals[:, 1:] / totals[:, :1]


def bootstrap_macro(
    subsets: Sequence[ArrayLike],
    *,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Sequence[Labels | None] | None = None,
) -> FloatArray:
    """Macro averages of every model in every resample: (resamples, n_models).

    Items are drawn within their subset, whose size stays as it is; the macro average is the plain
    mean of the subset means. ``clusters`` holds one entry per subset.
    """
    arrays = as_subsets(subsets)
    labels = subset_labels(arrays, clusters)
    total = np.zeros((check_resamples(resamples), arrays[0].shape[1]))
    for index, (scores, groups) in enumerate(zip(arrays, labels, strict=True)):
        total += bootstrap_means(
            scores, resamples=resamples, seed=subset_seed(seed, index), clusters=groups
        )
    return total / len(arrays)


def subset_seed(seed: Seed, index: int) -> tuple[int, ...]:
    """Seed of one subset of a macro average: subsets are drawn independently of each other."""
    return (*((seed,) if isinstance(seed, int) else seed), index)


def subset_labels(
    arrays: Sequence[FloatArray], clusters: Sequence[Labels | None] | None
) -> list[Labels | None]:
    """One entry of cluster labels per subset, None for none."""
    labels: list[Labels | None] = [None] * len(arrays) if clusters is None else list(clusters)
    if len(labels) != len(arrays):
        raise StatisticsError(f"{len(labels)} lists of cluster labels for {len(arrays)} subsets")
    return labels


def exact_means(scores: FloatArray) -> FloatArray:
    """Correctly rounded means of the columns: ten thousand times 0.1 has the mean 0.1."""
    return np.array([math.fsum(column) / len(column) for column in scores.T], dtype=np.float64)


def resampled_sums(columns: FloatArray, resamples: int, seed: Seed) -> FloatArray:
    """Weighted sums of each column over every resample: (n_units, k) -> (resamples, k)."""
    count, width = columns.shape
    out = np.empty((check_resamples(resamples), width))
    if width == 0:
        return out
    fixed, units = _fixed_point(columns)
    start = 0
    for weights in _unit_weights(count, resamples, seed):
        stop = start + len(weights)
        out[start:stop] = weights.astype(fixed.dtype, copy=False) @ fixed
        start = stop
    out /= units
    return out


def _unit_weights(count: int, resamples: int, seed: Seed) -> Iterator[NDArray[np.float32]]:
    rng = np.random.default_rng(seed)
    rows = max(1, _CHUNK_DRAWS // count)
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = rng.integers(count, size=(size, count), dtype=np.int64)
        drawn += np.arange(size, dtype=np.int64)[:, None] * count
        weights = np.bincount(drawn.ravel(), minlength=size * count)
        yield weights.astype(np.float32).reshape(size, count)


def _fixed_point(columns: FloatArray) -> tuple[NDArray[np.floating], FloatArray]:
    """Columns as whole numbers of a unit (per column), chosen so that no resampled sum rounds.

    A resample's sum is at most n_units times the largest entry; below 2**24 (2**53) units a float
    (a double) holds every intermediate sum exactly.
    """
    bound = len(columns) * np.maximum(np.abs(columns).max(axis=0), 1e-300)
    if np.all(columns == np.rint(columns)) and bound.max() < 2.0**24:
        return columns.astype(np.float32), np.ones(columns.shape[1])
    shift = np.maximum(0.0, np.ceil(np.log2(bound * _UNITS)) - 52)
    units = _UNITS * np.exp2(-shift)
    return np.rint(columns * units), units
