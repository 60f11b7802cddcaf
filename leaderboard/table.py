"""The board as a table in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leaderboard.comparison import Disagreement, Duel, sentence
from leaderboard.records import Board, Comparison, Row, TrackBoard
from leaderboard.site.formats import (
    NONE,
    count,
    limits,
    limits_signed,
    p_value,
    percent,
    rank,
    signed,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Wide enough for every column where the output is a file or a pipe, whose width is unknown.
PIPE_WIDTH = 160


def print_board(board: Board) -> None:
    """Print every track. Labels are printed as they are: no markup in them is obeyed."""
    console = _console()
    if not board.tracks:
        console.print("No submissions yet.")
    for track in board.tracks:
        console.print(_table(board, track))
        for task in track.tasks:
            console.print(
                f"{task.label}: {task.name} version {task.version}, {task.items} items, "
                f"dataset {task.dataset}"
            )
    for old in board.archived:
        console.print(f"earlier version: {old.label}: {old.task}, version {old.version}")
    for one in board.withdrawn:
        console.print(f"withdrawn: {one.label} ({one.submission}): {one.reason}")
    console.print(
        "Percent, 95% intervals. A rank range holds all places that the data allow. "
        "p: Holm over all rows against the same one."
    )


def print_duel(found: Duel, items: Sequence[Disagreement]) -> None:
    """Print a comparison and the items on which the two disagree."""
    from rich.table import Table
    from rich.text import Text

    console = _console()
    console.print(sentence(found))
    table = Table(header_style="bold")
    for heading in ("Item", "Term", "Context"):
        table.add_column(heading)
    for heading in (f"Gold's rank, {found.label_a}", f"Gold's rank, {found.label_b}"):
        table.add_column(heading, justify="right")
    for one in items:
        ranks = [
            NONE if place is None else count(place) for place in (one.gold_rank_a, one.gold_rank_b)
        ]
        table.add_row(*[Text(text) for text in (one.item, one.term, one.context, *ranks)])
    if items:
        console.print(table)


def print_published() -> None:
    """Print the papers' tables."""
    from rich.table import Table
    from rich.text import Text

    from leaderboard.published import published

    console = _console()
    for paper in published():
        for printed in paper.tables:
            table = Table(
                title=f"{paper.paper}, Table {printed.table}: {printed.title} (published)",
                title_justify="left",
                header_style="bold",
            )
            table.add_column("Model")
            for column in printed.columns:
                table.add_column(column, justify="right")
            for row in printed.rows:
                cells = [NONE if cell is None else cell.text for cell in row.cells]
                table.add_row(*[Text(text) for text in (row.label, *cells)])
            console.print(table)


def _console() -> Console:
    import sys

    from rich.console import Console

    return Console(markup=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def _table(board: Board, track: TrackBoard) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=track.label, title_justify="left", header_style="bold")
    table.add_column("Rank", justify="right", no_wrap=True)
    table.add_column("Model", ratio=1)
    several = len([task for task in track.tasks if not task.variant]) > 1
    kind = "macro " if several else ""
    for heading in (f"{kind}Hits@1", f"{kind}MRR"):
        table.add_column(heading, justify="right", no_wrap=True)
    for label in track.deltas:
        table.add_column(label, justify="right", no_wrap=True)
    table.add_column("- best", justify="right", no_wrap=True)
    if board.base:
        table.add_column("- base", justify="right", no_wrap=True)
    for row in track.rows:
        cells = [
            rank(row.rank),
            "\n".join([row.label, *row.notes]),
            f"{percent(row.hits1)}\n{limits(row.hits1)}",
            f"{percent(row.mrr)}\n{limits(row.mrr)}",
            *[_delta(row, label) for label in track.deltas],
            "best" if row.entry == track.best else _versus(row.versus_best),
        ]
        if board.base:
            cells.append("base" if row.entry == board.base else _versus(row.versus_base))
        table.add_row(*[Text(cell) for cell in cells])
    return table


def _delta(row: Row, label: str) -> str:
    delta = row.deltas.get(label)
    return NONE if delta is None else f"{signed(delta.difference)}\n{limits_signed(delta)}"


def _versus(test: Comparison | None) -> str:
    return NONE if test is None else f"{signed(test.difference)}\np {p_value(test.p_adjusted)}"
