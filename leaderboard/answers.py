"""Per-item answers of the entries of a task, as item and comparison pages need them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from leaderboard.records import TrackBoard
from leaderboard.site.view import ItemAnswer
from leaderboard.store import Store

_OWN = frozenset({"yes", "no", "similarity"})
_MAX_TEXT = 2000


def item_answers(store: Store, track: TrackBoard, task: str, item: str) -> list[ItemAnswer]:
    """Every entry's score on one item, best entry first."""
    rows = [row for row in track.rows if task in row.cells]
    submissions = [row.cells[task].submission for row in rows]
    scores = store.item_scores(task, item, submissions)
    answers = []
    for row, submission in zip(rows, submissions, strict=True):
        texts: list[tuple[str, str]] = []
        if row.method != "direct":
            texts = texts_of(store.responses(submission, task, item).get(item, []))
        answers.append(ItemAnswer(row.entry, row.label, scores[submission], texts))
    return answers


def all_answers(store: Store, track: TrackBoard, task: str) -> dict[str, list[ItemAnswer]]:
    """The same for every item of the task at once: item -> answers, best entry first."""
    found: dict[str, list[ItemAnswer]] = {one.id: [] for one in store.gold(task).summaries}
    for row in track.rows:
        if task not in row.cells:
            continue
        submission = row.cells[task].submission
        responses = {} if row.method == "direct" else store.responses(submission, task)
        for score in store.scores(submission, task):
            texts = texts_of(responses.get(score.item, []))
            found[score.item].append(ItemAnswer(row.entry, row.label, score, texts))
    return found


def right_counts(store: Store, track: TrackBoard, task: str) -> tuple[list[float], int]:
    """Per item, in gold order, how many entries are right by the first measure; and of how many."""
    submissions = [row.cells[task].submission for row in track.rows if task in row.cells]
    matrix = store.matrix(task, submissions)
    right = matrix.values[track.first.name]
    return [math.fsum(row) for row in right.tolist()], len(submissions)


def texts_of(responses: Sequence[str]) -> list[tuple[str, str]]:
    """What a method wrote beside its answers to one item (definition, questions, ...).

    Pairs of name and text; a text that is the same for all ten candidates is given once.
    """
    seen: dict[tuple[str, str], list[int]] = {}
    for place, response in enumerate(responses, 1):
        try:
            payload = json.loads(response)
        except (ValueError, RecursionError):
            continue
        if isinstance(payload, dict):
            for key, value in payload.items():
                if key not in _OWN and isinstance(value, (str, list, dict)) and value:
                    text = (
                        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                    )
                    seen.setdefault((str(key)[:80], text[:_MAX_TEXT]), []).append(place)
    return [
        (key if len(places) == len(responses) else f"{key} ({', '.join(map(str, places))})", text)
        for (key, text), places in seen.items()
    ]
