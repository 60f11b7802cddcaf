"""Figures of one suite each: the SPIS deltas of SAGE, Accuracy@K of SymbalBench."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.stats.checks import (
    RESAMPLES,
    FloatArray,
    Labels,
    Seed,
    StatisticsError,
    as_scores,
)
from leaderboard.stats.intervals import Interval, mean_intervals
from leaderboard.stats.paired import PairedDifference, difference_pairs


@dataclass(frozen=True)
class SpisDeltas:
    """SAGE Table 4: what changes when the picture (spis) or the verb (verb) is taken away."""

    spis: PairedDifference
    verb: PairedDifference


def spis_deltas(
    original: ArrayLike,
    swapped: ArrayLike,
    swapped_neutral: ArrayLike,
    *,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    clusters: Labels | None = None,
    level: float = 0.95,
) -> list[SpisDeltas]:
    """Delta_SPIS = original - swapped and Delta_verb = swapped - swapped neutralised, per model.

    Each argument is (n_items, n_models), row i the same source item in all variants: the deltas
    are paired by item. ``clusters`` is usually the verb.
    """
    tables = [
        as_scores(values, unit_range=True, name=name)
        for name, values in (
            ("original", original),
            ("swapped", swapped),
            ("swapped_neutral", swapped_neutral),
        )
    ]
    if len({table.shape for table in tables}) > 1:
        raise StatisticsError(
            "the variants must hold the same items and models, they are "
            f"{[table.shape for table in tables]}"
        )
    models = tables[0].shape[1]
    spis = [(model, models + model) for model in range(models)]
    verb = [(models + model, 2 * models + model) for model in range(models)]
    found = difference_pairs(
        np.hstack(tables),
        pairs=spis + verb,
        resamples=resamples,
        seed=seed,
        clusters=clusters,
        level=level,
    ).rows()
    return [SpisDeltas(found[model], found[models + model]) for model in range(models)]


def accuracy_at_k(
    first_correct: ArrayLike,
    k: int,
    *,
    clusters: Labels | None,
    resamples: int = RESAMPLES,
    seed: Seed = 0,
    level: float = 0.95,
) -> list[Interval]:
    """Share of settings whose answer is among the first k, with an interval, per model.

    first_correct : (n_settings, n_models), place (from 1) of the first correct answer, infinity
        where none of the answers is. For error and feature together pass the larger place of both.
    clusters : the (t, v) pair of every setting: settings that share it differ only in strength and
        sampling and are no independent trials. None says on purpose that they are.
    """
    if k < 1:
        raise StatisticsError(f"k counts from 1, not {k}")
    return mean_intervals(
        _among_first(first_correct, k),
        kind="hits1",
        resamples=resamples,
        seed=seed,
        clusters=clusters,
        level=level,
    )


def _among_first(first_correct: ArrayLike, k: int) -> FloatArray:
    places = np.asarray(first_correct, dtype=np.float64)
    if np.isnan(places).any() or (places < 1).any():
        raise StatisticsError("places count from 1, with infinity where no answer is correct")
    return (places <= k).astype(np.float64)
