"""The response contract: every kind of answer is read as what it is, and only as that."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.answers import failed, likelihood, read_answer, similarity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes", 1.0),
        ("no", 0.0),
        ("**Yes**", 1.0),
        ("Yes.", 1.0),
        (" No, it does not. Yes men are another matter.", 0.0),
        ("<think>No? It might be. Yes.</think>\nNo", 0.0),
        ("First the beak. Then the wings. Final answer: yes", 1.0),
        ("The answer is **No**.", 0.0),
        ("It shows a crane, so yes.", 1.0),
    ],
)
def test_plain_text_counts_as_hard_one_or_zero(text: str, expected: float) -> None:
    answer = read_answer(text)

    assert (answer.status, answer.interface, answer.score) == ("ok", "text", expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot help with that.",
        "yes or no",
        "<think>Yes, surely",
        "nobody knows",
        "no-one, yes-man",
        "{not json",
        '{"yes": -0.1}',
        '{"yes": NaN, "no": -1}',
        '{"yes": "-1", "no": -1}',
        '{"yes": 0.7, "no": 0.3}',
        '{"similarity": Infinity}',
        '{"similarity": true}',
        '{"similarity": 1e999}',
    ],
)
def test_what_cannot_be_read_is_invalid_and_never_a_no(text: str) -> None:
    answer = read_answer(text)

    assert answer.status == "invalid"
    assert answer.score is None
    assert answer.reason


def test_a_failed_request_is_failed() -> None:
    assert read_answer(failed("HTTP 429")).status == "failed"
    assert read_answer("[LMMS_EVAL_REQUEST_FAILED after 5 retries] timeout").status == "failed"


def test_score_is_yes_over_yes_plus_no() -> None:
    answer = read_answer(likelihood(math.log(0.3), math.log(0.1), mass=0.4))

    assert answer.interface == "likelihood"
    assert answer.score == pytest.approx(0.75, abs=1e-12)


def test_rank_key_keeps_apart_what_the_probability_cannot() -> None:
    surer, sure = (read_answer(likelihood(0.0, no)) for no in (-900.0, -800.0))

    assert surer.score == sure.score == 1.0
    assert surer.rank_key is not None
    assert sure.rank_key is not None
    assert surer.rank_key > sure.rank_key


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_similarity_survives_the_log_to_the_last_bit(value: float) -> None:
    assert read_answer(similarity(value)).rank_key == value


@given(st.text())
def test_no_text_makes_the_reader_raise(text: str) -> None:
    assert read_answer(text).status in ("ok", "invalid", "failed")


@given(st.text())
def test_no_json_makes_the_reader_raise(text: str) -> None:
    assert read_answer("{" + text).status in ("ok", "invalid", "failed")
