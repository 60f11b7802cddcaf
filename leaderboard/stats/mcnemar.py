"""Exact McNemar test on Hits@1: of the items where two models differ, who wins how many?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.stats.checks import FloatArray, IntArray, as_pair, as_scores


@dataclass(frozen=True)
class McNemar:
    """Two-sided p; items that only the first model got right (wins) and only the second (losses).

    Both are expected counts, whole numbers unless ties made Hits@1 fractional.
    """

    p: float
    wins: float
    losses: float


@dataclass(frozen=True)
class McNemarPairs:
    """The test for all pairs; entry k compares model ``first[k]`` with model ``second[k]``."""

    first: IntArray
    second: IntArray
    p: FloatArray
    wins: FloatArray
    losses: FloatArray


def mcnemar_exact(a: ArrayLike, b: ArrayLike) -> McNemar:
    """Exact (binomial) McNemar test of two models' Hits@1 on the same items.

    On scores of 0 and 1 it equals ``statsmodels.stats.contingency_tables.mcnemar(exact=True)``.
    A fractional score is the chance to win when ties are broken at random; wins and losses are
    then their expected numbers, and the test is conservative: scores in 0..1 differ less than the
    right and wrong answers they stand for, (a - b)^2 <= a (1 - b) + b (1 - a), and the larger
    count is rounded down, the smaller up. Items must be independent; for grouped items look at
    ``paired_difference(clusters=...)`` too.
    """
    found = mcnemar_pairs(as_pair(a, b, unit_range=True))
    return McNemar(float(found.p[0]), float(found.wins[0]), float(found.losses[0]))


def mcnemar_pairs(hits: ArrayLike) -> McNemarPairs:
    """Exact McNemar test of every pair of models; hits : (n_items, n_models)."""
    from scipy import stats

    scores = as_scores(hits, unit_range=True)
    first, second = np.triu_indices(scores.shape[1], k=1)
    only = scores.T @ (1.0 - scores)
    # sums of tenths carry a rounding error; a count just below a whole number is meant to be it
    wins = np.round(only[first, second], 9)
    losses = np.round(only[second, first], 9)
    fewer = np.ceil(np.minimum(wins, losses))
    more = np.floor(np.maximum(wins, losses))
    p = np.minimum(1.0, 2 * stats.binom.cdf(fewer, (fewer + more).astype(np.int64), 0.5))
    return McNemarPairs(first, second, p, wins, losses)
