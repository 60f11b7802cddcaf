"""Flat tables: one line per entry and task, and one per entry and track for the macro average."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from leaderboard.files import write_atomic
from leaderboard.records import Board, Comparison, Estimate, Row, TrackBoard
from leaderboard.store import Store

MACRO = "(all ranked tasks)"
_PLACES = ("rank_best", "rank_worst", "p_holm_versus_best", "p_bh_versus_best")

# A spreadsheet runs a cell that starts with one of these (CVE-2022-24770).
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def flat_rows(board: Board) -> Iterator[dict[str, Any]]:
    """The board's numbers as flat records, rows in the board's order; shares, not percent.

    Every record has the columns of all measures and differences of the board; those of other kinds
    of task, and what an interface does not have, are None. Differences stand on the line of the
    whole track.
    """
    measures = list(dict.fromkeys(m.name for track in board.tracks for m in track.measures))
    deltas = list(dict.fromkeys(label for track in board.tracks for label in track.deltas))
    for track in board.tracks:
        for row in track.rows:
            for task, cell in row.cells.items():
                for group in (None, *cell.groups):
                    yield {
                        **_who(track, row),
                        "task": task,
                        "group": f"{group.family}: {group.group}" if group else "",
                        **_numbers(measures, group.scores if group else cell.scores),
                        **_estimate("by_term", None if group else cell.by_term),
                        "items": group.items if group else cell.items,
                        "missing": None if group else cell.missing,
                        "invalid": None if group else cell.invalid,
                        "other_pictures": None if group else cell.other_pictures,
                        "submission": cell.submission,
                        **dict.fromkeys(_PLACES),
                        **_deltas(deltas, {}),
                    }
            best, worst = row.rank or (None, None)
            test = row.versus_best
            cells = row.cells.values()
            yield {
                **_who(track, row),
                "task": MACRO,
                "group": "",
                **_numbers(measures, row.scores),
                **_estimate("by_term", None),
                "items": sum(cell.items for cell in cells),
                "missing": sum(cell.missing for cell in cells),
                "invalid": sum(cell.invalid for cell in cells),
                "other_pictures": sum(cell.other_pictures for cell in cells),
                "submission": "",
                "rank_best": best,
                "rank_worst": worst,
                "p_holm_versus_best": test.p_adjusted if test else None,
                "p_bh_versus_best": test.p_screening if test else None,
                **_deltas(deltas, row.deltas),
            }


def write_csv(store: Store, board: Board, out: Path) -> list[Path]:
    """One CSV file; texts that a spreadsheet would run are made plain with an apostrophe."""
    sink = io.StringIO()
    rows = list(flat_rows(board))
    writer = csv.DictWriter(sink, fieldnames=list(rows[0]) if rows else ["track"])
    writer.writeheader()
    writer.writerows({key: safe_cell(value) for key, value in row.items()} for row in rows)
    write_atomic(out, sink.getvalue().encode())
    return [out]


def write_parquet(store: Store, board: Board, out: Path) -> list[Path]:
    """One Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(flat_rows(board))), sink)
    write_atomic(out, sink.getvalue())
    return [out]


def safe_cell(value: Any) -> Any:
    """The value, with an apostrophe before text that starts like a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _who(track: TrackBoard, row: Row) -> dict[str, Any]:
    return {
        "track": track.name,
        "entry": row.entry,
        "label": row.label,
        "model": row.model,
        "revision": row.revision,
        "method": row.method,
        "interface": row.interface,
        "trust": "verified" if row.verified else "self-reported",
        "attempts": row.attempts,
        "remarks": "; ".join(row.remarks),
        "contact": row.contact,
        "cost": row.cost,
        "submitted": row.submitted,
    }


def _numbers(measures: Sequence[str], scores: Mapping[str, Estimate]) -> dict[str, Any]:
    return {k: v for name in measures for k, v in _estimate(name, scores.get(name)).items()}


def _deltas(labels: Sequence[str], tests: Mapping[str, Comparison]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for label in labels:
        test = tests.get(label)
        found |= {
            label: test.difference if test else None,
            f"{label}_low": test.low if test else None,
            f"{label}_high": test.high if test else None,
            f"{label}_p_holm": test.p_adjusted if test else None,
            f"{label}_p_bh": test.p_screening if test else None,
        }
    return found


def _estimate(name: str, estimate: Estimate | None) -> dict[str, Any]:
    return {
        name: estimate.value if estimate else None,
        f"{name}_low": estimate.low if estimate else None,
        f"{name}_high": estimate.high if estimate else None,
        f"{name}_interval": estimate.method if estimate else None,
    }
