"""Flat tables: one line per entry and task, and one per entry and track for the macro average."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leaderboard.files import write_atomic
from leaderboard.records import Board, Estimate, Row, TrackBoard
from leaderboard.store import Store

MACRO = "(all ranked tasks)"

# A spreadsheet runs a cell that starts with one of these (CVE-2022-24770).
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def flat_rows(board: Board) -> Iterator[dict[str, Any]]:
    """The board's numbers as flat records; shares, not percent."""
    for track in board.tracks:
        for row in track.rows:
            for task, cell in row.cells.items():
                yield {
                    **_who(track, row),
                    "task": task,
                    **_numbers(cell.hits1, cell.mrr, cell.hits1_by_term),
                    "items": cell.items,
                    "missing": cell.missing,
                    "invalid": cell.invalid,
                    "submission": cell.submission,
                    "rank_best": None,
                    "rank_worst": None,
                    "p_holm_versus_best": None,
                }
            best, worst = row.rank or (None, None)
            yield {
                **_who(track, row),
                "task": MACRO,
                **_numbers(row.hits1, row.mrr),
                "items": sum(cell.items for cell in row.cells.values()),
                "missing": sum(cell.missing for cell in row.cells.values()),
                "invalid": sum(cell.invalid for cell in row.cells.values()),
                "submission": "",
                "rank_best": best,
                "rank_worst": worst,
                "p_holm_versus_best": row.versus_best.p_adjusted if row.versus_best else None,
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
        "submitted": row.submitted,
    }


def _numbers(
    hits1: Estimate | None, mrr: Estimate | None, hits1_by_term: Estimate | None = None
) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    for name, estimate in (("hits1", hits1), ("mrr", mrr), ("hits1_by_term", hits1_by_term)):
        numbers[name] = estimate.value if estimate else None
        numbers[f"{name}_low"] = estimate.low if estimate else None
        numbers[f"{name}_high"] = estimate.high if estimate else None
        numbers[f"{name}_interval"] = estimate.method if estimate else None
    return numbers
