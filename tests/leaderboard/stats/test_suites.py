from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from leaderboard.stats import (
    StatisticsError,
    accuracy_at_k,
    mean_intervals,
    paired_difference,
    spis_deltas,
)

Floats = NDArray[np.float64]


def test_spis_deltas_are_paired_differences(hits: Floats) -> None:
    original, swapped, neutral = hits[:, [5, 4]], hits[:, [3, 2]], hits[:, [1, 0]]
    found = spis_deltas(original, swapped, neutral)
    assert len(found) == 2
    for model, deltas in enumerate(found):
        for delta, a, b in (
            (deltas.spis, original, swapped),
            (deltas.verb, swapped, neutral),
        ):
            single = paired_difference(a[:, model], b[:, model])
            assert delta.difference == single.difference
            assert (delta.low, delta.high) == pytest.approx((single.low, single.high), abs=1e-7)
            assert delta.p == single.p


def test_spis_deltas_are_narrower_than_of_unpaired_runs(hits: Floats) -> None:
    original, swapped = hits[:, [5]], hits[:, [4]]
    delta = spis_deltas(original, swapped, swapped)[0]
    one, other = (mean_intervals(values)[0] for values in (original, swapped))
    unpaired = np.hypot(one.high - one.low, other.high - other.low)
    assert delta.spis.high - delta.spis.low < 0.95 * unpaired
    assert delta.verb.difference == 0
    assert delta.verb.p == 1


def test_spis_variants_must_hold_the_same_items(hits: Floats) -> None:
    with pytest.raises(StatisticsError, match="same items and models"):
        spis_deltas(hits, hits[:-1], hits)
    with pytest.raises(StatisticsError, match="swapped_neutral: item 0 of model 1 is nan"):
        spis_deltas(hits, hits, np.where(np.arange(6) == 1, np.nan, hits))


def test_accuracy_at_k() -> None:
    places = np.array([[1, np.inf], [3, 6], [np.inf, 5], [2, 1]])
    assert [i.estimate for i in accuracy_at_k(places, 1, clusters=None)] == [0.25, 0.25]
    assert [i.estimate for i in accuracy_at_k(places, 5, clusters=None)] == [0.75, 0.5]


def test_settings_of_one_pair_are_no_independent_trials() -> None:
    rng = np.random.default_rng(0)
    places = np.repeat(rng.choice([1, 3, np.inf], (105, 1)), 4, axis=0)
    pairs = np.repeat(np.arange(105), 4)
    naive = accuracy_at_k(places, 5, clusters=None)[0]
    grouped = accuracy_at_k(places, 5, clusters=pairs)[0]
    assert grouped.method == "cluster bootstrap"
    ratio = (grouped.high - grouped.low) / (naive.high - naive.low)
    assert ratio == pytest.approx(2, rel=0.08)


@pytest.mark.parametrize("bad", [[0.0], [np.nan], [-1.0]])
def test_places_count_from_one(bad: list[float]) -> None:
    with pytest.raises(StatisticsError, match="places count from 1"):
        accuracy_at_k(bad, 5, clusters=None)
    with pytest.raises(StatisticsError, match="k counts from 1"):
        accuracy_at_k([1.0], 0, clusters=None)
