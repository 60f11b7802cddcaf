"""What every function of this package asks of its input, checked in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import WordsightError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Seed: TypeAlias = "int | tuple[int, ...]"
Labels: TypeAlias = "Sequence[object] | NDArray[np.generic]"

RESAMPLES = 10_000


class StatisticsError(WordsightError, ValueError):
    """Scores, group labels or options that no statistic can be computed from."""


def as_scores(values: ArrayLike, *, unit_range: bool = False, name: str = "values") -> FloatArray:
    """Scores as an (n_items, n_models) array of doubles; a vector is one model.

    Raises :class:`StatisticsError` for no items, more than two axes, NaN or infinity, and, with
    ``unit_range``, for anything outside 0..1.
    """
    try:
        scores = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"{name}: scores must be numbers in a full table ({error})") from None
    if scores.ndim == 1:
        scores = scores[:, None]
    if scores.ndim != 2:
        raise StatisticsError(f"{name} must be (n_items, n_models), not of shape {scores.shape}")
    if scores.shape[0] == 0:
        raise StatisticsError(f"{name} holds no items: nothing can be said about a mean of none")
    bad = ~np.isfinite(scores)
    if unit_range:
        bad |= (scores < 0) | (scores > 1)
    if bad.any():
        item, model = map(int, np.argwhere(bad)[0])
        wanted = "between 0 and 1" if unit_range else "finite"
        raise StatisticsError(
            f"{name}: item {item} of model {model} is {scores[item, model]}, scores must be "
            f"{wanted} (a missing or invalid item is scored 0, not NaN)"
        )
    return scores


def as_pair(first: ArrayLike, second: ArrayLike, *, unit_range: bool = False) -> FloatArray:
    """Two models' scores on the same items as an (n_items, 2) array."""
    columns = [
        as_scores(values, unit_range=unit_range, name=name)
        for name, values in (("the first model", first), ("the second model", second))
    ]
    for name, column in zip(("first", "second"), columns, strict=True):
        if column.shape[1] != 1:
            raise StatisticsError(
                f"the {name} model must be one vector of scores, not {column.shape}"
            )
    if columns[0].shape != columns[1].shape:
        raise StatisticsError(
            f"a paired test needs the same items: {columns[0].shape[0]} scores against "
            f"{columns[1].shape[0]}"
        )
    return np.hstack(columns)


def as_subsets(
    subsets: Sequence[ArrayLike], *, unit_range: bool = False, same_models: bool = True
) -> list[FloatArray]:
    """Each subset's scores; raises where there is none or their numbers of models differ."""
    arrays = [
        as_scores(values, unit_range=unit_range, name=f"subset {index}")
        for index, values in enumerate(subsets)
    ]
    if not arrays:
        raise StatisticsError("no subsets: a macro average needs at least one")
    widths = {array.shape[1] for array in arrays}
    if same_models and len(widths) > 1:
        raise StatisticsError(
            f"subsets hold different numbers of models ({sorted(widths)}): a model without all "
            "subsets has no macro average"
        )
    return arrays


def check_level(level: float) -> float:
    """``level`` itself, if it is a probability strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise StatisticsError(f"a level lies strictly between 0 and 1, not {level}")
    return level


@dataclass(frozen=True)
class Units:
    """What is drawn with replacement: each item alone, or whole groups of items.

    codes : group number of every item, or None where each item is its own unit.
    """

    count: int
    codes: IntArray | None

    def sums(self, scores: FloatArray) -> FloatArray:
        """Sum of every model's scores within each unit: (count, n_models)."""
        if self.codes is None:
            return scores
        columns = [np.bincount(self.codes, column, self.count) for column in scores.T]
        return np.stack(columns, axis=1) if columns else np.zeros((self.count, 0))

    def sizes(self, n_items: int) -> FloatArray:
        """Number of items in each unit."""
        if self.codes is None:
            return np.ones(n_items)
        return np.bincount(self.codes, minlength=self.count).astype(np.float64)


def as_units(n_items: int, clusters: Labels | None) -> Units:
    """Units of resampling; ``clusters`` holds one label per item, equal labels one group."""
    if n_items < 1:
        raise StatisticsError(f"{n_items} items: at least one is needed")
    if clusters is None:
        return Units(n_items, None)
    if len(clusters) != n_items:
        raise StatisticsError(f"{len(clusters)} cluster labels for {n_items} items")
    # numbered by first appearance, so that renaming a label changes no result
    numbers: dict[object, int] = {}
    codes = np.array([numbers.setdefault(label, len(numbers)) for label in clusters], np.int64)
    return Units(len(numbers), codes)


def check_resamples(resamples: int) -> int:
    """``resamples`` itself, if positive."""
    if resamples < 1:
        raise StatisticsError(f"resamples must be at least 1, not {resamples}")
    return resamples
