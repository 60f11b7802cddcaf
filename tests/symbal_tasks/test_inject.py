"""The strength of an injected association, checked against scipy's own Cramer's V."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats.contingency import association

from symbal_tasks.inject import Infeasible, Plan, draw, phi, plan, solve_without


@given(st.integers(5, 400), st.integers(5, 400), st.data())
def test_phi_is_cramers_v(n1: int, n0: int, data: st.DataObject) -> None:
    a = data.draw(st.integers(0, n1))
    b = data.draw(st.integers(0, n0))
    assume(0 < a + b < n1 + n0)
    table = np.array([[a, n1 - a], [b, n0 - b]])
    assert abs(phi(a, b, n1, n1 + n0)) == pytest.approx(association(table, method="cramer"))


@given(st.integers(1, 300), st.integers(1, 3000), st.floats(0.05, 0.95), st.data())
def test_solution_has_the_wanted_strength(
    n1: int, n0: int, strength: float, data: st.DataObject
) -> None:
    a = data.draw(st.integers(1, n1))
    n = n1 + n0
    assume(phi(a, 0, n1, n) >= strength)
    b = solve_without(strength, a, n1, n)
    assert b >= 0
    # a positive association: with v the error is more frequent, not less
    assert phi(a, b, n1, n) == pytest.approx(strength, abs=1e-6)


def test_no_solution_is_an_error() -> None:
    with pytest.raises(ValueError, match="below"):
        solve_without(0.9, 5, 100, 1000)


@given(st.integers(1, 200), st.integers(1, 2000), st.sampled_from([0.3, 0.6, 0.9]), st.data())
def test_plan_keeps_its_bounds(n1: int, n0: int, strength: float, data: st.DataObject) -> None:
    free_with = data.draw(st.integers(0, n1))
    free_without = data.draw(st.integers(0, n0))
    found = plan(
        strength,
        free_with=free_with,
        free_without=free_without,
        n1=n1,
        n=n1 + n0,
        tolerance=0.02,
    )
    if isinstance(found, Plan):
        assert 0 < found.with_v <= free_with
        assert 0 <= found.without_v <= free_without
        assert abs(found.achieved - strength) <= 0.02
        assert found.achieved == phi(found.with_v, found.without_v, n1, n1 + n0)
    elif n1 * n0 > 40_000 and free_without == n0 and free_with:
        # with many captions free, only the upper bound can stand in the way
        assert phi(free_with, 0, n1, n1 + n0) < strength - 0.02


def test_plan_says_why_not() -> None:
    found = plan(0.9, free_with=48, free_without=2000, n1=77, n=4350, tolerance=0.02)
    assert isinstance(found, Infeasible)
    assert "48 free captions of 77" in found.reason
    assert found.strongest == pytest.approx(phi(48, 0, 77, 4350))


def test_when_captions_without_v_run_out_fewer_with_v_are_used() -> None:
    found = plan(0.3, free_with=500, free_without=20, n1=600, n=1200, tolerance=0.02)
    assert isinstance(found, Plan)
    assert found.without_v == 20
    assert found.with_v < 500


def test_draw_takes_from_each_side_and_repeats() -> None:
    chosen = Plan(3, 2, 0.5)

    def drawn(seed: int) -> object:
        return draw(
            chosen,
            free_with=[1, 3, 5, 7],
            free_without=[0, 2, 4],
            n_sentences=50,
            rng=random.Random(seed),
            place="random",
            caption_lengths=[2] * 8,
        )

    first = draw(
        chosen,
        free_with=[1, 3, 5, 7],
        free_without=[0, 2, 4],
        n_sentences=50,
        rng=random.Random(1),
        place="random",
        caption_lengths=[2] * 8,
    )
    assert drawn(1) == first
    assert drawn(2) != first
    assert sum(row % 2 for row in first.rows) == 3
    assert len(set(first.rows)) == 5
    assert list(first.rows) == sorted(first.rows)
    assert all(0 <= place <= 2 for place in first.places)
