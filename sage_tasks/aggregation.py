"""From item metrics to a task's figure, and from tasks' figures to a group's."""

from __future__ import annotations

import math
from collections.abc import Sequence


def pair_mean(values: Sequence[dict[str, float]]) -> float:
    """Share over all (negative, gold) pairs of all items (Table 8)."""
    pairs = math.fsum(value["pairs"] for value in values)
    return math.fsum(value["score"] * value["pairs"] for value in values) / pairs


def position_bias(values: Sequence[dict[str, int]]) -> float:
    """How far the places of the chosen pictures are from the places of the right ones.

    Total variation distance: the share of choices that would have to move to another place, 0 to
    1. Places are shuffled, so that a model without a bias tends to 0 as items grow in number.
    """
    places = {place for value in values for place in value.values()}
    excess = (
        sum((value["chosen"] == place) - (value["gold"] == place) for value in values)
        for place in places
    )
    return sum(abs(difference) for difference in excess) / 2 / len(values)


def group_delta(metrics: Sequence[float], sizes: Sequence[int], weight_by_size: bool) -> float:
    """Delta_SPIS of a group of two tasks: original minus swapped (SAGE, Table 4).

    Raises ValueError when the group does not hold exactly these two figures.
    """
    original, swapped = metrics
    return original - swapped
