"""Per-item answers of the entries of a task, as item and comparison pages need them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from leaderboard.records import TrackBoard
from leaderboard.site.render import Answered
from leaderboard.store import Store

_OWN = frozenset({"yes", "no", "similarity"})
_MAX_TEXT = 2000


def answered_by(store: Store, track: TrackBoard, task: str) -> list[Answered]:
    """Scores per item of every entry of the track that has the task, best entry first."""
    found = []
    for row in track.rows:
        if task in row.cells:
            submission = row.cells[task].submission
            found.append(
                Answered(
                    entry=row.entry,
                    label=row.label,
                    scores={score.item: score for score in store.scores(submission, task)},
                    texts=logged_texts(store, submission, task) if row.method != "direct" else {},
                )
            )
    return found


def logged_texts(store: Store, submission: str, task: str) -> dict[str, list[tuple[str, str]]]:
    """What a method wrote beside its answers (definition, questions, ...): item -> (name, text).

    A text that is the same for all ten candidates is given once.
    """
    return {
        item: texts
        for item, responses in store.responses(submission, task).items()
        if (texts := _texts(responses))
    }


def _texts(responses: Sequence[str]) -> list[tuple[str, str]]:
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
