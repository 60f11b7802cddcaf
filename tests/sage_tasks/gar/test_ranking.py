"""Aggregation, fusion and the methods, against values worked out by hand or by brute force."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sage_tasks.gar.aggregation import aggregate, separation
from sage_tasks.gar.fusion import fuse, mean_ranks, reciprocal_ranks
from sage_tasks.gar.methods import Answers, Settings, parse_axes, parse_weights, ranking
from wordsight.errors import WordsightError

ROWS = [[0.9, 0.1, 0.5], [0.5, 0.5, 0.5], [0.2, 0.8, 0.4]]


def test_mean_minimum_and_geometric_mean() -> None:
    axes = ["object", "object", "state"]
    assert aggregate(ROWS, axes) == pytest.approx([1.6 / 3, 1.4 / 3, 1.4 / 3])  # type: ignore[arg-type]
    assert aggregate(ROWS, axes, "min") == [0.2, 0.1, 0.4]  # type: ignore[arg-type]
    assert aggregate(ROWS, axes, "geometric") == pytest.approx(  # type: ignore[arg-type]
        [0.09 ** (1 / 3), 0.04 ** (1 / 3), 0.1 ** (1 / 3)]
    )


def test_axes_count_alike_whatever_their_number_of_constraints() -> None:
    axes = ["object", "object", "state"]
    even = aggregate(ROWS, axes, "axis")  # type: ignore[arg-type]
    assert even == pytest.approx([(0.7 + 0.2) / 2, (0.3 + 0.8) / 2, (0.5 + 0.4) / 2])
    only_state = aggregate(ROWS, axes, "axis", {"object": 0.0, "state": 2.0})  # type: ignore[arg-type]
    assert only_state == pytest.approx(ROWS[2])
    nothing = aggregate(ROWS, axes, "axis", {"object": 0.0, "state": 0.0})  # type: ignore[arg-type]
    assert nothing == pytest.approx(aggregate(ROWS, axes))  # type: ignore[arg-type]


def test_a_certain_no_does_not_wipe_out_the_rest() -> None:
    scores = aggregate([[0.0, 0.0], [0.9, 0.1]], ["object", "object"], "geometric")
    assert scores[0] > scores[1] > 0


def test_information_weight_drops_the_question_that_separates_nothing() -> None:
    axes = ["object", "object", "state"]
    weights = [separation(row) for row in ROWS]
    assert weights[1] == 0.0
    expected = [
        (weights[0] * ROWS[0][c] + weights[2] * ROWS[2][c]) / (weights[0] + weights[2])
        for c in range(3)
    ]
    assert aggregate(ROWS, axes, information=True) == pytest.approx(expected)  # type: ignore[arg-type]
    flat = [[0.5, 0.5], [0.7, 0.7]]
    assert aggregate(flat, ["object", "state"], information=True) == pytest.approx([0.6, 0.6])


def test_separation_is_mutual_information_in_bits() -> None:
    assert separation([1.0, 0.0]) == pytest.approx(1.0)
    one_in_ten = -(0.1 * math.log2(0.1) + 0.9 * math.log2(0.9))
    assert separation([1.0, *[0.0] * 9]) == pytest.approx(one_in_ten)
    assert separation([0.3] * 10) == pytest.approx(0.0, abs=1e-12)


def test_without_constraints_all_are_tied() -> None:
    assert aggregate([], []) == [0.0] * 10


@given(st.lists(st.integers(0, 3), min_size=1, max_size=5), st.integers(0, 60))
def test_tied_candidates_share_what_random_tie_breaking_gives(keys: list[int], k: int) -> None:
    # every order of the candidates in which larger keys come first is equally likely
    orders = [
        order
        for order in itertools.permutations(range(len(keys)))
        if all(keys[a] >= keys[b] for a, b in itertools.pairwise(order))
    ]
    expected = [
        sum(Fraction(1, k + order.index(c) + 1) for order in orders) / len(orders)
        for c in range(len(keys))
    ]
    assert reciprocal_ranks(keys, k) == pytest.approx([float(value) for value in expected])


def test_fusion_of_two_rankings() -> None:
    fused = fuse([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0]])
    assert fused == pytest.approx([1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 63 + 1 / 62])
    swapped = fuse([[2.0, 1.0], [1.0, 2.0]])
    assert swapped[0] == swapped[1]


def test_mean_ranks() -> None:
    assert mean_ranks([5.0, 7.0, 5.0, 1.0]) == [2.5, 1.0, 2.5, 4.0]


ANSWERS = Answers(
    names=("base", "lexical", "generated", "object 1", "state 1"),
    axes=(None, None, None, "object", "state"),
    keys=[[3.0, 1.0, 2.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [4.0, 5.0, 6.0], [9.0, 8.0, 7.0]],
    probabilities=[[0.5] * 3, [0.5] * 3, [0.5] * 3, [0.4, 0.5, 0.6], [0.9, 0.7, 0.5]],
)


def test_each_method_ranks_by_its_own_questions() -> None:
    assert ranking(ANSWERS, Settings(method="base")) == [3.0, 1.0, 2.0]
    assert ranking(ANSWERS, Settings(method="lexical_def")) == [1.0, 3.0, 2.0]
    assert ranking(ANSWERS, Settings(method="generated_def")) == [2.0, 1.0, 3.0]
    assert ranking(ANSWERS, Settings(method="cgr")) == pytest.approx([0.65, 0.6, 0.55])
    assert ranking(ANSWERS, Settings(method="cgr", axes=("object",))) == [0.4, 0.5, 0.6]
    full = ranking(ANSWERS, Settings(method="gar"))
    assert full == pytest.approx([1 / 63 + 1 / 61, 1 / 61 + 1 / 62, 1 / 62 + 1 / 63])
    assert ranking(ANSWERS, Settings(method="all")) == full


def test_options_are_read_or_refused() -> None:
    assert parse_axes("state+object") == ("object", "state")
    assert parse_weights("object:2+state:0.5") == {"object": 2.0, "state": 0.5}
    assert parse_weights("") == {}
    for bad in ("", "objects", "object+shape"):
        with pytest.raises(WordsightError, match="axes="):
            parse_axes(bad)
    for bad in ("object", "shape:1", "object:-1", "object:nan"):
        with pytest.raises(WordsightError, match="axis_weights="):
            parse_weights(bad)
