from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from leaderboard.stats import (
    StatisticsError,
    detectable_difference,
    mcnemar_pairs,
    mcnemar_power,
    smallest_detectable_difference,
)

Floats = NDArray[np.float64]


def simulated_power(n: int, differing: float, difference: float, trials: int) -> float:
    rng = np.random.default_rng(6)
    wins = (differing + difference) / 2
    kinds = rng.choice(3, (n, trials), p=[wins, differing - wins, 1 - differing])
    reference = np.ones((n, 1))
    found = 0
    for trial in range(trials):
        kind = kinds[:, [trial]]
        pair = np.hstack([np.where(kind == 1, 0, reference), np.where(kind == 0, 0, reference)])
        found += mcnemar_pairs(pair).p[0] <= 0.05
    return found / trials


@pytest.mark.parametrize(
    ("n", "differing", "difference"), [(463, 0.2, 0.06), (100, 0.3, 0.15), (1264, 0.1, 0.0)]
)
def test_power_is_the_share_of_tests_that_reject(
    n: int, differing: float, difference: float
) -> None:
    expected = simulated_power(n, differing, difference, 2000)
    assert mcnemar_power(n, differing, difference) == pytest.approx(expected, abs=0.035)


def test_power_by_hand() -> None:
    # seven items, all differ, all won: p = 2 / 2**7, found for certain; five can never reject
    assert mcnemar_power(7, 1.0, 1.0) == pytest.approx(1)
    assert mcnemar_power(5, 1.0, 1.0) == 0
    # six items: found only if one model wins all six
    assert mcnemar_power(6, 1.0, 0.0) == pytest.approx(2 / 64)
    assert mcnemar_power(6, 1.0, -0.5) == pytest.approx(0.75**6 + 0.25**6)
    assert mcnemar_power(50, 0.0, 0.0) == 0


def test_smallest_difference_has_the_power_asked_for() -> None:
    for n in (100, 463, 1264):
        found = smallest_detectable_difference(n, 0.25, power=0.9)
        assert found is not None
        assert mcnemar_power(n, 0.25, found) == pytest.approx(0.9, abs=1e-3)


def test_smallest_difference_shrinks_with_the_root_of_the_items() -> None:
    one, four = (smallest_detectable_difference(n, 0.2) for n in (500, 2000))
    assert one is not None
    assert four is not None
    assert one / four == pytest.approx(2, rel=0.05)


def test_too_few_items_detect_nothing() -> None:
    assert smallest_detectable_difference(5, 1.0) is None
    assert smallest_detectable_difference(1000, 0.0) is None


def test_typical_difference_agrees_with_the_exact_one(hits: Floats) -> None:
    pair = hits[:, [2, 3]]
    differing = float((pair[:, 0] != pair[:, 1]).mean())
    exact = smallest_detectable_difference(400, differing)
    found = detectable_difference(pair)
    assert found is not None
    assert exact is not None
    assert found == pytest.approx(exact, rel=0.06)


def test_groups_detect_less(hits: Floats) -> None:
    values = np.repeat(hits[:100], 4, axis=0)
    labels = np.repeat(np.arange(100), 4)
    naive, grouped = detectable_difference(values), detectable_difference(values, clusters=labels)
    assert naive is not None
    assert grouped is not None
    assert grouped / naive == pytest.approx(2, rel=0.02)


def test_edges(hits: Floats) -> None:
    assert detectable_difference(hits[:, :1]) is None
    assert detectable_difference(hits[:1]) is None
    with pytest.raises(StatisticsError, match="at least as large a share"):
        mcnemar_power(100, 0.1, 0.2)
    with pytest.raises(StatisticsError, match=r"lies in 0\.\.1"):
        mcnemar_power(100, 1.1, 0.2)
    with pytest.raises(StatisticsError, match="at least one"):
        mcnemar_power(0, 0.1, 0.1)
