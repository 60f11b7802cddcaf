"""Differences between models on the same items, with intervals and tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leaderboard.stats.checks import (
    RESAMPLES,
    FloatArray,
    IntArray,
    Labels,
    Seed,
    StatisticsError,
    as_pair,
    check_level,
    check_resamples,
)
from leaderboard.stats.contributions import (
    Clusters,
    Contributions,
    Scores,
    contributions,
    resampled_estimates,
)

# Where the bootstrap of a difference is not trusted: few units, or few on which the two differ.
MIN_UNITS = 100
MIN_DIFFERING = 10
# Up to 2**13 sign patterns are counted out; beyond that they are drawn.
MAX_ENUMERATED = 13
# Two resampled differences nearer than this are equal; scores of n items lie 1/n apart or more
# in whole hits, and the smallest MRR step of ten candidates is far above it too.
TIE = 1e-7


@dataclass(frozen=True)
class PairedDifference:
    """First model minus second: mean difference, interval, two-sided p, and the rule used."""

    difference: float
    low: float
    high: float
    p: float
    method: str = "paired bootstrap"


@dataclass(frozen=True)
class DifferencePairs:
    """The same for all pairs; entry k is model ``first[k]`` minus model ``second[k]``.

    small : where the small-sample rule stands in for the bootstrap.
    """

    first: IntArray
    second: IntArray
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    small: NDArray[np.bool_]


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Labels | None = None,
    level: float = 0.95,
) -> PairedDifference:
    """Mean of ``a - b`` over the same items (scores in 0..1); rules in :func:`difference_pairs`."""
    found = difference_pairs(
        as_pair(a, b, unit_range=True),
        resamples=resamples,
        seed=seed,
        clusters=clusters,
        level=level,
    )
    return PairedDifference(
        float(found.difference[0]),
        float(found.low[0]),
        float(found.high[0]),
        float(found.p[0]),
        "sign flips, Student" if found.small[0] else "paired bootstrap",
    )


def difference_pairs(
    values: Scores,
    *,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Clusters = None,
    level: float = 0.95,
    means: FloatArray | None = None,
) -> DifferencePairs:
    """Differences of every pair of models; ``values`` may be a list of subsets (macro average).

    values : (n_items, n_models) scores in 0..1, or a list of such tables.
    means : resampled means of the same arguments, where the caller has them already.

    Percentile interval of the paired bootstrap; p is twice the smaller share of resamples on
    either side of 0, counted as (b + 1) / (R + 1), so it is never 0 and agrees with the interval.
    Under 100 units, or with fewer than ten on which the two differ, the bootstrap claims too much
    (three items won out of three would be certain): there p comes from flipping signs and the
    interval is difference +- t * sqrt(sum of squared unit differences + one unit more), widened
    to 0 where p does not exclude it.
    """
    tail = (1 - check_level(level)) / 2
    base = contributions(values, clusters)
    if means is None:
        means = resampled_estimates(values, resamples=resamples, seed=seed, clusters=clusters)
    if means.ndim != 2 or means.shape[1] != base.parts.shape[1]:
        raise StatisticsError(f"means of shape {means.shape} do not belong to these scores")
    first, second = np.triu_indices(base.parts.shape[1], k=1)
    difference = base.estimates[first] - base.estimates[second]
    low, high, p = (np.empty(len(first)) for _ in range(3))
    start = 0
    for block in centred_difference_blocks(means - base.estimates):
        stop = start + len(block)
        here = difference[start:stop]
        at_most = (block <= (TIE - here)[:, None]).sum(axis=1)
        at_least = (block >= (-TIE - here)[:, None]).sum(axis=1)
        share = (np.minimum(at_most, at_least) + 1) / (block.shape[1] + 1)
        p[start:stop] = np.minimum(1.0, 2 * share)
        limits = _quantiles_in_place(block, tail)
        low[start:stop], high[start:stop] = here + limits[0], here + limits[1]
        start = stop
    small = _small(base)
    if small.any():
        chosen = np.flatnonzero(small)
        pairs = first[chosen], second[chosen]
        p[chosen] = _sign_flips(base, *pairs, resamples, seed)
        low[chosen], high[chosen] = _student_limits(base, *pairs, p[chosen], level)
    return DifferencePairs(first, second, difference, low, high, p, small)


def sign_flip_p(
    a: ArrayLike,
    b: ArrayLike,
    *,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Labels | None = None,
) -> float:
    """Two-sided p of the sign-flip permutation test: would the sum be as large with random signs?

    All sign patterns are counted where at most 13 units differ (exact); otherwise ``resamples``
    random ones, as (b + 1) / (R + 1). With ``clusters`` whole groups are flipped.
    """
    base = contributions(as_pair(a, b, unit_range=True), clusters)
    index = np.zeros(1, dtype=np.int64)
    return float(_sign_flips(base, index, index + 1, check_resamples(resamples), seed)[0])


def centred_difference_blocks(centred: FloatArray) -> Iterator[NDArray[np.float32]]:
    """Blocks (pairs of model j with all later models, resamples) of differences, in pair order."""
    columns = np.ascontiguousarray(centred.T, dtype=np.float32)
    for model in range(len(columns) - 1):
        yield columns[model] - columns[model + 1 :]


def differing_units(base: Contributions) -> IntArray:
    """Number of units on which each pair differs, in pair order."""
    columns = np.ascontiguousarray(base.parts.T)
    counts = [
        (np.abs(columns[model] - columns[model + 1 :]) > 1e-12).sum(axis=1)
        for model in range(len(columns) - 1)
    ]
    return np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64)


def squared_sums(base: Contributions) -> FloatArray:
    """Sum over units of the squared difference of each pair, in pair order."""
    gram = base.parts.T @ base.parts
    first, second = np.triu_indices(len(gram), k=1)
    own = np.diag(gram)
    return np.maximum(own[first] + own[second] - 2 * gram[first, second], 0.0)


def _small(base: Contributions) -> NDArray[np.bool_]:
    if base.n_units < MIN_UNITS:
        return np.ones(base.parts.shape[1] * (base.parts.shape[1] - 1) // 2, dtype=bool)
    return differing_units(base) < MIN_DIFFERING


def _quantiles_in_place(block: NDArray[np.float32], tail: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper quantile of each row as numpy's default gives them; reorders the block."""
    last = block.shape[1] - 1
    places = [tail * last, (1 - tail) * last]
    wanted = sorted({min(int(place) + step, last) for place in places for step in (0, 1)})
    block.partition(wanted, axis=1)
    limits = []
    for place in places:
        below = int(place)
        lower = block[:, below].astype(np.float64)
        upper = block[:, min(below + 1, last)].astype(np.float64)
        limits.append(lower + (place - below) * (upper - lower))
    return limits[0], limits[1]


