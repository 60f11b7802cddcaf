"""The signs of :mod:`leaderboard.forensics` for every entry of a board."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from leaderboard.forensics import expectations, near_gold, rose, twins
from leaderboard.gold import Gold
from leaderboard.records import Board, TrackBoard
from leaderboard.scoring import ItemScore, value
from leaderboard.store import Store
from leaderboard.stored import Stored


class Signs(BaseModel):
    """What stands out in one entry of a track; empty lists are left out."""

    model_config = ConfigDict(frozen=True)

    track: str
    entry: str
    label: str
    signs: list[str]


def examine(store: Store, board: Board) -> list[Signs]:
    """Entries with at least one sign, in the order of the tables. Reads every score: not quick."""
    return [found for track in board.tracks for found in _track(store, track)]


def _track(store: Store, track: TrackBoard) -> list[Signs]:
    labels = {row.entry: row.label for row in track.rows}
    names = {info.name: info.label for info in track.tasks}
    scores: dict[str, dict[str, list[ItemScore]]] = {row.entry: {} for row in track.rows}
    for row in track.rows:
        for task, cell in row.cells.items():
            scores[row.entry][task] = store.scores(cell.submission, task)
    signs: dict[str, list[str]] = {}
    for entry, by_task in scores.items():
        signs[entry] = [
            f"{names[task]}: {text}"
            for task, found in by_task.items()
            for text in store.gold(task).kind.signs(store.gold(task), found)
        ]
    for task, name in names.items():
        trait = store.gold(task).kind.trait
        traits = {
            entry: [trait(score) for score in by_task[task]]
            for entry, by_task in scores.items()
            if task in by_task
        }
        for one, other, alike, both in twins(traits):
            share = f"all {both}" if alike == both else f"{alike} of {both}"
            for here, there in ((one, other), (other, one)):
                signs[here].append(
                    f"{name}: answers like {labels[there]} on {share} items that both answered"
                )
    for entry, texts in _earlier(store, track).items():
        signs[entry] += texts
    ranked, first = [info.name for info in track.ranked], track.first.name
    hits = {
        row.entry: {t: row.cells[t].scores[first].value for t in ranked if t in row.cells}
        for row in track.rows
    }
    for entry, expected in expectations(hits).items():
        signs[entry] += near_gold(hits[entry], expected)
    return [
        Signs(track=track.name, entry=entry, label=labels[entry], signs=found)
        for entry, found in signs.items()
        if found
    ]


def _earlier(store: Store, track: TrackBoard) -> dict[str, list[str]]:
    """What stands out in the attempts that count beside earlier ones: entry -> texts."""
    attempts: dict[str, list[Stored]] = {}
    for stored in store.submissions():
        attempts.setdefault(stored.entry, []).append(stored)
    labels = {info.name: info.label for info in track.tasks}
    found: dict[str, list[str]] = {}
    for row in track.rows:
        own = attempts[row.entry]
        for task, cell in row.cells.items():
            gold, now = store.gold(task), store.scores(cell.submission, task)
            counts = next(place for place, one in enumerate(own) if one.id == cell.submission)
            for place, one in enumerate(own[:counts]):
                if (task, gold.task.version) in {(t.name, t.version) for t in one.header.tasks}:
                    found.setdefault(row.entry, []).extend(
                        f"{labels[task]}: attempt {counts + 1} beside attempt {place + 1}: {text}"
                        for text in _since(gold, store.scores(one.id, task), now)
                    )
    return found


def _since(gold: Gold, before: Sequence[ItemScore], now: Sequence[ItemScore]) -> list[str]:
    first = gold.kind.first.name
    both = [
        (value(old, first), value(new, first))
        for old, new in zip(before, now, strict=True)
        if "missing" not in (old.status, new.status)
    ]
    texts = [gold.kind.since(gold, before, now), rose([a for a, _ in both], [b for _, b in both])]
    return [text for text in texts if text]
