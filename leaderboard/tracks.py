"""One table of the board, computed from the scores of the entries that it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leaderboard.catalog import Delta, Track
from leaderboard.compute import (
    Estimates,
    Ranked,
    Scores,
    agreements,
    both_estimates,
    by_stratum,
    by_term,
    overall,
    rank_ranges,
    smallest_difference,
)
from leaderboard.entries import Entry
from leaderboard.gold import Gold
from leaderboard.kinds import kind_of
from leaderboard.order import by_rank
from leaderboard.records import Cell, Comparison, MeasureInfo, Row, TaskInfo, TrackBoard
from leaderboard.score_files import Matrix
from leaderboard.scoring import STATUSES
from leaderboard.store import Store
from leaderboard.versus import deltas, versus


def track_board(store: Store, track: Track, entries: Sequence[Entry], base: str) -> TrackBoard:
    """One table.

    base : id of the entry that every other is tested against, besides the best; "" for none.
    """
    names = [task.name for task in track.tasks]
    present = [entry for entry in entries if any(name in entry.by_task for name in names)]
    with_task = {name: [e for e in present if name in e.by_task] for name in names}
    matrices = {
        name: store.matrix(name, [e.by_task[name].id for e in having])
        for name, having in with_task.items()
        if having
    }
    golds = {name: store.gold(name) for name in matrices}
    scores = {
        name: _scores(with_task[name], matrix, golds[name]) for name, matrix in matrices.items()
    }
    made = {name: both_estimates(one, bca=True) for name, one in scores.items()}
    found = {name: usual for name, (usual, _) in made.items()}
    cells = {
        name: _cells(with_task[name], matrix, scores[name], made[name], golds[name])
        for name, matrix in matrices.items()
    }
    ranked = [task.name for task in track.ranked]
    complete = [e.id for e in present if all(name in e.by_task for name in ranked)]
    together = Ranked(tuple(scores[name].only(complete) for name in ranked) if complete else ())
    totals = overall(together, {name: found[name] for name in ranked if name in found})
    kind = kind_of(track.tasks[0])
    first = kind.first.name
    best = max(complete, key=lambda e: totals[e][first].value, default="")
    ranges = rank_ranges(together)
    against_best = versus(best, together)
    against_base = versus(base, together)
    mixed = {delta.label: joined(present, delta) for delta in track.deltas}
    differences = {
        delta.label: _marked(
            deltas(
                scores[delta.minuend],
                scores[delta.subtrahend],
                [one.source for one in golds[delta.minuend].summaries],
                [one.source for one in golds[delta.subtrahend].summaries],
            ),
            mixed[delta.label],
        )
        for delta in track.deltas
        if delta.minuend in scores and delta.subtrahend in scores
    }
    rows = []
    for entry in present:
        own = {name: cells[name][entry.id] for name in names if name in entry.by_task}
        # the newest of this track: other tracks have costs and dates of their own
        newest = max((entry.by_task[name] for name in own), key=lambda one: one.number)
        rows.append(
            Row(
                entry=entry.id,
                label=entry.label,
                model=newest.header.model,
                method=newest.header.method,
                revision=newest.header.revision,
                options=newest.header.options,
                interface=_interfaces(list(own.values())),
                cells=own,
                scores=totals.get(entry.id, {}),
                bca=own[ranked[0]].bca if together.single and entry.id in totals else {},
                rank=ranges.get(entry.id),
                deltas={
                    label: tests[entry.id]
                    for label, tests in differences.items()
                    if entry.id in tests
                },
                versus_best=against_best.get(entry.id),
                versus_base=against_base.get(entry.id),
                attempts=entry.attempts,
                submitted=newest.submitted,
                verified=all(entry.by_task[name].verified for name in own),
                source=newest.header.source,
                command=newest.header.command,
                contact=newest.header.contact,
                cost=newest.header.cost,
                wall_seconds=newest.header.wall_seconds,
                notes=_notes(list(own.values())),
                remarks=[
                    *[entry.notes[name] for name in own if name in entry.notes],
                    *_joined_notes(entry.id, differences, mixed),
                ],
            )
        )
    return TrackBoard(
        name=track.name,
        label=track.label,
        measures=[MeasureInfo(name=m.name, label=m.label, text=m.text) for m in kind.measures],
        chance=kind.chance,
        printed=track.printed.track if track.printed else "",
        printed_group=track.printed.group if track.printed else "",
        tasks=[_info(store, track, name, scores[name]) for name in matrices],
        agreements=agreements(ranked, together),
        deltas=[label for label, tests in differences.items() if tests],
        pairs={
            delta.label: (delta.minuend, delta.subtrahend)
            for delta in track.deltas
            if differences.get(delta.label)
        },
        best=best,
        rows=sorted(rows, key=by_rank),
    )


def joined(entries: Sequence[Entry], delta: Delta) -> set[str]:
    """Ids of the entries whose two sides of a difference stem from two attempts."""
    sides = delta.minuend, delta.subtrahend
    return {
        entry.id
        for entry in entries
        if len({entry.by_task[task].id for task in sides if task in entry.by_task}) == 2
    }


def _marked(tests: dict[str, Comparison], entries: set[str]) -> dict[str, Comparison]:
    return {
        entry: test.model_copy(update={"method": f"{test.method}, from two attempts"})
        if entry in entries
        else test
        for entry, test in tests.items()
    }


def _joined_notes(
    entry: str, differences: Mapping[str, Mapping[str, Comparison]], mixed: Mapping[str, set[str]]
) -> list[str]:
    return [
        f"{label} joins two attempts"
        for label, tests in differences.items()
        if entry in tests and entry in mixed[label]
    ]


def _scores(entries: Sequence[Entry], matrix: Matrix, gold: Gold) -> Scores:
    kind = gold.kind
    without = {
        entry.id: kind.lacking(gold.task.name, interface)
        for entry, interface in zip(entries, matrix.interfaces, strict=True)
    }
    names = tuple(entry.id for entry in entries)
    return Scores(names, matrix.values, kind.measures, gold.clusters, without)


def _cells(
    entries: Sequence[Entry],
    matrix: Matrix,
    scores: Scores,
    made: tuple[Estimates, Estimates],
    gold: Gold,
) -> dict[str, Cell]:
    found, bca = made
    grouped = by_term(scores, gold.terms)
    strata = by_stratum(scores, gold.strata)
    return {
        entry.id: Cell(
            scores=found[entry.id],
            bca=bca[entry.id],
            by_term=grouped.get(entry.id),
            items=len(matrix.status),
            missing=int((matrix.status[:, column] == STATUSES.index("missing")).sum()),
            invalid=int((matrix.status[:, column] == STATUSES.index("invalid")).sum()),
            other_pictures=matrix.other_pictures[column],
            interface=matrix.interfaces[column],
            submission=matrix.submissions[column],
            groups=strata[entry.id],
        )
        for column, entry in enumerate(entries)
    }


def _info(store: Store, track: Track, name: str, scores: Scores) -> TaskInfo:
    task = next(task for task in track.tasks if task.name == name)
    gold = store.gold(name)
    return TaskInfo(
        name=name,
        label=task.label,
        kind=task.kind,
        version=task.version,
        items=len(gold),
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
        ("on other pictures", sum(cell.other_pictures for cell in cells)),
    ):
        if number:
            notes.append(f"{number} of {items} {what} ({100 * number / items:.1f}%)")
    return notes
