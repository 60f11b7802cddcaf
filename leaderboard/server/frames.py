"""Tables of the Gradio page, from the board's records."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from leaderboard.order import by_rank
from leaderboard.records import Cell, Estimate, MeasureInfo, Row, TaskInfo, TrackBoard
from leaderboard.site.formats import limits, limits_signed, p_value, rank, signed, utc

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

FIXED = ("Rank", "Model")
WORDS = ("Model", "Method", "Interface", "Trust")
ORDERS = ("rank", "first", "second", "name", "date")
# Shares of items that a row must not hide.
MARKS = ("Missing, %", "Invalid, %", "Other pictures, %")


def orders_of(track: TrackBoard) -> list[tuple[str, str]]:
    """Label and name of every order of rows."""
    labels = {"first": track.measures[0].label, "second": track.measures[1].label}
    return [(labels.get(order, order), order) for order in ORDERS]


def columns_of(track: TrackBoard) -> list[str]:
    """Columns that a reader may switch on or off."""
    several = len(track.tasks) > 1
    per_task = [f"{t.label} {m.label}" for t in track.tasks if several for m in track.measures]
    terms = [_term_heading(track, task) for task in track.tasks if _has_terms(track, task)]
    first, *rest = (_with_interval(measure) for measure in track.measures)
    return [
        *first,
        *MARKS,
        *(heading for pair in rest for heading in pair),
        _bca_heading(track),
        *per_task,
        *terms,
        *track.deltas,
        *("p against best", "p against best, screening", "Method", "Interface"),
        *("Attempts", "Remarks", "Date", "Trust", "Contact", "Cost, $"),
    ]


def table_of(track: TrackBoard) -> list[str]:
    """Columns shown at first: marks only where a row has something to mark."""
    marked = [name for name, count in _COUNTS.items() if any(count(c) for c in _cells(track.rows))]
    scores = [heading for measure in track.measures for heading in _with_interval(measure)]
    remarks = ["Remarks"] if any(row.remarks for row in track.rows) else []
    return [*scores, *track.deltas, "p against best", *marked, *remarks, "Interface"]


def matching(track: TrackBoard, search: str, order: str) -> list[Row]:
    """Rows whose model, method or interface holds every word of ``search``, in an order."""
    words = search.casefold().split()
    rows = [row for row in track.rows if all(word in _text(row) for word in words)]
    return sorted(rows, key=lambda row: _place(track, row, order))


def frame_of(track: TrackBoard, rows: Sequence[Row], columns: Sequence[str]) -> Styler:
    """The table of these rows."""
    import pandas as pd

    wanted = [column for column in columns_of(track) if column in columns]
    records = [_record(track, row) for row in rows]
    frame = pd.DataFrame(
        [[record[name] for name in (*FIXED, *wanted)] for record in records],
        columns=[*FIXED, *wanted],
    )
    numbers: list[Hashable] = [name for name in wanted if frame[name].dtype.kind == "f"]
    whole: list[Hashable] = [
        name
        for name in frame.columns
        if name not in ("Model", "Method", "Interface", "Remarks", "Contact")
    ]
    return frame.style.format(precision=1, subset=numbers, na_rep="").set_properties(
        subset=whole, **{"text-align": "right"}
    )


def _record(track: TrackBoard, row: Row) -> dict[str, Any]:
    items = sum(cell.items for cell in row.cells.values())
    record: dict[str, Any] = {
        "Rank": rank(row.rank),
        "Model": row.label,
        _bca_heading(track): limits(row.bca.get(track.first.name)),
        "p against best": "best" if row.entry == track.best else _p(row),
        "p against best, screening": _p_screening(row),
        "Method": row.method,
        "Interface": row.interface,
        **{
            name: round(100 * sum(map(count, row.cells.values())) / items, 1)
            for name, count in _COUNTS.items()
        },
        "Attempts": row.attempts,
        "Remarks": "; ".join(row.remarks),
        "Date": utc(row.submitted),
        "Trust": "verified" if row.verified else "self-reported",
        "Contact": row.contact,
        "Cost, $": row.cost,
    }
    for measure in track.measures:
        record[measure.label] = _points(row.scores.get(measure.name))
        record[f"{measure.label} interval"] = limits(row.scores.get(measure.name))
        for task in track.tasks:
            cell = row.cells.get(task.name)
            score = cell.scores.get(measure.name) if cell else None
            record[f"{task.label} {measure.label}"] = _points(score)
    for task in track.tasks:
        cell = row.cells.get(task.name)
        record[_term_heading(track, task)] = limits(cell.by_term if cell else None)
    for label in track.deltas:
        delta = row.deltas.get(label)
        record[label] = f"{signed(delta.difference)} ({limits_signed(delta)})" if delta else ""
    return record


_COUNTS: Mapping[str, Callable[[Cell], int]] = dict(
    zip(
        MARKS,
        (
            lambda cell: cell.missing,
            lambda cell: cell.invalid,
            lambda cell: cell.other_pictures,
        ),
        strict=True,
    )
)


def _with_interval(measure: MeasureInfo) -> tuple[str, str]:
    return measure.label, f"{measure.label} interval"


def _cells(rows: Sequence[Row]) -> list[Cell]:
    return [cell for row in rows for cell in row.cells.values()]


def _bca_heading(track: TrackBoard) -> str:
    return f"{track.first.label} interval, BCa"


def _term_heading(track: TrackBoard, task: TaskInfo) -> str:
    return f"{task.label} {track.first.label} interval by term"


def _has_terms(track: TrackBoard, task: TaskInfo) -> bool:
    return any(row.cells[task.name].by_term for row in track.rows if task.name in row.cells)


def _points(estimate: Estimate | None) -> float | None:
    return None if estimate is None else round(100 * estimate.value, 1)


def _p(row: Row) -> str:
    return "" if row.versus_best is None else p_value(row.versus_best.p_adjusted)


def _p_screening(row: Row) -> str:
    return "" if row.versus_best is None else p_value(row.versus_best.p_screening)


def _text(row: Row) -> str:
    return f"{row.label} {row.method} {row.interface}".casefold()


def _place(track: TrackBoard, row: Row, order: str) -> tuple[Any, ...]:
    label = row.label.casefold()
    if order == "name":
        return (label,)
    if order == "date":
        return (tuple(-ord(letter) for letter in row.submitted), label)
    if order in ORDERS[1:3]:
        measure = track.measures[ORDERS.index(order) - 1].name
        score = row.scores.get(measure)
        return (score is None, -score.value if score else 0, label)
    return by_rank(row)
