"""The board as a table in a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from leaderboard.comparison import Disagreement, Duel, sentence
from leaderboard.records import Board, Comparison, Group, Row, TrackBoard
from leaderboard.site.formats import (
    NONE,
    counted,
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


def print_board(board: Board, *, parts: bool = False) -> None:
    """Print every track. Labels are printed as they are: no markup in them is obeyed.

    parts : also a table for each task that has parts with numbers of their own.
    """
    console = _console()
    if not board.tracks:
        console.print("No submissions yet.")
    for track in board.tracks:
        if not track.rows:
            console.print(f"{track.label} ({track.name}): no entries yet.")
            continue
        console.print(_table(board, track))
        for table in _parts(track) if parts else ():
            console.print(table)
        for task in track.tasks:
            console.print(
                f"{task.label}: {task.name} version {task.version}, "
                f"{counted(task.items, 'item')}, dataset {task.dataset}"
            )
    for old in board.archived:
        console.print(f"earlier version: {old.label}: {old.task}, version {old.version}")
    for one in board.withdrawn:
        console.print(f"withdrawn: {one.label} ({one.submission}): {one.reason}")
    if not any(track.rows for track in board.tracks):
        return
    console.print(
        "Percent, 95% intervals. A rank range holds all places that the data allow; the order "
        "inside a range may be luck. Over all rows against the same one: p by Holm, for claims; "
        "BH by Benjamini-Hochberg, for looking around."
    )


def print_duel(
    found: Duel, items: Sequence[Disagreement], headings: tuple[str, str], limit: int
) -> None:
    """Print a comparison and the items on which the two disagree.

    items : all of them, of which ``limit`` are listed. headings : of an item's two texts.
    """
    from rich.table import Table
    from rich.text import Text

    console = _console()
    console.print(sentence(found))
    table = Table(header_style="bold")
    for heading in ("Item", *headings, found.label_a, found.label_b):
        table.add_column(heading, overflow="fold")
    for one in items[:limit]:
        told = (one.item, one.term, one.context, one.answer_a, one.answer_b)
        table.add_row(*[Text(text) for text in told])
    if items and limit:
        console.print(table)
    if len(items) > limit:
        console.print(
            f"{limit} of {len(items)} items where they disagree shown, largest gap first; "
            f"--limit {len(items)} shows all."
        )


def print_published(tracks: Collection[str] = ()) -> None:
    """Print the papers' tables; those of some of their tracks ("sage", "symbal") where named."""
    from rich.table import Table
    from rich.text import Text

    from leaderboard.published import published

    console = _console()
    for paper in published():
        for printed in paper.tables:
            if tracks and printed.track not in tracks:
                continue
            table = Table(
                title=f"{paper.paper}, Table {printed.table}: {printed.title} (published)",
                title_justify="left",
                header_style="bold",
            )
            grouped = any(row.group for row in printed.rows)
            for heading in ("Model", "Group") if grouped else ("Model",):
                table.add_column(heading, overflow="fold")
            for column in printed.columns:
                table.add_column(column, justify="right")
            for row in printed.rows:
                who = (row.label, row.group) if grouped else (row.label,)
                cells = [NONE if cell is None else cell.text for cell in row.cells]
                table.add_row(*[Text(text) for text in (*who, *cells)])
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
    table.add_column("Model", ratio=1, overflow="fold")
    kind = "macro " if len(track.ranked) > 1 else ""
    for measure in track.measures:
        table.add_column(f"{kind}{measure.label}", justify="right")
    for label in (*track.deltas, "- best", *(["- base"] if board.base else [])):
        table.add_column(label, justify="right")
    for row in track.rows:
        scores = [row.scores.get(measure.name) for measure in track.measures]
        cells = [
            rank(row.rank),
            "\n".join([row.label, *row.told]),
            *[f"{percent(score)}\n{limits(score)}" for score in scores],
            *[_delta(row, label) for label in track.deltas],
            "best" if row.entry == track.best else _versus(row.versus_best),
        ]
        if board.base:
            cells.append("base" if row.entry == board.base else _versus(row.versus_base))
        table.add_row(*[Text(cell) for cell in cells])
    return table


def _parts(track: TrackBoard) -> Iterator[Table]:
    """One table per task that has parts with numbers of their own: a line per entry and part."""
    from rich.table import Table
    from rich.text import Text

    for task in track.tasks:
        parts = [(row, group) for row in track.rows for group in _groups(row, task.name)]
        if not parts:
            continue
        table = Table(title=f"{task.label}, by part", title_justify="left", header_style="bold")
        table.add_column("Model", ratio=1, overflow="fold")
        table.add_column("Part", no_wrap=True)
        for heading in ("Items", *[measure.label for measure in track.measures]):
            table.add_column(heading, justify="right", no_wrap=True)
        for row, group in parts:
            told = (row.label, f"{group.family} {group.group}", str(group.items))
            scores = [group.scores.get(measure.name) for measure in track.measures]
            numbers = [f"{percent(one)}\n{limits(one)}" for one in scores]
            table.add_row(*[Text(text) for text in (*told, *numbers)])
        yield table


def _groups(row: Row, task: str) -> list[Group]:
    return row.cells[task].groups if task in row.cells else []


def _delta(row: Row, label: str) -> str:
    delta = row.deltas.get(label)
    return NONE if delta is None else f"{signed(delta.difference)}\n{limits_signed(delta)}"


def _versus(test: Comparison | None) -> str:
    if test is None:
        return NONE
    return (
        f"{signed(test.difference)}\np {p_value(test.p_adjusted)}\nBH {p_value(test.p_screening)}"
    )
