"""Ranking metrics of one query, exact under ties (SAGE, section 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ItemMetrics:
    """Metrics of one query; ``hard`` and ``random`` are None where it has no such negative.

    hits1 : expected value of "the gold ranks first" when ties are broken at random.
    mrr : expected reciprocal rank of the gold under the same rule.
    hard, random : share of negatives of that kind ranked above the gold, a tie counting half
        (the pairwise confusion of Table 8).
    """

    hits1: float
    mrr: float
    hard: float | None
    random: float | None
    hard_pairs: int
    random_pairs: int


INVALID_METRICS = ItemMetrics(0.0, 0.0, None, None, 0, 0)


def rank_interval(keys: Sequence[float], gold: int) -> tuple[int, int]:
    """First and last rank (from 1) that the gold can take when ties are broken at random.

    Raises ValueError when a key is NaN: NaN has no rank.
    """
    if any(math.isnan(key) for key in keys):
        raise ValueError("a candidate's score is NaN")
    above = sum(key > keys[gold] for key in keys)
    level = sum(key == keys[gold] for key in keys)
    return above + 1, above + level


def item_metrics(keys: Sequence[float], gold: int, kinds: Sequence[str]) -> ItemMetrics:
    """Metrics of one query from its candidates' ranking keys (larger = better)."""
    first, last = rank_interval(keys, gold)
    level = last - first + 1
    hard, hard_pairs = _confusion(keys, gold, kinds, "hard")
    rand, random_pairs = _confusion(keys, gold, kinds, "random")
    return ItemMetrics(
        hits1=1.0 / level if first == 1 else 0.0,
        mrr=math.fsum(1.0 / rank for rank in range(first, last + 1)) / level,
        hard=hard,
        random=rand,
        hard_pairs=hard_pairs,
        random_pairs=random_pairs,
    )


def _confusion(
    keys: Sequence[float], gold: int, kinds: Sequence[str], kind: str
) -> tuple[float | None, int]:
    pairs = [
        1.0 if key > keys[gold] else 0.5 if key == keys[gold] else 0.0
        for key, this in zip(keys, kinds, strict=True)
        if this == kind
    ]
    return (math.fsum(pairs) / len(pairs), len(pairs)) if pairs else (None, 0)
