"""95% intervals of mean scores, by the rule that holds its promise for the sample at hand.

The percentile bootstrap (10,000 resamples of items) is what the SAGE paper prints in Table 2. It
is too narrow for few items and for scores near 0 or 1 (all right gives [1, 1]); there Hits@1 gets
Wilson's interval and MRR the studentised bootstrap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leaderboard.stats.bca import bca_limits
from leaderboard.stats.checks import (
    RESAMPLES,
    FloatArray,
    Labels,
    Seed,
    StatisticsError,
    Units,
    as_scores,
    as_subsets,
    as_units,
    check_level,
)
from leaderboard.stats.resampling import (
    bootstrap_macro,
    bootstrap_means,
    exact_means,
    subset_labels,
    subset_seed,
)
from leaderboard.stats.score_intervals import clustered_sample_size, scaled_wilson, wilson
from leaderboard.stats.studentised import studentised_limits

Kind = Literal["hits1", "mrr", "mean"]
Method = Literal["auto", "percentile", "bca"]

# Where the percentile bootstrap is not trusted (docs/statistics.md has the simulations).
MIN_UNITS = 100
MIN_EACH = 10
# With fewer items than this that are not perfect (or not 0), many resamples hold almost none of
# them, and the studentised bootstrap has no spread to divide by.
MIN_UNLIKE = 6


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence limits and the name of the rule that gave them."""

    estimate: float
    low: float
    high: float
    method: str
    level: float = 0.95


def mean_intervals(
    values: ArrayLike,
    *,
    kind: Kind = "hits1",
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Labels | None = None,
    level: float = 0.95,
    method: Method = "auto",
    means: FloatArray | None = None,
) -> list[Interval]:
    """One interval per model for its mean score.

    values : (n_items, n_models); Hits@1 and MRR lie in 0..1 and may be fractional under ties.
    clusters : one label per item; groups are resampled whole (in SAGE: the term).
    method : "auto" applies the rules below; "percentile" and "bca" force a bootstrap.
    means : ``bootstrap_means`` of the same arguments, where the caller has them already.

    Rules of "auto". Percentile bootstrap with at least 100 items (or groups), 10 certain hits
    (score 1) and 10 that are none (for Hits@1: score 0). Otherwise Wilson for Hits@1; for MRR the
    studentised bootstrap of its log-odds, or Wilson's interval for the loss 1 - MRR with fewer than
    six items (groups) below 1, and for the score with fewer than six above 0; for "mean" the
    studentised bootstrap under 100 items. Ties: Wilson is for right and
    wrong, so a fractional Hits@1 is read as the share of wins of a run that breaks its ties at
    random; that interval is never too narrow, as scores in 0..1 with mean m vary by at most
    m (1 - m). A row of nothing but ties has no certain hit and is always shown that way.
    """
    scores = as_scores(values, unit_range=kind != "mean")
    check_level(level)
    units = as_units(scores.shape[0], clusters)
    estimates = exact_means(scores)
    trusted = _trusted(scores, units, kind) if method == "auto" else np.full(scores.shape[1], True)
    limits = np.empty((2, scores.shape[1]))
    names = [_bootstrap_name(units, method)] * scores.shape[1]
    if trusted.any():
        chosen = np.flatnonzero(trusted)
        if means is None:
            picked = bootstrap_means(
                scores[:, chosen], resamples=resamples, seed=seed, clusters=clusters
            )
        else:
            picked = _matching(means, scores.shape[1])[:, chosen]
        if method == "bca":
            limits[:, chosen] = bca_limits(picked, scores[:, chosen], units, level)
        else:
            limits[:, chosen] = percentile_limits(picked, level)
    small = np.flatnonzero(~trusted)
    others = _small_sample(
        scores[:, small], units, kind, level=level, resamples=resamples, seed=seed
    )
    for model, (low, high, name) in zip(small, others, strict=True):
        limits[:, model] = low, high
        names[model] = name
    return [
        Interval(float(estimate), float(low), float(high), name, level)
        for estimate, low, high, name in zip(estimates, *limits, names, strict=True)
    ]


