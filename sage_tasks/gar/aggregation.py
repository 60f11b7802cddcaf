"""From P(yes) per constraint to one score per picture (SAGE, section 4.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from sage_tasks.gar.records import AXES, Axis

Aggregation = Literal["mean", "axis", "geometric", "min"]
# A model that is certain of No must not wipe out every other constraint.
LEAST = 1e-6


def aggregate(
    probabilities: Sequence[Sequence[float]],
    axes: Sequence[Axis],
    how: Aggregation = "mean",
    axis_weights: Mapping[Axis, float] | None = None,
    information: bool = False,
) -> list[float]:
    """One score per candidate.

    probabilities : (n_constraints, n_candidates), P(yes).
    how : "mean" over constraints; "axis", the mean over axes of each axis's mean, weighted by
        ``axis_weights`` (equal by default); "geometric" mean; "min".
    information : weight each constraint by how far it separates the candidates
        (:func:`separation`); without effect on "min".

    Without constraints every candidate gets 0: nothing is known, all are tied.
    """
    if not probabilities:
        return [0.0] * 10
    weights = [1.0] * len(axes)
    if information:
        found = [separation(row) for row in probabilities]
        weights = found if math.fsum(found) > 0 else weights
    if how == "min":
        return [min(column) for column in zip(*probabilities, strict=True)]
    if how == "axis":
        weights = _balanced(weights, axes, axis_weights or {})
    if how == "geometric":
        logs = [[math.log(max(p, LEAST)) for p in row] for row in probabilities]
        return [math.exp(value) for value in _weighted(logs, weights)]
    return _weighted(probabilities, weights)


def separation(row: Sequence[float]) -> float:
    """What the answer to a yes/no question tells about which picture is looked at, in bits.

    Mutual information of the answer and the picture, all pictures equally likely: the entropy of
    the mean P(yes) minus the mean entropy. 0 when the question gets the same answer everywhere
    (the paper's "non-discriminative constraint", Table 9), at most 1.
    """
    mean = math.fsum(row) / len(row)
    return max(0.0, _entropy(mean) - math.fsum(map(_entropy, row)) / len(row))


def _entropy(p: float) -> float:
    return -math.fsum(q * math.log2(q) for q in (p, 1.0 - p) if q > 0.0)


def _weighted(rows: Sequence[Sequence[float]], weights: Sequence[float]) -> list[float]:
    total = math.fsum(weights)
    return [
        math.fsum(w * value for w, value in zip(weights, column, strict=True)) / total
        for column in zip(*rows, strict=True)
    ]


def _balanced(
    weights: Sequence[float], axes: Sequence[Axis], wanted: Mapping[Axis, float]
) -> list[float]:
    """Weights under which each axis present counts as wanted, whatever its constraints."""
    sums = {
        axis: math.fsum(w for w, a in zip(weights, axes, strict=True) if a == axis) for axis in AXES
    }
    balanced = [
        wanted.get(axis, 1.0) * weight / sums[axis] if sums[axis] > 0 else 0.0
        for weight, axis in zip(weights, axes, strict=True)
    ]
    return balanced if math.fsum(balanced) > 0 else [1.0] * len(axes)
