"""Ranking of candidates (SAGE): ten pictures, one of which shows the meant sense."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from leaderboard.kinds.kind import Kind
from leaderboard.kinds.ranking_gold import load
from leaderboard.kinds.ranking_score import RankingScore
from leaderboard.kinds.ranking_signs import CHANCE, raised, signs
from leaderboard.scoring import ItemScore, Measure

if TYPE_CHECKING:
    import pyarrow as pa


def _columns() -> Sequence[pa.Field[Any]]:
    import pyarrow as pa

    number, numbers = pa.float64(), pa.list_(pa.float64())
    return [
        pa.field("hits1", number),
        pa.field("mrr", number),
        pa.field("choice", pa.int8()),
        pa.field("scores", numbers),
        pa.field("ranks", numbers),
        pa.field("hard", number),
        pa.field("random", number),
    ]


def _read(row: Mapping[str, Any]) -> ItemScore:
    lists = {key: None if row[key] is None else tuple(row[key]) for key in ("scores", "ranks")}
    return RankingScore(**{**row, **lists})


def _trait(score: ItemScore) -> Hashable:
    assert isinstance(score, RankingScore)
    # ties throughout say nothing about who copied whom
    return score.ranks if score.ranks is not None and len(set(score.ranks)) > 1 else None


RANKING = Kind(
    name="ranking",
    measures=(
        Measure("hits1", "Hits@1", "hits1", "share of items whose first choice is the gold"),
        Measure("mrr", "MRR", "mrr", "mean of 1 / rank of the gold picture"),
    ),
    load=load,
    columns=_columns,
    read=_read,
    headings=("Term", "Context"),
    chance=CHANCE,
    signs=signs,
    trait=_trait,
    # one letter for ten pictures: nothing behind the first place is known
    without={"choice": frozenset({"mrr"})},
    since=raised,
)
