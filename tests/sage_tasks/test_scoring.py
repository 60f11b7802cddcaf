"""From responses to an item's score."""

from __future__ import annotations

from sage_tasks.scoring import score_item
from wordsight.answers import failed, likelihood, similarity

KINDS = ("gold", *["random"] * 9)


def test_answers_rank_candidates() -> None:
    responses = [similarity(0.9)] + [similarity(0.1 * i) for i in range(9)]

    score = score_item(responses, 0, KINDS)

    assert score.status == "ok"
    assert score.interface == "similarity"
    assert score.metrics is not None
    assert score.metrics.hits1 == 1.0


def test_one_failed_request_leaves_the_item_without_a_score() -> None:
    score = score_item(["Yes"] * 9 + [failed("HTTP 500")], 0, KINDS)

    assert score.status == "failed"
    assert score.metrics is None
    assert "candidate 9" in score.reason


def test_a_failed_request_outranks_an_unreadable_answer() -> None:
    assert score_item(["perhaps", failed("x"), *["No"] * 8], 0, KINDS).status == "failed"


def test_one_unreadable_answer_makes_the_item_invalid_and_zero() -> None:
    score = score_item(["Yes", "perhaps", *["No"] * 8], 0, KINDS)

    assert score.status == "invalid"
    assert "candidate 1" in score.reason
    assert score.metrics is not None
    assert score.metrics.hits1 == score.metrics.mrr == 0.0


def test_answers_of_two_interfaces_are_not_ranked_together() -> None:
    score = score_item(["Yes", likelihood(-0.1, -3.0), *["No"] * 8], 0, KINDS)

    assert score.status == "invalid"
    assert "several interfaces" in score.reason


def test_a_missing_response_makes_the_item_invalid() -> None:
    assert score_item(["Yes"] * 9, 0, KINDS).status == "invalid"
