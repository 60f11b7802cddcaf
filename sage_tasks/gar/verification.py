"""Asking every question of every candidate picture, each pair once (SAGE, section 4.3)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from sage_tasks.gar.prompts import DEFINITION_QUESTION
from sage_tasks.gar.records import Axis, Definition, ItemText
from sage_tasks.records import CANDIDATES
from wordsight.answers import Answer, read_answer
from wordsight.models.base import Ask, PictureModel, picture_major
from wordsight.prompts import YES_NO

BASE, LEXICAL, GENERATED = "base", "lexical", "generated"


@dataclass(frozen=True)
class Question:
    """A yes/no question, and the words that stand for it where a model compares instead of
    answering. ``name`` is "base", "lexical", "generated" or an axis with a number."""

    name: str
    text: str
    statement: str
    axis: Axis | None = None


@dataclass(frozen=True)
class Calibration:
    """How a similarity is read as P(yes): ``sigmoid(scale * (similarity - offset))``.

    It keeps the order of pictures under one question; how questions weigh against each other when
    they are aggregated depends on it.
    """

    scale: float = 10.0
    offset: float = 0.2

    def probability(self, answer: Answer) -> float:
        """P(yes) of a readable answer."""
        assert answer.score is not None
        if answer.interface != "similarity":
            return answer.score
        return 1.0 / (1.0 + math.exp(-self.scale * (answer.score - self.offset)))


def questions_of(
    text: ItemText, wanted: Sequence[str], axes: Sequence[Axis], base: str = ""
) -> list[Question]:
    """The questions of one item: those named in ``wanted``, then the constraints of ``axes``.

    base : the task's own question, where it has one.
    """
    made = {
        BASE: lambda: Question(
            BASE,
            base or YES_NO.fill(term=text.term, context=text.context),
            f"{text.term}: {text.context}",
        ),
        LEXICAL: lambda: _about(LEXICAL, text, text.lexical),
        GENERATED: lambda: _about(GENERATED, text, text.generated),
    }
    questions = [made[name]() for name in wanted]
    numbers: dict[Axis, int] = dict.fromkeys(axes, 0)
    for constraint in text.constraints:
        if constraint.axis in numbers:
            numbers[constraint.axis] += 1
            name = f"{constraint.axis} {numbers[constraint.axis]}"
            questions.append(
                Question(name, constraint.question, constraint.phrase, constraint.axis)
            )
    return questions


def _about(name: str, text: ItemText, definition: Definition | None) -> Question:
    assert definition is not None
    shows = "; ".join(definition.visible)
    question = DEFINITION_QUESTION.fill(
        term=text.term,
        context=text.context,
        definition=definition.text,
        visible=f"A picture of it may show: {shows}. " if shows else "",
    )
    return Question(name, question, " ".join([definition.text, shows]).strip())


def verify(
    model: PictureModel, items: Sequence[tuple[Sequence[Ask], Sequence[Question]]]
) -> list[list[list[str]]]:
    """Responses ``[item][question][candidate]``.

    items : per item its ten candidates, as asks about their pictures, and its questions.

    Equal (picture, question) pairs of all items are asked once, those about one picture next to
    each other, so that the model can encode the picture once.
    """
    distinct: dict[tuple[str, str], Ask] = {}
    for candidates, questions in items:
        for candidate in candidates:
            for question in questions:
                distinct.setdefault(
                    (candidate.image_id, question.text),
                    dataclasses.replace(candidate.asking(question.text), gloss=question.statement),
                )
    keys, asks = list(distinct), list(distinct.values())
    order = picture_major(asks)
    answers = dict(
        zip((keys[i] for i in order), model.answer([asks[i] for i in order]), strict=True)
    )
    return [
        [
            [answers[candidate.image_id, question.text] for candidate in candidates]
            for question in questions
        ]
        for candidates, questions in items
    ]


def read_rows(rows: Sequence[Sequence[str]]) -> tuple[list[list[Answer]], Answer | None]:
    """The answers ``[question][candidate]`` and the worst that stands in the way, if any.

    A failed request comes before an answer that cannot be read.
    """
    answers = [[read_answer(response) for response in row] for row in rows]
    for status in ("failed", "invalid"):
        for row in answers:
            worst = next((answer for answer in row if answer.status == status), None)
            if worst is not None:
                return answers, worst
    assert all(len(row) == CANDIDATES for row in answers)
    return answers, None
