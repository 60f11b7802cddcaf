"""Naming (SymbalBench): a set of captions with one systematic error; name it and its feature."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from leaderboard.kinds.kind import Kind
from leaderboard.kinds.naming_gold import load
from leaderboard.kinds.naming_score import NamingScore
from leaderboard.kinds.naming_signs import signs
from leaderboard.scoring import ItemScore, Measure

if TYPE_CHECKING:
    import pyarrow as pa

_WHAT = {"both": "error and feature", "t": "the textual error t", "v": "the visual feature v"}

MEASURES = tuple(
    Measure(
        f"acc{top}_{what}",
        f"{what}@{top}",
        "hits1",
        f"share of settings with {text} named {'first' if top == 1 else f'among the first {top}'}",
    )
    for what, text in _WHAT.items()
    for top in (1, 5)
)


def _columns() -> Sequence[pa.Field[Any]]:
    import pyarrow as pa

    names = pa.list_(pa.string())
    return [
        *(pa.field(measure.name, pa.float64()) for measure in MEASURES),
        pa.field("errors", names),
        pa.field("features", names),
        pa.field("t_at", pa.int8()),
        pa.field("v_at", pa.int8()),
    ]


def _read(row: Mapping[str, Any]) -> ItemScore:
    return NamingScore(**{**row, **{key: tuple(row[key]) for key in ("errors", "features")}})


def _trait(score: ItemScore) -> Hashable:
    assert isinstance(score, NamingScore)
    return (score.errors, score.features) if score.errors or score.features else None


NAMING = Kind(
    name="naming",
    measures=MEASURES,
    load=load,
    columns=_columns,
    read=_read,
    headings=("Error / feature", "Setting"),
    chance=None,
    signs=signs,
    trait=_trait,
)
