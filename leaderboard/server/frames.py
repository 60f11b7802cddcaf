"""Tables of the Gradio page, from the board's records."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from leaderboard.records import Estimate, Row, TrackBoard
from leaderboard.site.formats import limits, limits_signed, p_value, rank, signed

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

FIXED = ("Rank", "Model")
WORDS = ("Model", "Method", "Interface", "Trust")
BY_TERM = "Hits@1 interval by term"
ORDERS = ("rank", "Hits@1", "MRR", "name", "date")


def columns_of(track: TrackBoard) -> list[str]:
    """Columns that a reader may switch on or off."""
    per_task = [f"{task.label} {metric}" for task in track.tasks for metric in ("Hits@1", "MRR")]
    return [
        *("Hits@1", "Hits@1 interval", "MRR", "MRR interval"),
        *per_task,
        *track.deltas,
        *("p against best", "Method", "Interface", "Missing, %", "Invalid, %"),
        *("Attempts", "Date", "Trust", "Cost, $"),
    ]


def table_of(track: TrackBoard) -> list[str]:
    """Columns shown at first."""
    return [
        *("Hits@1", "Hits@1 interval", "MRR", "MRR interval"),
        *track.deltas,
        *("p against best", "Interface"),
    ]


def select(track: TrackBoard, search: str, order: str, columns: Sequence[str]) -> Styler:
    """The table: rows whose model, method or interface holds every word of ``search``.

    Order "rank" lists by best and worst possible place, then by name: entries that the data
    cannot tell apart stand in the order of the alphabet, not of a difference that may be luck.
    """
    import pandas as pd

    words = search.casefold().split()
    rows = [row for row in track.rows if all(word in _text(row) for word in words)]
    rows.sort(key=lambda row: _place(row, order))
    wanted = [column for column in columns_of(track) if column in columns]
    records = [_record(track, row) for row in rows]
    frame = pd.DataFrame(
        [[record[name] for name in (*FIXED, *wanted)] for record in records],
        columns=[*FIXED, *wanted],
    )
    numbers: list[Hashable] = [name for name in wanted if frame[name].dtype.kind == "f"]
    whole: list[Hashable] = [
        name for name in frame.columns if name not in ("Model", "Method", "Interface")
    ]
    return frame.style.format(precision=1, subset=numbers, na_rep="").set_properties(
        subset=whole, **{"text-align": "right"}
    )


def _record(track: TrackBoard, row: Row) -> dict[str, Any]:
    items = sum(cell.items for cell in row.cells.values())
    record: dict[str, Any] = {
        "Rank": rank(row.rank),
        "Model": row.label,
        "Hits@1": _points(row.hits1),
        "Hits@1 interval": limits(row.hits1),
        "MRR": _points(row.mrr),
        "MRR interval": limits(row.mrr),
        "p against best": "best" if row.entry == track.best else _p(row),
        "Method": row.method,
        "Interface": row.interface,
        "Missing, %": round(100 * sum(c.missing for c in row.cells.values()) / items, 1),
        "Invalid, %": round(100 * sum(c.invalid for c in row.cells.values()) / items, 1),
        "Attempts": row.attempts,
        "Date": row.submitted[:10],
        "Trust": "verified" if row.verified else "self-reported",
        "Cost, $": row.cost,
    }
    for task in track.tasks:
        cell = row.cells.get(task.name)
        record[f"{task.label} Hits@1"] = _points(cell.hits1 if cell else None)
        record[f"{task.label} MRR"] = _points(cell.mrr if cell else None)
        record[f"{task.label} {BY_TERM}"] = limits(cell.hits1_by_term if cell else None)
    for label in track.deltas:
        delta = row.deltas.get(label)
        record[label] = f"{signed(delta.difference)} ({limits_signed(delta)})" if delta else ""
    return record


def _points(estimate: Estimate | None) -> float | None:
    return None if estimate is None else round(100 * estimate.value, 1)


def _p(row: Row) -> str:
    return "" if row.versus_best is None else p_value(row.versus_best.p_adjusted)


def _text(row: Row) -> str:
    return f"{row.label} {row.method} {row.interface}".casefold()


def _place(row: Row, order: str) -> tuple[Any, ...]:
    label = row.label.casefold()
    if order == "name":
        return (label,)
    if order == "date":
        return (tuple(-ord(letter) for letter in row.submitted), label)
    if row.rank is None or row.hits1 is None or row.mrr is None:
        return (1, 0, 0, label)
    if order == "Hits@1":
        return (0, -row.hits1.value, 0, label)
    if order == "MRR":
        return (0, -row.mrr.value, 0, label)
    return (0, *row.rank, label)
