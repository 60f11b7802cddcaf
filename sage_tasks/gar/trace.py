"""What a run keeps of each item: every text, question, P(yes) and rank, inside its responses.

The samples log keeps ten responses per item and nothing else, so the trace travels in them:
each response is JSON under the contract, with the candidate's numbers under "gar"; the first
candidate's also holds the item's texts under "gar_item". Whoever has the result can explain it.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from sage_tasks.gar.fusion import mean_ranks
from sage_tasks.gar.methods import Answers, Settings, ranking
from sage_tasks.gar.records import Axis, ItemText, Record
from sage_tasks.gar.verification import GENERATED, LEXICAL, Calibration, Question
from sage_tasks.lexicons.base import Gloss
from wordsight.answers import Answer
from wordsight.errors import DataError

SCHEMA = 1
# Lexicons whose glosses may be used and not passed on; their keys may.
UNSHARED = frozenset({"babelnet"})
WITHHELD = "(withheld: this lexicon's text may not be passed on)"


class TracedQuestion(Record):
    """Name and axis of a question; its words are in the item's text."""

    name: str
    axis: Axis | None = None


class ItemPart(Record):
    """What the first response of an item holds for all ten.

    seconds : per stage (retrieval, definition, constraints, verification, fusion), the item's
        share of the batch it was in.
    origin : base model, text model and lexicon by name, and the prompts' versions.
    """

    schema_version: int = SCHEMA
    settings: dict[str, Any]
    text: ItemText
    questions: tuple[TracedQuestion, ...]
    seconds: dict[str, float]
    origin: dict[str, str]


class CandidatePart(Record):
    """Numbers of one candidate: per question, and per ranking.

    key : what orders candidates under each question (log-odds or similarity); p : P(yes).
    """

    key: tuple[float, ...]
    p: tuple[float, ...]
    holistic_rank: float | None = None
    constraint_score: float | None = None
    constraint_rank: float | None = None


@dataclasses.dataclass(frozen=True)
class ItemTrace:
    """The trace of one item, read back."""

    part: ItemPart
    candidates: tuple[CandidatePart, ...]

    @property
    def answers(self) -> Answers:
        """The answers, as the methods rank them."""
        return Answers(
            names=tuple(question.name for question in self.part.questions),
            axes=tuple(question.axis for question in self.part.questions),
            keys=list(zip(*(c.key for c in self.candidates), strict=True)),
            probabilities=list(zip(*(c.p for c in self.candidates), strict=True)),
        )

    @property
    def settings(self) -> Settings:
        """The settings that the run ranked with."""
        return settings_from(self.part.settings)


def answers_of(
    questions: Sequence[Question], rows: Sequence[Sequence[Answer]], calibration: Calibration
) -> Answers:
    """Readable answers ``[question][candidate]`` as numbers."""
    return Answers(
        names=tuple(question.name for question in questions),
        axes=tuple(question.axis for question in questions),
        keys=[[_key(answer) for answer in row] for row in rows],
        probabilities=[[calibration.probability(answer) for answer in row] for row in rows],
    )


def responses_of(
    answers: Answers,
    settings: Settings,
    part: ItemPart,
    holistic: Sequence[str],
) -> list[str]:
    """Ten responses under the contract, with the trace inside.

    holistic : the base's own responses where the method is one question: they keep their
        interface (likelihood or similarity), so that ``method=base`` scores as the base does.
    """
    scores = ranking(answers, settings)
    ranks = _ranks(answers, settings)
    constraint = answers.constraint_scores(settings) if settings.asked_axes else []
    responses = []
    for c, score in enumerate(scores):
        candidate = CandidatePart(
            key=tuple(row[c] for row in answers.keys),
            p=tuple(row[c] for row in answers.probabilities),
            holistic_rank=ranks["holistic"][c] if "holistic" in ranks else None,
            constraint_score=constraint[c] if constraint else None,
            constraint_rank=ranks["constraint"][c] if "constraint" in ranks else None,
        )
        payload = _own_response(holistic[c]) if holistic else {}
        if not payload:
            payload = {"similarity": score}
        payload["gar"] = candidate.model_dump(exclude_none=True)
        if c == 0:
            payload["gar_item"] = withheld(part).model_dump()
        responses.append(json.dumps(payload, ensure_ascii=False))
    return responses


def read_trace(responses: Sequence[str], where: str) -> ItemTrace:
    """The trace in an item's responses. Raises DataError where there is none."""
    try:
        payloads = [json.loads(response) for response in responses]
        return ItemTrace(
            part=ItemPart.model_validate(payloads[0]["gar_item"]),
            candidates=tuple(CandidatePart.model_validate(p["gar"]) for p in payloads),
        )
    except (ValueError, LookupError, TypeError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise DataError(f"{where}: no trace of a GAR run in its responses ({first})") from None


def withheld(part: ItemPart) -> ItemPart:
    """The same without text that its lexicon forbids to pass on.

    Also where a definition or a constraint repeats such a gloss word for word.
    """
    secrets = [gloss.text for gloss in part.text.glosses if gloss.source in UNSHARED]
    if not secrets:
        return part
    text = part.text.model_dump(exclude={"glosses"})
    shown = ItemText.model_validate(
        {
            **_without(text, [_plain(secret) for secret in secrets]),
            "term": part.text.term,
            "context": part.text.context,
            "glosses": [
                dataclasses.replace(gloss, text=WITHHELD) if gloss.source in UNSHARED else gloss
                for gloss in part.text.glosses
            ],
        }
    )
    return part.model_copy(update={"text": shown})


def with_glosses(text: ItemText, local: Mapping[str, str]) -> ItemText:
    """Put glosses back from this machine's copy, by key, where they were withheld."""
    glosses = [
        Gloss(g.source, g.key, local.get(g.key, g.text)) if g.text == WITHHELD else g
        for g in text.glosses
    ]
    return text.model_copy(update={"glosses": tuple(glosses)})


def settings_to(settings: Settings) -> dict[str, Any]:
    """Settings as JSON values."""
    return dataclasses.asdict(settings)


def settings_from(values: Mapping[str, Any]) -> Settings:
    """The settings that :func:`settings_to` wrote."""
    return Settings(**{**values, "axes": tuple(values["axes"])})


def _ranks(answers: Answers, settings: Settings) -> dict[str, list[float]]:
    ranks = {}
    if settings.asked_axes:
        ranks["constraint"] = mean_ranks(answers.constraint_scores(settings))
    for name in (LEXICAL, GENERATED):
        if name in answers.names:
            ranks["holistic"] = mean_ranks(answers.key_row(name))
            break
    return ranks


def _own_response(response: str) -> dict[str, Any]:
    if not response.startswith("{"):
        return {}
    payload: dict[str, Any] = json.loads(response)
    return payload


def _key(answer: Answer) -> float:
    assert answer.rank_key is not None
    assert answer.score is not None
    # a bare Yes has no finite log-odds, and infinity is not JSON
    return answer.rank_key if math.isfinite(answer.rank_key) else answer.score


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")


def _without(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, str):
        return WITHHELD if any(secret and secret in _plain(value) for secret in secrets) else value
    if isinstance(value, (list, tuple)):
        return [_without(part, secrets) for part in value]
    if isinstance(value, dict):
        return {key: _without(part, secrets) for key, part in value.items()}
    return value
