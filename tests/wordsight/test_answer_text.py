"""Free text as models write it, and what must not be read into it."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.answer_text import Unreadable, letter, number, without_spans, yes_or_no
from wordsight.answers import choice_answer, failed, read_answer, scalar_answer, text_answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes.", True),
        ("**Yes**", True),
        ("YES!", True),
        ("No\n\nThe picture shows a bird.", False),
        ("Answer: No", False),
        ("<answer>no</answer>", False),
        (r"So \boxed{Yes}", True),
        ("The bat here is an animal. There is no ball. Answer: Yes", True),
        ("<thinking>no, no</thinking> Yes", True),
        ("no wonder: a crane</think>Yes", True),
        ("Is it a crane? The final answer is: **no**.", False),
    ],
)
def test_yes_or_no(text: str, expected: bool) -> None:
    assert yes_or_no(text) is expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I'm sorry, I can't assist with that.",
        "Yes or no?",
        "My answer: yes or no",
        "It might be yes, it might be no.",
        "<think>Yes",
        "Noted.",
        "A yes-man",
    ],
)
def test_not_a_yes_and_not_a_no(text: str) -> None:
    assert isinstance(yes_or_no(text), Unreadable)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("85", 85.0),
        ("85/100", 85.0),
        ("85 out of 100", 85.0),
        ("**85**", 85.0),
        ("85%", 85.0),
        ("Score: 85.", 85.0),
        ("8/10", 80.0),
        ("0", 0.0),
        ("72.5", 72.5),
        ("On a scale from 0 to 100, I would say 40.", 40.0),
        ("There are 3 birds and 2 cars. Final answer: 70", 70.0),
        ("<think>60? 70?</think>65", 65.0),
        ("<answer>90</answer>", 90.0),
    ],
)
def test_number(text: str, expected: float) -> None:
    assert number(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "high", "60-70", "between 60 and 70", "120", "-5", "12/10", "I see 3 birds, 85", "1,000"],
)
def test_not_a_number_from_0_to_100(text: str) -> None:
    assert isinstance(number(text), Unreadable)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C", "C"),
        ("C.", "C"),
        ("(C)", "C"),
        ("**C**", "C"),
        ("A", "A"),
        ("I", "I"),
        ("A) because of the wings", "A"),
        ("Answer: C", "C"),
        ("The answer is picture C.", "C"),
        ("Picture C shows a crane bird, and it is the best.", "C"),
        ("I think a bird is meant. Final answer: J", "J"),
        ("<think>A? B?</think>D", "D"),
        ("D - the bird", "D"),
        ("It must be (A)", "A"),
        ("Best is G", "G"),
        ("c", "C"),
        ("(b)", "B"),
    ],
)
def test_letter(text: str, expected: str) -> None:
    assert letter(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "A crane is a bird.", "I cannot tell.", "A or B", "Picture A or picture C", "K", "b or c"],
)
def test_not_a_letter(text: str) -> None:
    assert isinstance(letter(text), Unreadable)


@given(st.text())
def test_no_text_makes_a_reader_raise(text: str) -> None:
    for read in (yes_or_no, number, letter):
        read(text)


def test_text_with_more_fields_is_read_as_its_text() -> None:
    plain, rich = read_answer("**Yes**"), read_answer(text_answer("**Yes**", seconds=0.2))

    assert plain == rich
    assert plain.interface == "text"


def test_scalar_answers() -> None:
    answer = read_answer(scalar_answer(text_answer("85/100", tokens=12)))

    assert (answer.interface, answer.score, answer.rank_key) == ("scalar", 0.85, 85.0)
    assert read_answer(scalar_answer("Yes")).status == "invalid"
    # a hard yes is not a number, and a number is not a yes
    assert read_answer("85").status == "invalid"


def test_choice_answers_give_one_to_the_candidate_that_was_chosen() -> None:
    scores = [read_answer(choice_answer("Answer: C", own)).score for own in "ABCD"]

    assert scores == [0.0, 0.0, 1.0, 0.0]
    assert read_answer('{"choice": "C"}').status == "invalid"


def test_marking_twice_is_marking_once_and_keeps_other_fields() -> None:
    once = scalar_answer(text_answer("85", seconds=1.5))

    assert scalar_answer(once) == once
    assert json.loads(once) == {"scalar": "85", "seconds": 1.5}
    assert choice_answer(choice_answer("C", "A"), "B") == choice_answer("C", "B")


def test_a_failed_request_stays_failed() -> None:
    assert read_answer(scalar_answer(failed("HTTP 500"))).status == "failed"
    assert read_answer(choice_answer(failed("HTTP 500"), "A")).status == "failed"


@given(st.lists(st.sampled_from(["<think>", "</think>", "<THINKING>", "</thinking>", "no", "\n"])))
def test_spans_are_cut_as_by_one_pattern(parts: list[str]) -> None:
    text = "".join(parts)
    opening, closing = (re.compile(p, re.IGNORECASE) for p in ("<think(ing)?>", "</think(ing)?>"))
    whole = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)

    assert without_spans(text, opening, closing, " ") == whole.sub(" ", text)
