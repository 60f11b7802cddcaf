"""A first guess at why constraints ranked an item wrong, by the kinds of the paper's Table 9.

The paper's kinds were assigned by people; these rules only sort items for a person to look at.
They are tried in this order, on the gold picture and the picture that won over it:

1. upstream: the definition is nearer to another sense's gloss than to the gold one's.
2. cross-axis conflict: one axis prefers the gold, another the winner, both by the margin.
3. non-discriminative: no constraint separates the two by the margin.
4. decomposition drift: the definition as a whole prefers the gold, its constraints the winner.
5. visual verification: what is left; the words seem right, the answers about the picture do not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sage_tasks.gar.methods import Answers, Settings
from sage_tasks.gar.records import AXES, ItemText
from sage_tasks.gar.results import LoggedItem, TaskResult
from sage_tasks.gar.verification import LEXICAL
from sage_tasks.metrics import item_metrics
from wordsight.errors import DataError

Kind = Literal[
    "upstream semantic",
    "cross-axis conflict",
    "non-discriminative",
    "decomposition drift",
    "visual verification",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Two P(yes) nearer than this say the same.
MARGIN = 0.1
_STOP = frozenset(
    ("an", "as", "at", "and", "are", "by", "for", "from", "in", "is", "it", "its", "of", "on", "or")
) | {"that", "the", "to", "which", "with"}


@dataclass(frozen=True)
class Failure:
    """An item whose constraints put another picture first; ``evidence`` says what the guess
    rests on."""

    item: str
    task: str
    term: str
    context: str
    gold: int
    winner: int
    kind: Kind
    evidence: str


def failures(task: TaskResult, margin: float = MARGIN) -> tuple[list[Failure], int]:
    """Failures of a task, and how many items it has with a trace.

    Raises DataError when the run asked no constraints.
    """
    found = []
    traced = [item for item in task.items if item.status == "ok"]
    for item in traced:
        settings = item.trace.settings
        if not settings.asked_axes:
            raise DataError(
                f"{task.task}: this run asked no constraints; run method=cgr, gar or all"
            )
        failure = _failure(task, item, settings, margin)
        if failure is not None:
            found.append(failure)
    return found, len(traced)


def _failure(
    task: TaskResult, item: LoggedItem, settings: Settings, margin: float
) -> Failure | None:
    answers = item.trace.answers
    scores = answers.constraint_scores(settings)
    query = task.queries[item.item]
    if item_metrics(scores, item.gold, query.kinds).hits1 == 1.0:
        return None
    rivals = [c for c in range(len(scores)) if c != item.gold]
    winner = max(rivals, key=lambda c: scores[c])
    kind, evidence = guess(
        answers, settings, item.trace.part.text, item.gold, winner, query.gloss, margin
    )
    return Failure(
        item.item, item.task, query.term, query.context, item.gold, winner, kind, evidence
    )


def guess(
    answers: Answers,
    settings: Settings,
    text: ItemText,
    gold: int,
    winner: int,
    gold_gloss: str,
    margin: float = MARGIN,
) -> tuple[Kind, str]:
    """The kind and its evidence; ``gold_gloss`` is empty where the dataset gives none."""
    upstream = _other_sense(text, gold_gloss)
    if upstream:
        return "upstream semantic", upstream
    gains = {
        axis: _mean([row[gold] - row[winner] for row in _rows(answers, axis)])
        for axis in settings.axes
        if _rows(answers, axis)
    }
    told = ", ".join(f"{axis} {gain:+.2f}" for axis, gain in gains.items()) or "no constraints"
    if any(gain >= margin for gain in gains.values()) and any(
        gain <= -margin for gain in gains.values()
    ):
        return "cross-axis conflict", f"P(yes) of gold minus winner: {told}"
    rows = [row for axis in settings.axes for row in _rows(answers, axis)]
    largest = max((abs(row[gold] - row[winner]) for row in rows), default=0.0)
    if largest < margin:
        return "non-discriminative", f"largest difference in P(yes) is {largest:.2f}"
    if LEXICAL in answers.names:
        keys = answers.key_row(LEXICAL)
        if keys[gold] > keys[winner]:
            return "decomposition drift", f"the definition prefers the gold; {told}"
    return "visual verification", f"P(yes) of gold minus winner: {told}"


def _other_sense(text: ItemText, gold_gloss: str) -> str:
    """Evidence that the definition is of another sense, or nothing."""
    if not gold_gloss or text.lexical is None:
        return ""
    own = _overlap(text.lexical.text, gold_gloss)
    others = [g for g in text.glosses if _words(g.text) != _words(gold_gloss)]
    nearest = max(others, key=lambda g: _overlap(text.lexical.text, g.text), default=None)  # type: ignore[union-attr]
    if nearest is None or _overlap(text.lexical.text, nearest.text) <= own:
        return ""
    return f"the definition is nearer to {nearest.source}:{nearest.key} than to the gold sense"


def _rows(answers: Answers, axis: str) -> list[Sequence[float]]:
    assert axis in AXES
    pairs = zip(answers.axes, answers.probabilities, strict=True)
    return [row for this, row in pairs if this == axis]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w{2,}", text.lower())) - _STOP


def _overlap(one: str, other: str) -> float:
    first, second = _words(one), _words(other)
    return len(first & second) / len(first | second) if first | second else 0.0