def _sign_flips(
    base: Contributions, first: IntArray, second: IntArray, resamples: int, seed: Seed
) -> FloatArray:
    """p of each pair; the random signs are shared by all pairs, as the bootstrap's weights are."""
    p = np.empty(len(first))
    drawn = []
    for index, (one, other) in enumerate(zip(first, second, strict=True)):
        parts = base.parts[:, one] - base.parts[:, other]
        parts = parts[np.abs(parts) > 1e-12]
        if len(parts) <= MAX_ENUMERATED:
            patterns = np.arange(1 << len(parts))[:, None] >> np.arange(len(parts)) & 1
            sums = (1 - 2 * patterns) @ parts
            p[index] = (np.abs(sums) >= abs(parts.sum()) - 1e-12).mean()
        else:
            drawn.append(index)
    if drawn:
        pairs = first[drawn], second[drawn]
        observed = np.abs((base.parts[:, pairs[0]] - base.parts[:, pairs[1]]).sum(axis=0))
        larger = np.zeros(len(drawn), dtype=np.int64)
        rng = np.random.default_rng(seed)
        for start in range(0, resamples, 500):
            shape = (min(500, resamples - start), base.n_units)
            signs = rng.integers(0, 2, shape, dtype=np.int8).astype(np.float64) * 2 - 1
            sums = signs @ base.parts
            larger += (np.abs(sums[:, pairs[0]] - sums[:, pairs[1]]) >= observed - 1e-12).sum(
                axis=0
            )
        p[drawn] = (larger + 1) / (resamples + 1)
    return p


def _student_limits(
    base: Contributions, first: IntArray, second: IntArray, p: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    from scipy import stats

    parts = base.parts[:, first] - base.parts[:, second]
    difference = base.estimates[first] - base.estimates[second]
    degrees = base.n_units - 1
    t = stats.t.ppf((1 + level) / 2, degrees) if degrees > 0 else np.inf
    half = t * np.sqrt((parts**2).sum(axis=0) + base.largest**2)
    low, high = np.maximum(difference - half, -1.0), np.minimum(difference + half, 1.0)
    open_question = p > 1 - level
    return (
        np.where(open_question, np.minimum(low, 0.0), low),
        np.where(open_question, np.maximum(high, 0.0), high),
    )
