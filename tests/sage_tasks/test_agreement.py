"""Agreement figures against the paper's tables and against worked cases."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from sage_tasks.agreement import (
    agreement,
    category_counts,
    fleiss_kappa,
    gwet_ac1,
    majority,
    mismatches,
)
from wordsight.errors import DataError


def answers(rows: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Rows of answers as one mapping per annotator."""
    return [
        {f"i{n}": row[annotator] for n, row in enumerate(rows)} for annotator in range(len(rows[0]))
    ]


def yes_no(only_first: int, only_second: int, both: int, total: int) -> list[dict[str, str]]:
    neither = total - both - only_first - only_second
    rows = [("yes", "yes")] * both + [("yes", "no")] * only_first
    rows += [("no", "yes")] * only_second + [("no", "no")] * neither
    return answers(rows)


@pytest.mark.parametrize(
    ("first", "second", "agreed", "total", "expected"),
    [
        (48, 47, 47, 50, 0.934),  # Table 16, VWSD
        (46, 46, 48, 50, 0.953),  # VerSe
        (44, 46, 48, 50, 0.951),  # WikiDiverse
        (138, 139, 143, 150, 0.946),  # overall
    ],
)
def test_ac1_is_that_of_table_16(
    first: int, second: int, agreed: int, total: int, expected: float
) -> None:
    # yes counts and agreement fix the two-by-two table
    both = (first + second + agreed - total) // 2
    measured = agreement(yes_no(first - both, second - both, both, total), 2)
    assert measured.unanimous == agreed
    assert measured.percent == pytest.approx(100 * agreed / total)
    assert measured.coefficient == "Gwet's AC1"
    assert measured.value is not None
    assert round(measured.value, 3) == expected


@pytest.mark.parametrize(
    ("unanimous", "two", "different", "expected"),
    [(150, 43, 7, 0.801), (155, 40, 5, 0.823)],  # Table 11: VerSe, WikiDiverse
)
def test_composition_of_table_11_gives_its_kappa(
    unanimous: int, two: int, different: int, expected: float
) -> None:
    draw = random.Random(0)
    rows = []
    for number in range(unanimous + two + different):
        a, b, c = draw.sample([str(n) for n in range(1, 11)], 3)
        row = [a, a, a] if number < unanimous else [a, a, b]
        rows.append(row if number < unanimous + two else [a, b, c])
    measured = agreement(answers(rows), 10)
    assert (measured.unanimous, measured.two_of_three, measured.all_different) == (
        unanimous,
        two,
        different,
    )
    assert measured.value == pytest.approx(expected, abs=0.003)  # the marginals are our own


def test_kappa_of_a_case_worked_by_hand() -> None:
    # P = (1 + 1/3) / 2 = 2/3; shares 4/6 and 2/6, so chance 20/36
    rows = [["a", "a", "a"], ["a", "b", "b"]]
    assert fleiss_kappa(rows) == pytest.approx((2 / 3 - 20 / 36) / (1 - 20 / 36))


def test_ac1_of_a_case_worked_by_hand() -> None:
    # agreement 1/2; shares a 3/4, b 1/4, none c: chance (3/16 + 3/16) / 2
    rows = [["a", "a"], ["a", "b"]]
    assert gwet_ac1(rows, 3) == pytest.approx((0.5 - 0.1875) / (1 - 0.1875))


def test_undefined_is_none_not_a_number() -> None:
    assert fleiss_kappa([["a", "a", "a"]]) is None
    assert gwet_ac1([], 2) is None


def test_open_items_are_left_out_and_counted() -> None:
    measured = agreement([{"x": "1", "y": "2"}, {"x": "1", "y": ""}, {"x": "1"}], 10)
    assert (measured.items, measured.unanswered, measured.unanimous) == (1, 1, 1)


def test_four_annotators_are_refused() -> None:
    with pytest.raises(DataError, match="4 annotators"):
        agreement([{}, {}, {}, {}], 2)


def test_majority_and_mismatches() -> None:
    given = answers([["1", "1", "2"], ["1", "2", "3"], ["4", "4", "4"]])
    assert majority(given) == {"i0": "1", "i2": "4"}
    assert mismatches(given, {"i0": "1", "i1": "1", "i2": "5"}) == ["i2"]


def test_categories_count_once_per_item() -> None:
    given = answers([["a", "a", ""], ["a", "b", "c"], ["", "", ""], ["b", "b", "b"]])
    assert category_counts(given, ["i0", "i1", "i2", "i3"]) == {"a": 1, "no majority": 1, "b": 1}
