"""Scores from raw responses."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

from leaderboard.kinds.ranking_score import mid_ranks, score_query
from leaderboard.scoring import score_task, value
from leaderboard.submit import submit
from tests.leaderboard.bench import Bench
from wordsight.answers import failed, likelihood, similarity


def test_ties_get_their_expected_value(bench: Bench) -> None:
    query = bench.packages["tiny"].queries[0]
    score = score_query(query, ["No"] * 10)
    assert score.hits1 == 0.1
    harmonic = sum(Fraction(1, rank) for rank in range(1, 11)) / 10
    assert score.mrr == pytest.approx(float(harmonic), abs=1e-15)
    assert score.choice is None
    assert score.ranks == (5.5,) * 10


def test_order_survives_probabilities_that_round_to_one(bench: Bench) -> None:
    query = bench.packages["tiny"].queries[0]
    answers = [likelihood(-1e-18 * 10**i, -50.0 + i) for i in range(10)]
    score = score_query(query, answers)
    assert score.scores is not None
    assert len(set(score.scores)) < 10
    assert score.ranks == tuple(float(i + 1) for i in range(10))
    assert score.hits1 == (1.0 if query.gold == 0 else 0.0)


def test_mixed_interfaces_make_the_item_invalid(bench: Bench) -> None:
    query = bench.packages["tiny"].queries[0]
    score = score_query(query, [similarity(0.3)] * 9 + ["Yes"])
    assert (score.status, score.hits1, score.mrr) == ("invalid", 0.0, 0.0)
    assert "interfaces" in score.reason


def test_failed_and_absent_items_are_missing(bench: Bench) -> None:
    gold = bench.store.gold("tiny")
    first = gold.summaries[0].id
    scores = score_task(gold, {first: ["Yes"] * 9 + [failed("timeout")]})
    assert {s.status for s in scores} == {"missing"}
    assert "timeout" in scores[0].reason
    assert len(scores) == 24


def test_unreadable_answer_is_invalid_not_no(bench: Bench) -> None:
    query = bench.packages["tiny"].queries[0]
    score = score_query(query, ["Yes"] * 9 + ["I cannot tell"])
    assert score.status == "invalid"
    assert "candidate 9" in score.reason


def test_claimed_scores_do_not_count(bench: Bench) -> None:
    """The run's own scores say that everything is right; the responses say nothing is."""

    def edit(task: str, lines: list[dict[str, object]]) -> None:
        for line, query in zip(lines, bench.packages["tiny"].queries, strict=True):
            record = line["wordsight"]
            assert isinstance(record, dict)
            record["scores"] = [1.0 if i == query.gold else 0.0 for i in range(10)]
            record["responses"] = [
                json.dumps({"yes": -9.0 if i == query.gold else -0.1, "no": -0.5})
                for i in range(10)
            ]

    (receipt,) = submit(bench.run("liar", tasks=("tiny",), edit=edit), str(bench.board))
    scores = bench.store.scores(receipt.submission, "tiny")
    assert math.fsum(value(score, "hits1") for score in scores) == 0.0


def test_mid_ranks() -> None:
    assert mid_ranks([0.1, 0.5, 0.5, 0.9]) == [4.0, 2.5, 2.5, 1.0]
