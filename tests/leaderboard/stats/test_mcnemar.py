from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from leaderboard.stats import (
    StatisticsError,
    benjamini_hochberg,
    holm,
    mcnemar_exact,
    mcnemar_pairs,
)

Floats = NDArray[np.float64]


def table(a: Floats, b: Floats) -> list[list[int]]:
    return [[int(((a == i) & (b == j)).sum()) for j in (1, 0)] for i in (1, 0)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=200))
def test_equals_statsmodels_exactly(answers: list[tuple[bool, bool]]) -> None:
    a, b = np.array(answers, dtype=float).T
    found = mcnemar_exact(a, b)
    assert found.p == mcnemar(table(a, b), exact=True).pvalue
    assert found.wins == ((a == 1) & (b == 0)).sum()
    assert found.losses == ((a == 0) & (b == 1)).sum()


def test_all_pairs_equal_statsmodels_exactly(hits: Floats) -> None:
    found = mcnemar_pairs(hits)
    assert len(found.p) == 15
    for first, second, p in zip(found.first, found.second, found.p, strict=True):
        assert p == mcnemar(table(hits[:, first], hits[:, second]), exact=True).pvalue


def test_known_values() -> None:
    # six wins, no loss: 2 / 2**6
    assert mcnemar_exact([1] * 6 + [0], [0] * 7).p == 2 / 64
    assert mcnemar_exact([1], [0]).p == 1
    assert mcnemar_exact([1, 0], [1, 0]).p == 1
    swapped = mcnemar_exact([0] * 7, [1] * 6 + [0])
    assert (swapped.p, swapped.wins, swapped.losses) == (2 / 64, 0, 6)


def test_ties_count_with_their_chances() -> None:
    chance = np.full(100, 0.1)
    answers = np.r_[np.ones(60), np.zeros(40)]
    found = mcnemar_exact(answers, chance)
    assert (found.wins, found.losses) == (54, 4)
    assert found.p == pytest.approx(mcnemar([[0, 54], [4, 0]], exact=True).pvalue)
    same = mcnemar_exact(chance, chance)
    assert (same.p, same.wins) == (1, same.losses)


def test_ties_are_never_sharper_than_breaking_them_would_be_on_average() -> None:
    """Under no difference the test on tied scores rejects no more often than alpha."""
    rng = np.random.default_rng(4)
    rejected = 0
    for _ in range(2000):
        a, b = rng.choice([0, 0.25, 0.5, 1], size=(2, 60), p=[0.3, 0.2, 0.2, 0.3])
        rejected += mcnemar_exact(a, b).p <= 0.05
    assert rejected / 2000 <= 0.05


def test_rounding_goes_against_a_claim() -> None:
    # 5.5 wins against none would be 5 wins: p = 2 / 2**5
    assert mcnemar_exact([1] * 5 + [0.5], [0] * 6).p == 2 / 32


def test_fewer_than_two_models_have_no_pair(hits: Floats) -> None:
    assert mcnemar_pairs(hits[:, :1]).p.shape == (0,)
    assert mcnemar_pairs(hits[:, :0]).p.shape == (0,)


def test_bad_input() -> None:
    with pytest.raises(StatisticsError, match="same items: 2 scores against 3"):
        mcnemar_exact([0, 1], [0, 1, 1])
    with pytest.raises(StatisticsError, match="item 1 of model 0 is nan"):
        mcnemar_exact([0, np.nan], [0, 1])
    with pytest.raises(StatisticsError, match="second model must be one vector"):
        mcnemar_exact([0, 1], [[0, 1], [1, 1]])


def test_corrections_equal_statsmodels_and_hand_calculation() -> None:
    p = [0.01, 0.04, 0.03, 0.5]
    assert list(holm(p)) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert list(benjamini_hochberg(p)) == pytest.approx([0.04, 0.04 * 4 / 3, 0.04 * 4 / 3, 0.5])
    many = np.random.default_rng(0).random(500) ** 3
    np.testing.assert_array_equal(holm(many), multipletests(many, method="holm")[1])
    np.testing.assert_array_equal(benjamini_hochberg(many), multipletests(many, method="fdr_bh")[1])


def test_corrections_at_the_edges() -> None:
    assert holm([]).shape == (0,)
    assert list(holm([0.03])) == [0.03]
    for bad in ([0.1, np.nan], [1.2], [[0.1]]):
        with pytest.raises(StatisticsError, match="between 0 and 1"):
            benjamini_hochberg(bad)
