"""The board: every number that is shown, computed in one place from the store.

Pages, API, commands and exports only read the records made here.
"""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard import ledger
from leaderboard.entries import current_entries, find_entry
from leaderboard.records import Archived, Board, Cell, Row, Withdrawal
from leaderboard.store import Store
from leaderboard.stored import Stored
from leaderboard.tracks import track_board

SEED = 0


def build_board(store: Store, *, base: str = "", tracks: Sequence[str] = ()) -> Board:
    """Compute the board.

    base : label or id of the entry that every other is tested against, besides the best.
    tracks : names of the tracks wanted (``Catalog.chosen``); all by default. Tracks without rows
        are left out, unless no track that was asked for has any. What is withdrawn or archived is
        then listed only where it answers tasks of theirs.

    Raises DataError for an unknown base or track.
    """
    catalog = store.catalog
    chosen = catalog.chosen(tracks)
    last = ledger.last_event(store.ledger_path)
    submissions = store.submissions()
    entries = current_entries(store)
    base_id = find_entry(entries, base).id if base else ""
    built = [track_board(store, track, entries, base_id) for track in chosen]
    filled = [track for track in built if track.rows]
    names = {task.name for track in chosen for task in track.tasks}
    listed = [
        one
        for one in submissions
        if not tracks or any(run.name in names for run in one.header.tasks)
    ]
    return Board(
        title=catalog.title,
        commit=last.hash if last else ledger.GENESIS,
        seed=SEED,
        base=base_id,
        tracks=filled if filled or not tracks else built,
        withdrawn=[
            Withdrawal(submission=one.id, label=one.header.label, reason=one.withdrawn)
            for one in listed
            if one.withdrawn
        ],
        archived=_archived(store, listed),
    )


def with_bca(board: Board) -> Board:
    """The board with BCa limits where the usual ones are percentiles of a bootstrap of one task."""

    def cell(one: Cell) -> Cell:
        return one.model_copy(update={"scores": {**one.scores, **one.bca}})

    def row(one: Row) -> Row:
        cells = {name: cell(own) for name, own in one.cells.items()}
        return one.model_copy(update={"cells": cells, "scores": {**one.scores, **one.bca}})

    tracks = [t.model_copy(update={"rows": [row(one) for one in t.rows]}) for t in board.tracks]
    return board.model_copy(update={"tracks": tracks})


def _archived(store: Store, submissions: Sequence[Stored]) -> list[Archived]:
    versions = {task.name: task.version for task in store.catalog.tasks}
    return [
        Archived(submission=one.id, label=one.header.label, task=run.name, version=run.version)
        for one in submissions
        if one.public
        for run in one.header.tasks
        if versions.get(run.name) != run.version
    ]
