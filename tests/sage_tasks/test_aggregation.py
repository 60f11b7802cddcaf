"""Aggregation is exact and does not depend on order or on how items were split."""

from __future__ import annotations

import random

import pytest

from sage_tasks.aggregation import group_delta, pair_mean
from wordsight.aggregation import exact_mean


def test_mean_has_the_same_bits_in_any_order() -> None:
    rng = random.Random(1)
    values = [rng.random() for _ in range(1000)]
    shuffled = rng.sample(values, len(values))

    assert exact_mean(values) == exact_mean(shuffled)


def test_pair_mean_weights_items_by_their_pairs() -> None:
    values = [{"score": 1.0, "pairs": 1}, {"score": 0.0, "pairs": 3}]

    assert pair_mean(values) == 0.25


def test_group_delta_is_original_minus_swapped() -> None:
    assert group_delta([0.75, 0.5], [4, 4], False) == 0.25
    with pytest.raises(ValueError, match="unpack"):
        group_delta([0.5], [4], False)
