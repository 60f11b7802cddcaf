"""Do two subsets order the models alike? Kendall's tau-b, with a test and an interval (Table 3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leaderboard.stats.checks import (
    RESAMPLES,
    FloatArray,
    Labels,
    Seed,
    StatisticsError,
    as_pair,
    as_subsets,
    check_level,
    check_resamples,
)
from leaderboard.stats.resampling import (
    bootstrap_means,
    exact_means,
    subset_labels,
    subset_seed,
)

# 7! = 5,040 orders are counted out; with more models orders are drawn.
MAX_ENUMERATED = 7
# Pairs of models handled at once, over all resamples of a chunk.
_CHUNK_PAIRS = 1 << 20
# Means nearer than this are tied: below the step of any score, above rounding.
_TIE = 1e-9


@dataclass(frozen=True)
class Agreement:
    """tau-b of two subsets' model means; limits over items (None without items) and p.

    tau is NaN where one side ties all models; p is then 1.
    """

    first: int
    second: int
    tau: float
    p: float
    low: float | None = None
    high: float | None = None


def tau_b(x: ArrayLike, y: ArrayLike, *, resamples: int = RESAMPLES, seed: Seed = 0) -> Agreement:
    """tau-b of two lists of model scores, with a two-sided permutation p.

    Up to seven models all orders are counted (exact, ties allowed); beyond that ``resamples``
    random ones, as (b + 1) / (R + 1).
    """
    scores = as_pair(x, y)
    if scores.shape[0] < 2:
        raise StatisticsError("an order needs at least two models")
    tau = float(_tau(scores[None, :, 0], scores[None, :, 1])[0])
    return Agreement(0, 1, tau, _permutation_p(scores, tau, check_resamples(resamples), seed))


def subset_agreement(
    subsets: Sequence[ArrayLike],
    *,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Sequence[Labels | None] | None = None,
    level: float = 0.95,
) -> list[Agreement]:
    """tau-b between every two subsets, each (n_items_s, n_models) with the same models in order.

    p treats the models as the sample (would random orders agree as much?); the interval treats
    the items as the sample (how far could another draw of items move tau?). Noise in the means
    pulls tau towards 0, and resampling pulls a second time, by an amount that is not known: the
    interval spans the bootstrap percentiles and their reflection about the estimate (2 tau - q).
    It is still too short where close models are truly in the same order (docs/statistics.md).
    """
    arrays = as_subsets(subsets)
    tail = (1 - check_level(level)) / 2
    labels = subset_labels(arrays, clusters)
    drawn = [
        bootstrap_means(scores, resamples=resamples, seed=subset_seed(seed, index), clusters=groups)
        for index, (scores, groups) in enumerate(zip(arrays, labels, strict=True))
    ]
    found = []
    for one, other in combinations(range(len(arrays)), 2):
        plain = tau_b(
            exact_means(arrays[one]), exact_means(arrays[other]), resamples=resamples, seed=seed
        )
        taus = _tau(drawn[one], drawn[other])
        taus = taus[np.isfinite(taus)]
        low: float | None = None
        high: float | None = None
        if taus.size and math.isfinite(plain.tau):
            lower, upper = np.quantile(taus, [tail, 1 - tail])
            low = max(-1.0, float(min(lower, 2 * plain.tau - upper)))
            high = min(1.0, float(max(upper, 2 * plain.tau - lower)))
        found.append(Agreement(one, other, plain.tau, plain.p, low, high))
    return found


def _tau(x: FloatArray, y: FloatArray) -> FloatArray:
    """tau-b of each row of x with the same row of y: two (rows, n_models) -> (rows,)."""
    out = np.empty(len(x))
    n_models = x.shape[1]
    rows = max(1, _CHUNK_PAIRS // max(1, n_models * n_models))
    for start in range(0, len(x), rows):
        stop = start + rows
        xs, ys = _signs(x[start:stop]), _signs(y[start:stop])
        score = np.einsum("rp,rp->r", xs, ys)
        untied = np.einsum("rp,rp->r", xs, xs) * np.einsum("rp,rp->r", ys, ys)
        with np.errstate(invalid="ignore"):
            out[start:stop] = score / np.sqrt(untied)
    return out


def _signs(x: FloatArray) -> NDArray[np.float32]:
    first, second = np.triu_indices(x.shape[1], k=1)
    gaps = x[:, first] - x[:, second]
    return np.where(np.abs(gaps) < _TIE, 0.0, np.sign(gaps)).astype(np.float32)


def _permutation_p(scores: FloatArray, tau: float, resamples: int, seed: Seed) -> float:
    if not math.isfinite(tau):
        return 1.0
    # the number of untied pairs is the same in every order: only the score can be larger
    n_models = len(scores)
    fixed = _signs(scores[None, :, 0])
    exact = n_models <= MAX_ENUMERATED
    observed = abs(float(fixed[0] @ _signs(scores[None, :, 1])[0]))
    larger = total = 0
    for orders in _orders(n_models, resamples, seed):
        sums = np.abs(_signs(scores[orders, 1]) @ fixed[0])
        larger += int((sums >= observed - 0.5).sum())
        total += len(orders)
    return larger / total if exact else (larger + 1) / (total + 1)


def _orders(n_models: int, resamples: int, seed: Seed) -> Iterator[NDArray[np.int64]]:
    if n_models <= MAX_ENUMERATED:
        yield np.array(list(permutations(range(n_models))))
        return
    rng = np.random.default_rng(seed)
    rows = max(1, _CHUNK_PAIRS // (n_models * n_models))
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        yield rng.permuted(np.tile(np.arange(n_models), (size, 1)), axis=1)
