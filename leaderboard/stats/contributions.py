"""What each unit of resampling adds to a mean or a macro average: the common base of paired tests.

A unit is an item, or a group of items where clusters are given. Written this way a plain mean, a
mean over groups and a macro average over subsets are all a sum over units, and a paired difference
is the sum of the differences of two columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from leaderboard.stats.checks import (
    RESAMPLES,
    FloatArray,
    Labels,
    Seed,
    as_scores,
    as_subsets,
    as_units,
)
from leaderboard.stats.resampling import (
    bootstrap_macro,
    bootstrap_means,
    exact_means,
    subset_labels,
)

# One table of scores, or a list of them: one per subset of a macro average.
Scores: TypeAlias = Any
# One label per item; for a list of subsets one such sequence (or None) per subset.
Clusters: TypeAlias = Any


@dataclass(frozen=True)
class Contributions:
    """estimates : (n_models,); parts : (n_units, n_models), columns sum to the estimates;
    largest : the most that any unit could add to a difference of scores in 0..1.
    """

    estimates: FloatArray
    parts: FloatArray
    largest: float

    @property
    def n_units(self) -> int:
        """Number of units over all subsets."""
        return len(self.parts)


def contributions(values: Scores, clusters: Clusters = None) -> Contributions:
    """Contributions to the mean of each model, or to its macro average for a list of subsets.

    A list of two-axis arrays is a list of subsets (``clusters`` then holds one entry per subset);
    anything else is one table of scores.
    """
    if not _is_list_of_subsets(values):
        return _of_one(as_scores(values, unit_range=True), clusters)
    arrays = as_subsets(values, unit_range=True)
    each = [
        _of_one(scores, labels)
        for scores, labels in zip(arrays, subset_labels(arrays, clusters), strict=True)
    ]
    return Contributions(
        np.mean([part.estimates for part in each], axis=0),
        np.concatenate([part.parts for part in each]) / len(each),
        max(part.largest for part in each) / len(each),
    )


def resampled_estimates(
    values: Scores,
    *,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Clusters = None,
) -> FloatArray:
    """``bootstrap_means`` or, for a list of subsets, ``bootstrap_macro``: (resamples, n_models)."""
    draw = bootstrap_macro if _is_list_of_subsets(values) else bootstrap_means
    return draw(values, resamples=resamples, seed=seed, clusters=clusters)


def _of_one(scores: FloatArray, clusters: Labels | None) -> Contributions:
    n_items = scores.shape[0]
    units = as_units(n_items, clusters)
    return Contributions(
        exact_means(scores),
        units.sums(scores) / n_items,
        float(units.sizes(n_items).max()) / n_items,
    )


def _is_list_of_subsets(values: Scores) -> bool:
    return isinstance(values, list | tuple) and len(values) > 0 and np.ndim(values[0]) == 2
