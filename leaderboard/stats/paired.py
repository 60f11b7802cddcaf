"""Differences between models on the same items, with intervals and tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
# Pairs, and sign patterns, handled at once.
_BLOCK = 32
_FLIPS = 500


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
    """The same for many pairs; entry k is model ``first[k]`` minus model ``second[k]``.

    small : where the small-sample rule stands in for the bootstrap.
    """

    first: IntArray
    second: IntArray
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    small: NDArray[np.bool_]

    def rows(self) -> list[PairedDifference]:
        """The same, one record per pair."""
        names = np.where(self.small, "sign flips, Student", "paired bootstrap")
        columns = (self.difference, self.low, self.high, self.p, names)
        return [PairedDifference(*row) for row in zip(*(c.tolist() for c in columns), strict=True)]


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
    return difference_pairs(
        as_pair(a, b, unit_range=True),
        resamples=resamples,
        seed=seed,
        clusters=clusters,
        level=level,
    ).rows()[0]


def difference_pairs(
    values: Scores,
    *,
    pairs: Sequence[tuple[int, int]] | None = None,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Clusters = None,
    level: float = 0.95,
    means: FloatArray | None = None,
) -> DifferencePairs:
    """Differences of pairs of models; ``values`` may be a list of subsets (macro average).

    values : (n_items, n_models) scores in 0..1, or a list of such tables.
    pairs : which models (first, second) to compare; all pairs i < j by default.
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
    first, second = pair_indices(base.parts.shape[1], pairs)
    difference = base.estimates[first] - base.estimates[second]
    low, high, p = (np.empty(len(first)) for _ in range(3))
    for chosen, block in difference_blocks(means - base.estimates, first, second):
        here = difference[chosen]
        at_most = (block <= (TIE - here)[:, None]).sum(axis=1)
        at_least = (block >= (-TIE - here)[:, None]).sum(axis=1)
        share = (np.minimum(at_most, at_least) + 1) / (block.shape[1] + 1)
        p[chosen] = np.minimum(1.0, 2 * share)
        limits = _quantiles_in_place(block, tail)
        low[chosen], high[chosen] = here + limits[0], here + limits[1]
    small = np.full(len(first), base.n_units < MIN_UNITS)
    small |= ~differ_on(base, first, second, MIN_DIFFERING)
    if small.any():
        some = np.flatnonzero(small)
        p[some] = _sign_flips(base, first[some], second[some], resamples, seed)
        low[some], high[some] = _student_limits(base, first[some], second[some], p[some], level)
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


def pair_indices(
    n_models: int, pairs: Sequence[tuple[int, int]] | None = None
) -> tuple[IntArray, IntArray]:
    """First and second model of every pair; all pairs i < j where none are named."""
    if pairs is None:
        return np.triu_indices(n_models, k=1)
    table = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if table.size and not (table.min() >= 0 and table.max() < n_models):
        raise StatisticsError(f"a pair names a model outside 0..{n_models - 1}")
    return table[:, 0], table[:, 1]


def difference_blocks(
    centred: FloatArray, first: IntArray, second: IntArray
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Blocks of (pairs, resamples) of differences between centred resampled means."""
    columns = np.ascontiguousarray(centred.T, dtype=np.float32)
    for start in range(0, len(first), _BLOCK):
        chosen = slice(start, start + _BLOCK)
        block = columns[first[chosen]]
        block -= columns[second[chosen]]
        yield chosen, block


def squared_sums(base: Contributions, first: IntArray, second: IntArray) -> FloatArray:
    """Sum over units of the squared difference of each pair."""
    gram = base.parts.T @ base.parts
    own = np.diag(gram)
    squares: FloatArray = np.maximum(own[first] + own[second] - 2 * gram[first, second], 0.0)
    return squares


def differ_on(
    base: Contributions, first: IntArray, second: IntArray, least: int
) -> NDArray[np.bool_]:
    """Whether the models of each pair differ on at least this many units."""
    # a unit's squared difference is at most largest**2: the sum alone settles nearly every pair
    bound = squared_sums(base, first, second) / base.largest**2
    enough: NDArray[np.bool_] = bound > least + 1e-6
    doubtful = np.flatnonzero(~enough)
    columns = np.ascontiguousarray(base.parts.T)
    for start in range(0, len(doubtful), _BLOCK):
        chosen = doubtful[start : start + _BLOCK]
        gaps = np.abs(columns[first[chosen]] - columns[second[chosen]])
        enough[chosen] = np.count_nonzero(gaps > 1e-12, axis=1) >= least
    return enough


def _quantiles_in_place(block: NDArray[np.float32], tail: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper quantile of each row as numpy's default gives them; sorts the block."""
    # a vectorised sort in numpy 2, several times faster than partition at four places
    block.sort(axis=1)
    last = block.shape[1] - 1
    limits = []
    for place in (tail * last, (1 - tail) * last):
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
        p[drawn] = _drawn_flips(base, first[drawn], second[drawn], resamples, seed)
    return p


def _drawn_flips(
    base: Contributions, first: IntArray, second: IntArray, resamples: int, seed: Seed
) -> FloatArray:
    observed = np.abs(base.parts.sum(axis=0)[first] - base.parts.sum(axis=0)[second])
    larger = np.zeros(len(first), dtype=np.int64)
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, _FLIPS):
        shape = (min(_FLIPS, resamples - start), base.n_units)
        signs = rng.integers(0, 2, shape, dtype=np.int8).astype(np.float64) * 2 - 1
        sums = np.ascontiguousarray((signs @ base.parts).T)
        for some in range(0, len(first), _BLOCK):
            chosen = slice(some, some + _BLOCK)
            moved = np.abs(sums[first[chosen]] - sums[second[chosen]])
            larger[chosen] += (moved >= observed[chosen, None] - 1e-12).sum(axis=1)
    return (larger + 1) / (resamples + 1)


def _student_limits(
    base: Contributions, first: IntArray, second: IntArray, p: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    from scipy import stats

    difference = base.estimates[first] - base.estimates[second]
    degrees = base.n_units - 1
    t = stats.t.ppf((1 + level) / 2, degrees) if degrees > 0 else np.inf
    half = t * np.sqrt(squared_sums(base, first, second) + base.largest**2)
    low, high = np.maximum(difference - half, -1.0), np.minimum(difference + half, 1.0)
    open_question = p > 1 - level
    return (
        np.where(open_question, np.minimum(low, 0.0), low),
        np.where(open_question, np.maximum(high, 0.0), high),
    )
