"""Reading what language models write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sage_tasks.gar.replies import MAX_PHRASE_WORDS, MAX_WORDS, read_checks, read_definition

AS_ASKED = "Number: 2\nDefinition: A bird with long legs.\nVisible: long legs; grey feathers"


def test_reply_in_the_asked_form_is_taken_as_it_is() -> None:
    reply = read_definition(AS_ASKED, 3)
    assert reply is not None
    assert reply.text == "A bird with long legs."
    assert reply.visible == ("long legs", "grey feathers")
    assert reply.number == 2
    assert not reply.repaired


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>Number: 1? No.</think>\n{AS_ASKED}\nHope this helps!",
        "**Number:** 2\n**Definition:** A bird with long legs.\n"
        "**Visible:** long legs; grey feathers",
        "1. Number: 2\n2. Definition: A bird with long legs.\n3. Visible: long legs; grey feathers",
        'Sure!\n```json\n{"number": 2, "definition": "A bird with long legs.", '
        '"visible": ["long legs", "grey feathers"]}\n```',
        "NUMBER = 2\nDEFINITION = A bird with long legs.\nVISIBLE = long legs; grey feathers",
    ],
)
def test_other_forms_are_repaired(reply: str) -> None:
    found = read_definition(reply, 3)
    assert found is not None
    assert (found.text, found.number) == ("A bird with long legs.", 2)
    assert found.visible == ("long legs", "grey feathers")
    assert found.repaired


@pytest.mark.parametrize(
    ("number", "expected"),
    [("0", 0), ("none of them", 0), ("3", 3), ("4", None), ("", None), ("the second", None)],
)
def test_number_of_the_gloss(number: str, expected: int | None) -> None:
    reply = AS_ASKED.replace("Number: 2", f"Number: {number}")
    found = read_definition(reply, 3)
    assert found is not None
    assert found.number == expected


def test_a_plain_sentence_is_a_definition_without_the_rest() -> None:
    found = read_definition("A crane is a tall bird. It wades.\n\nA crane is a tall bird.", 3)
    assert found is not None
    assert found.text == "A crane is a tall bird."
    assert found.repaired
    assert found.number is None


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n ",
        "?????? ### 1234 $$",
        "Yes",
        "Number: 1",
        "<think>A crane is a tall bird",
        "Definition: one sentence\nVisible: short phrases",
        "{}",
        "Definition: \nVisible: wings",
    ],
)
def test_what_says_nothing_cannot_be_read(reply: str) -> None:
    assert read_definition(reply, 2) is None


def test_a_long_definition_ends_with_a_sentence() -> None:
    text = "A tall bird. " + "It wades and wades " * 40
    found = read_definition(f"Definition: {text}", 0)
    assert found is not None
    assert found.text == "A tall bird."
    endless = read_definition("Definition: " + "bird " * 200, 0)
    assert endless is not None
    assert len(endless.text.split()) == MAX_WORDS


def test_checks_in_the_asked_form() -> None:
    reply = read_checks("object: a crane; water\nattribute: grey\nstate: wading", 3)
    assert reply is not None
    assert [(check.axis, check.phrase) for check in reply.checks] == [
        ("object", "a crane"),
        ("object", "water"),
        ("attribute", "grey"),
        ("state", "wading"),
    ]
    assert not reply.repaired


def test_checks_of_several_lines_bullets_and_plurals_are_repaired() -> None:
    reply = read_checks("- **Objects**: a crane\n- Objects: water.\n* state: wading", 3)
    assert reply is not None
    assert [check.phrase for check in reply.checks] == ["a crane", "water", "wading"]
    assert reply.repaired


def test_a_question_of_the_model_is_kept_with_its_phrase() -> None:
    reply = read_checks("object: Is there a grey crane?\nstate: Is the crane wading?", 3)
    assert reply is not None
    assert [(check.phrase, check.question) for check in reply.checks] == [
        ("a grey crane", "Is there a grey crane?"),
        ("the crane wading", "Is the crane wading?"),
    ]


def test_bounds_and_echoes() -> None:
    many = read_checks("object: a; b; bird one; bird two; bird three; bird four; bird one", 2)
    assert many is not None
    assert [check.phrase for check in many.checks] == ["bird one", "bird two"]
    assert read_checks("object: things or beings that are there", 3) is None
    assert read_checks("object: " + "very " * MAX_PHRASE_WORDS + "long", 3) is None
    assert read_checks("A crane is a tall bird.", 3) is None


@given(st.text(), st.integers(0, 9))
def test_no_text_makes_the_readers_raise(text: str, number: int) -> None:
    read_definition(text, number)
    read_checks(text, number)
    read_checks(f"object: {text}", number)
    read_definition("{" + text + "}", number)
