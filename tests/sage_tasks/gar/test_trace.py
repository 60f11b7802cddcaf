"""What a result carries, and what it must not."""

from __future__ import annotations

import json

import pytest

from sage_tasks.gar.constraints import constraint
from sage_tasks.gar.definitions_file import read_definitions, write_definitions
from sage_tasks.gar.methods import Answers, Settings
from sage_tasks.gar.records import Definition, ItemText
from sage_tasks.gar.trace import (
    WITHHELD,
    ItemPart,
    TracedQuestion,
    read_trace,
    responses_of,
    settings_from,
    settings_to,
    with_glosses,
)
from sage_tasks.lexicons.base import Gloss
from wordsight.answers import read_answer
from wordsight.errors import DataError

SECRET = "A bird that hums at night"
TEXT = ItemText(
    term="hummer",
    context="night hummer",
    glosses=(Gloss("babelnet", "bn:1n", SECRET), Gloss("wordnet", "1-n", "a heavy car")),
    lexical=Definition(text="A bird of the night.", visible=("a bird",)),
    constraints=(constraint("object", "a bird"),),
)


def part(text: ItemText, settings: Settings) -> ItemPart:
    return ItemPart(
        settings=settings_to(settings),
        text=text,
        questions=(TracedQuestion(name="lexical"), TracedQuestion(name="object 1", axis="object")),
        seconds={"verification": 1.0},
        origin={"base": "conse"},
    )


def respond(text: ItemText) -> list[str]:
    settings = Settings(axes=("object",), information=True, axis_weights={"object": 2.0})
    answers = Answers(
        names=("lexical", "object 1"),
        axes=(None, "object"),
        keys=[[float(c) for c in range(10)], [0.1 * c for c in range(10)]],
        probabilities=[[c / 10 for c in range(10)], [0.1 * c for c in range(10)]],
    )
    return responses_of(answers, settings, part(text, settings), ())


def test_what_is_written_is_read_back_and_ranks_under_the_contract() -> None:
    responses = respond(TEXT)
    scores = [read_answer(response).score for response in responses]
    assert scores == sorted(scores)  # type: ignore[type-var]
    trace = read_trace(responses, "here")
    assert trace.settings.information
    assert trace.settings.axes == ("object",)
    assert trace.answers.probabilities[1][3] == 0.1 * 3
    assert [c.constraint_rank for c in trace.candidates] == [float(r) for r in range(10, 0, -1)]


def test_a_restricted_gloss_leaves_only_its_key() -> None:
    responses = respond(TEXT)
    assert SECRET not in "".join(responses)
    text = read_trace(responses, "here").part.text
    assert text.glosses == (Gloss("babelnet", "bn:1n", WITHHELD), TEXT.glosses[1])
    assert text.lexical == TEXT.lexical
    assert with_glosses(text, {"bn:1n": SECRET}).glosses == TEXT.glosses


def test_words_that_repeat_a_restricted_gloss_are_withheld_too(tmp_path: object) -> None:
    repeated = TEXT.model_copy(
        update={
            "lexical": Definition(text=f"It is {SECRET.lower()}.", visible=("a bird",)),
            "constraints": (constraint("object", SECRET), constraint("object", "a bird")),
        }
    )
    responses = respond(repeated)
    assert SECRET.lower() not in "".join(responses).lower()
    text = read_trace(responses, "here").part.text
    assert text.lexical is not None
    assert text.lexical.text == WITHHELD
    assert text.constraints[1].phrase == "a bird"


def test_exported_definitions_leave_out_what_was_withheld(tmp_path_factory: object) -> None:
    import tempfile
    from pathlib import Path

    path = Path(tempfile.mkdtemp()) / "definitions.jsonl"
    shown = read_trace(respond(TEXT), "here").part.text
    hidden = shown.model_copy(update={"term": "b", "lexical": Definition(text=WITHHELD)})
    assert write_definitions([shown, shown, hidden], path) == (1, 1)
    assert list(read_definitions(path).values()) == [shown]
    other = shown.model_copy(update={"lexical": Definition(text="Something else.")})
    with pytest.raises(DataError, match="two different texts"):
        write_definitions([shown, other], path)


def test_responses_without_a_trace_are_told_apart() -> None:
    for responses in (["Yes"] * 10, [json.dumps({"similarity": 1.0})] * 10, []):
        with pytest.raises(DataError, match="line 3: no trace"):
            read_trace(responses, "line 3")


def test_settings_survive_json() -> None:
    settings = Settings(method="cgr", axes=("state",), axis_weights={"state": 0.5}, k=7)
    assert settings_from(json.loads(json.dumps(settings_to(settings)))) == settings
