"""From item metrics to a task's figure, and from tasks' figures to a group's."""

from __future__ import annotations

import math
from collections.abc import Sequence


def exact_mean(values: Sequence[float]) -> float:
    """Mean with an exactly rounded sum: the same on any number of processes, in any order."""
    return math.fsum(values) / len(values)


def total(values: Sequence[float]) -> float:
    """Number of items (of failed or invalid ones)."""
    return math.fsum(values)


def pair_mean(values: Sequence[dict[str, float]]) -> float:
    """Share over all (negative, gold) pairs of all items (Table 8)."""
    pairs = math.fsum(value["pairs"] for value in values)
    return math.fsum(value["score"] * value["pairs"] for value in values) / pairs


def group_delta(metrics: Sequence[float], sizes: Sequence[int], weight_by_size: bool) -> float:
    """Delta_SPIS of a group of two tasks: original minus swapped (SAGE, Table 4).

    Raises ValueError when the group does not hold exactly these two figures.
    """
    original, swapped = metrics
    return original - swapped
