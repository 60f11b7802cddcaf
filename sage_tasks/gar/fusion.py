"""Reciprocal rank fusion with fair ties (Cormack et al., 2009; SAGE, section 4.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence

K = 60


def reciprocal_ranks(keys: Sequence[float], k: int = K) -> list[float]:
    """``1 / (k + rank)`` of each candidate, larger keys first.

    Tied candidates share the mean of what their ranks give: the expected value when ties are
    broken at random.
    """
    gains = []
    for key in keys:
        above = sum(other > key for other in keys)
        level = sum(other == key for other in keys)
        ranks = range(above + 1, above + level + 1)
        gains.append(math.fsum(1.0 / (k + rank) for rank in ranks) / level)
    return gains


def fuse(rankings: Sequence[Sequence[float]], k: int = K) -> list[float]:
    """Sum of reciprocal ranks over rankings of the same candidates, each given by its keys."""
    gains = [reciprocal_ranks(keys, k) for keys in rankings]
    return [math.fsum(column) for column in zip(*gains, strict=True)]


def mean_ranks(keys: Sequence[float]) -> list[float]:
    """Rank of each candidate from 1, tied ones sharing their mean rank; for showing."""
    return [
        sum(other > key for other in keys) + (sum(other == key for other in keys) + 1) / 2
        for key in keys
    ]
