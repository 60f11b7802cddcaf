"""The board in the formats that others read: each is one small module and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from leaderboard.exporters import every_eval_ever, hub, latex, tables
from leaderboard.records import Board
from leaderboard.store import Store

Writer = Callable[[Store, Board, Path], list[Path]]

# Each takes the store, the board and where to write (a file, or a folder for the last two).
WRITERS: Mapping[str, Writer] = {
    "csv": tables.write_csv,
    "parquet": tables.write_parquet,
    "latex": latex.write_latex,
    "every_eval_ever": every_eval_ever.write_records,
    "hub": hub.write_yaml,
}

__all__ = ["WRITERS"]
