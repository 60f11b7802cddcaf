"""The board: every number that is shown, computed in one place from the store.

Pages, API, commands and exports only read the records made here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard import ledger
from leaderboard.catalog import Track
from leaderboard.compute import (
    Ranked,
    Scores,
    agreements,
    by_term,
    deltas,
    estimates,
    overall,
    rank_ranges,
    smallest_difference,
    versus,
)
from leaderboard.records import Archived, Board, Cell, Row, TaskInfo, TrackBoard, Withdrawal
from leaderboard.scoring import STATUSES
from leaderboard.store import Matrix, Store
from leaderboard.stored import Stored
from wordsight.errors import DataError

SEED = 0


@dataclass(frozen=True)
class Entry:
    """A public entry: the newest public submission to each task, among all its attempts."""

    id: str
    newest: Stored
    by_task: Mapping[str, Stored]
    attempts: int

    @property
    def label(self) -> str:
        return self.newest.header.label


def build_board(store: Store, *, base: str = "", tracks: Sequence[str] = ()) -> Board:
    """Compute the board.

    base : label or id of the entry that every other is tested against, besides the best.
    tracks : names of the tracks wanted; by default all that have rows.

    Raises DataError for an unknown base or track.
    """
    catalog = store.catalog
    for name in tracks:
        if name not in {track.name for track in catalog.tracks}:
            known = ", ".join(track.name for track in catalog.tracks)
            raise DataError(f"no track {name!r} on this board; it has {known}")
    last = ledger.last_event(store.ledger_path)
    submissions = store.submissions()
    entries = current_entries(store)
    base_id = find_entry(entries, base).id if base else ""
    built = [
        _track_board(store, track, entries, base_id)
        for track in catalog.tracks
        if not tracks or track.name in tracks
    ]
    return Board(
        title=catalog.title,
        commit=last.hash if last else ledger.GENESIS,
        seed=SEED,
        base=base_id,
        tracks=[track for track in built if track.rows or tracks],
        withdrawn=[
            Withdrawal(submission=one.id, label=one.header.label, reason=one.withdrawn)
            for one in submissions
            if one.withdrawn
        ],
        archived=_archived(store, submissions),
    )


def current_entries(store: Store) -> list[Entry]:
    """The store's public entries, by what they answered to the tasks' current versions."""
    versions = {task.name: task.version for task in store.catalog.tasks}
    return public_entries(store.submissions(), versions)


def public_entries(submissions: Sequence[Stored], versions: Mapping[str, str]) -> list[Entry]:
    """Entries in the order of their first submission; later submissions replace earlier ones.

    versions : task -> version that counts; answers to other versions are another question's.
    """
    groups: dict[str, list[Stored]] = {}
    for stored in submissions:
        groups.setdefault(stored.entry, []).append(stored)
    entries = []
    for identifier, attempts in groups.items():
        public = [stored for stored in attempts if stored.public]
        if public:
            by_task = {
                run.name: stored
                for stored in public
                for run in stored.header.tasks
                if versions.get(run.name) == run.version
            }
            entries.append(Entry(identifier, public[-1], by_task, len(attempts)))
    return entries


def _archived(store: Store, submissions: Sequence[Stored]) -> list[Archived]:
    versions = {task.name: task.version for task in store.catalog.tasks}
    return [
        Archived(submission=one.id, label=one.header.label, task=run.name, version=run.version)
        for one in submissions
        if one.public
        for run in one.header.tasks
        if versions.get(run.name) != run.version
    ]


def find_entry(entries: Sequence[Entry], name: str) -> Entry:
    """The entry with this id or label (or its only label's start).

    Raises DataError, with the labels there are, for none or several.
    """
    found = [entry for entry in entries if name in (entry.id, entry.label)]
    found = found or [entry for entry in entries if entry.label.startswith(name)]
    if len(found) == 1:
        return found[0]
    labels = ", ".join(repr(entry.label) for entry in (found or entries)[:12]) or "none"
    problem = "fits several entries" if found else "is not on the board"
    raise DataError(f"{name!r} {problem}; entries: {labels}")


def _track_board(store: Store, track: Track, entries: Sequence[Entry], base: str) -> TrackBoard:
    names = [task.name for task in track.tasks]
    present = [entry for entry in entries if any(name in entry.by_task for name in names)]
    with_task = {name: [e for e in present if name in e.by_task] for name in names}
    matrices = {
        name: store.matrix(name, [e.by_task[name].id for e in having])
        for name, having in with_task.items()
        if having
    }
    scores = {
        name: Scores(tuple(e.id for e in with_task[name]), matrix.hits1, matrix.mrr)
        for name, matrix in matrices.items()
    }
    cells = {
        name: _cells(
            with_task[name], matrix, scores[name], [q.term for q in store.gold(name).queries]
        )
        for name, matrix in matrices.items()
    }
    ranked = [task.name for task in track.ranked]
    complete = [e.id for e in present if all(name in e.by_task for name in ranked)]
    together = Ranked(tuple(scores[name].only(complete) for name in ranked) if complete else ())
    totals = overall(together)
    best = max(complete, key=lambda e: totals[e][0].value, default="")
    ranges = rank_ranges(together)
    against_best = versus(best, together)
    against_base = versus(base, together)
    differences = {
        delta.label: deltas(
            scores[delta.minuend],
            scores[delta.subtrahend],
            [q.source_id for q in store.gold(delta.minuend).queries],
            [q.source_id for q in store.gold(delta.subtrahend).queries],
        )
        for delta in track.deltas
        if delta.minuend in scores and delta.subtrahend in scores
    }
    rows = [
        Row(
            entry=entry.id,
            label=entry.label,
            model=entry.newest.header.model,
            method=entry.newest.header.method,
            revision=entry.newest.header.revision,
            options=entry.newest.header.options,
            interface=_interfaces([cells[n][entry.id] for n in names if n in entry.by_task]),
            cells={name: cells[name][entry.id] for name in names if name in entry.by_task},
            hits1=totals[entry.id][0] if entry.id in totals else None,
            mrr=totals[entry.id][1] if entry.id in totals else None,
            rank=ranges.get(entry.id),
            deltas={
                label: found[entry.id] for label, found in differences.items() if entry.id in found
            },
            versus_best=against_best.get(entry.id),
            versus_base=against_base.get(entry.id),
            attempts=entry.attempts,
            submitted=entry.newest.submitted,
            verified=all(one.verified for one in entry.by_task.values()),
            source=entry.newest.header.source,
            command=entry.newest.header.command,
            cost=entry.newest.header.cost,
            wall_seconds=entry.newest.header.wall_seconds,
            notes=_notes([cells[n][entry.id] for n in names if n in entry.by_task]),
        )
        for entry in present
    ]
    return TrackBoard(
        name=track.name,
        label=track.label,
        tasks=[_info(store, track, name, scores[name]) for name in matrices],
        agreements=agreements(ranked, together),
        deltas=[label for label, found in differences.items() if found],
        pairs={
            delta.label: (delta.minuend, delta.subtrahend)
            for delta in track.deltas
            if differences.get(delta.label)
        },
        best=best,
        rows=sorted(rows, key=_best_first),
    )


def _cells(
    entries: Sequence[Entry], matrix: Matrix, scores: Scores, terms: Sequence[str]
) -> dict[str, Cell]:
    found, grouped = estimates(scores), by_term(scores, terms)
    return {
        entry.id: Cell(
            hits1=found[entry.id][0],
            hits1_by_term=grouped.get(entry.id),
            mrr=found[entry.id][1],
            items=len(matrix.status),
            missing=int((matrix.status[:, column] == STATUSES.index("missing")).sum()),
            invalid=int((matrix.status[:, column] == STATUSES.index("invalid")).sum()),
            interface=matrix.interfaces[column],
            submission=matrix.submissions[column],
        )
        for column, entry in enumerate(entries)
    }


def _info(store: Store, track: Track, name: str, scores: Scores) -> TaskInfo:
    task = next(task for task in track.tasks if task.name == name)
    gold = store.gold(name)
    return TaskInfo(
        name=name,
        label=task.label,
        version=task.version,
        items=len(gold.queries),
        dataset=gold.fingerprint,
        variant=task.variant,
        detectable=smallest_difference(scores),
    )


def _interfaces(cells: Sequence[Cell]) -> str:
    return ", ".join(sorted({cell.interface for cell in cells if cell.interface})) or "none"


def _notes(cells: Sequence[Cell]) -> list[str]:
    items = sum(cell.items for cell in cells)
    notes = []
    for what, number in (
        ("missing", sum(cell.missing for cell in cells)),
        ("invalid", sum(cell.invalid for cell in cells)),
    ):
        if number:
            notes.append(f"{number} of {items} {what} ({100 * number / items:.1f}%)")
    return notes


def _best_first(row: Row) -> tuple[float, float, str]:
    if row.hits1 is None or row.mrr is None:
        return 1.0, 0.0, row.label
    return -row.hits1.value, -row.mrr.value, row.label