def macro_intervals(
    subsets: Sequence[ArrayLike],
    *,
    kind: Kind = "hits1",
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Sequence[Labels | None] | None = None,
    level: float = 0.95,
    means: FloatArray | None = None,
) -> list[Interval]:
    """One interval per model for the macro average over subsets (Table 2's last columns).

    Percentile bootstrap, resampled within subset. For a model of which some subset is no case for
    the percentile bootstrap, the subsets' own intervals are combined instead: the squared distance
    of the macro's limit is the sum of the subsets' squared distances, weighted by 1 / n_subsets**2
    (MOVER: Zou and Donner 2008).
    """
    arrays = as_subsets(subsets, unit_range=kind != "mean")
    labels = subset_labels(arrays, clusters)
    if means is None:
        means = bootstrap_macro(arrays, resamples=resamples, seed=seed, clusters=labels)
    low, high = percentile_limits(_matching(means, arrays[0].shape[1]), level)
    estimates = np.mean([exact_means(scores) for scores in arrays], axis=0)
    units = [as_units(len(scores), groups) for scores, groups in zip(arrays, labels, strict=True)]
    trusted = np.all(
        [_trusted(scores, each, kind) for scores, each in zip(arrays, units, strict=True)], axis=0
    )
    grouped = any(each.codes is not None for each in units)
    names = ["cluster bootstrap" if grouped else "percentile bootstrap"] * len(estimates)
    small = np.flatnonzero(~trusted)
    if small.size:
        parts = [
            mean_intervals(
                scores[:, small],
                kind=kind,
                resamples=resamples,
                seed=subset_seed(seed, index),
                clusters=groups,
                level=level,
            )
            for index, (scores, groups) in enumerate(zip(arrays, labels, strict=True))
        ]
        for model, own in zip(small, zip(*parts, strict=True), strict=True):
            low[model] = estimates[model] - _root_sum([part.estimate - part.low for part in own])
            high[model] = estimates[model] + _root_sum([part.high - part.estimate for part in own])
            names[model] = "combined subset intervals"
    return [
        Interval(float(estimate), float(lower), float(upper), name, level)
        for estimate, lower, upper, name in zip(estimates, low, high, names, strict=True)
    ]


def percentile_limits(means: FloatArray, level: float) -> FloatArray:
    """Lower and upper percentile of each column of resampled means: (2, n_models)."""
    tail = (1 - check_level(level)) / 2
    if means.shape[1] == 0:
        return np.empty((2, 0))
    return np.quantile(means, [tail, 1 - tail], axis=0)


def _root_sum(distances: Sequence[float]) -> float:
    return math.sqrt(math.fsum(distance**2 for distance in distances)) / len(distances)


def _matching(means: FloatArray, n_models: int) -> FloatArray:
    if means.ndim != 2 or means.shape[1] != n_models:
        raise StatisticsError(
            f"means of shape {means.shape} do not belong to scores of {n_models} models"
        )
    return means


def _trusted(scores: FloatArray, units: Units, kind: Kind) -> NDArray[np.bool_]:
    """For which models the percentile bootstrap holds its promise."""
    if units.count < MIN_UNITS or kind == "mean":
        return np.full(scores.shape[1], units.count >= MIN_UNITS)
    hits = (scores == 1).sum(axis=0)
    # an MRR below 1 is a miss however near it is; a Hits@1 between 0 and 1 is neither
    misses = (scores == 0 if kind == "hits1" else scores < 1).sum(axis=0)
    enough: NDArray[np.bool_] = (hits >= MIN_EACH) & (misses >= MIN_EACH)
    return enough


def _bootstrap_name(units: Units, method: Method) -> str:
    if method == "bca":
        return "BCa bootstrap" if units.codes is None else "BCa cluster bootstrap"
    return "percentile bootstrap" if units.codes is None else "cluster bootstrap"


def _small_sample(
    scores: FloatArray, units: Units, kind: Kind, *, level: float, resamples: int, seed: Seed
) -> list[tuple[float, float, str]]:
    rule: dict[Kind, Callable[[FloatArray], tuple[float, float, str] | None]] = {
        "hits1": lambda column: _wilson_hits(column, units, level),
        "mrr": lambda column: _mrr_without_spread(column, units, level),
        "mean": _constant,
    }
    found = [rule[kind](column) for column in scores.T]
    waiting = [index for index, limits in enumerate(found) if limits is None]
    if waiting:
        low, high = studentised_limits(
            scores[:, waiting],
            units,
            level=level,
            resamples=resamples,
            seed=seed,
            log_odds=kind == "mrr",
        )
        name = "studentised bootstrap" + ("" if units.codes is None else " of clusters")
        for index, lower, upper in zip(waiting, low, high, strict=True):
            found[index] = float(lower), float(upper), name
    return [limits for limits in found if limits is not None]


def _wilson_hits(column: FloatArray, units: Units, level: float) -> tuple[float, float, str]:
    size = clustered_sample_size(column, units)
    low, high = wilson(math.fsum(column) / len(column), size, degrees=units.count - 1, level=level)
    return low, high, "Wilson" + ("" if units.codes is None else " of clusters")


def _mrr_without_spread(
    column: FloatArray, units: Units, level: float
) -> tuple[float, float, str] | None:
    """Limits where the studentised bootstrap has too little to go by, else None."""
    if np.all(column == column[0]):
        low, high = wilson(float(column[0]), units.count, degrees=units.count - 1, level=level)
        return low, high, "Wilson"
    degrees = units.count - 1
    if np.count_nonzero(units.sums(1 - column[:, None])) < MIN_UNLIKE:
        low, high = scaled_wilson(1 - column, units.count, degrees=degrees, level=level)
        return 1 - high, 1 - low, "Wilson for the loss"
    if np.count_nonzero(units.sums(column[:, None])) < MIN_UNLIKE:
        low, high = scaled_wilson(column, units.count, degrees=degrees, level=level)
        return low, high, "Wilson for the mean"
    return None


def _constant(column: FloatArray) -> tuple[float, float, str] | None:
    if np.all(column == column[0]):
        return float(column[0]), float(column[0]), "none: all values are equal"
    return None
