"""The signs of :mod:`leaderboard.forensics` for every entry of a board."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from leaderboard.forensics import Answers, expectations, near_gold, signs_of, twins
from leaderboard.records import Board, TrackBoard
from leaderboard.scoring import BoardScore
from leaderboard.store import Store


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
    scores: dict[str, dict[str, list[BoardScore]]] = {row.entry: {} for row in track.rows}
    for row in track.rows:
        for task, cell in row.cells.items():
            scores[row.entry][task] = store.scores(cell.submission, task)
    signs: dict[str, list[str]] = {}
    for entry, by_task in scores.items():
        answers = {
            names[task]: Answers(found, [query.gold for query in store.gold(task).queries])
            for task, found in by_task.items()
        }
        signs[entry] = signs_of(answers)
    for task, name in names.items():
        ranks = {
            entry: [score.ranks for score in by_task[task]]
            for entry, by_task in scores.items()
            if task in by_task
        }
        for one, other, share in twins(ranks):
            for here, there in ((one, other), (other, one)):
                signs[here].append(
                    f"{name}: ranks the candidates like {labels[there]} on {100 * share:.0f}% of "
                    "the items"
                )
    ranked = [info.name for info in track.tasks if not info.variant]
    hits = {
        row.entry: {task: row.cells[task].hits1.value for task in ranked if task in row.cells}
        for row in track.rows
    }
    for entry, expected in expectations(hits).items():
        signs[entry] += near_gold(hits[entry], expected)
    return [
        Signs(track=track.name, entry=entry, label=labels[entry], signs=found)
        for entry, found in signs.items()
        if found
    ]
