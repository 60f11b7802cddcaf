"""From the figures of items to the figure of a task."""

from __future__ import annotations

import math
from collections.abc import Sequence


def exact_mean(values: Sequence[float]) -> float:
    """Mean with an exactly rounded sum: the same on any number of processes, in any order."""
    return math.fsum(values) / len(values)


def total(values: Sequence[float]) -> float:
    """Number of items (of failed or invalid ones)."""
    return math.fsum(values)
