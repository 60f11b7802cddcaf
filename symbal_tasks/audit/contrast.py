"""How much likelier an error is where a feature is shown (section 6.4): counts, ratio, test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Contrast:
    """A 2 x 2 table over pictures, and what follows from it.

    ratio : P(error | v) / P(error | no v); infinite where there is no error without v, None where
        there is no error at all or one of the groups is empty.
    low, high : 95% score interval of the ratio (Koopman, 1984).
    p : Fisher's exact test, two-sided; 1 where nothing can be tested.
    """

    errors_with: int
    n_with: int
    errors_without: int
    n_without: int
    ratio: float | None
    low: float | None
    high: float | None
    p: float

    @property
    def share_with(self) -> float:
        """P(error | v), 0 for an empty group."""
        return self.errors_with / self.n_with if self.n_with else 0.0

    @property
    def share_without(self) -> float:
        """P(error | no v), 0 for an empty group."""
        return self.errors_without / self.n_without if self.n_without else 0.0


def contrast(errors: Sequence[bool], shown: Sequence[bool]) -> Contrast:
    """Compare pictures with the feature and without. Raises ValueError for unequal lengths."""
    if len(errors) != len(shown):
        raise ValueError(f"{len(errors)} error marks for {len(shown)} feature marks")
    a = sum(e and s for e, s in zip(errors, shown, strict=True))
    b = sum(e and not s for e, s in zip(errors, shown, strict=True))
    return from_counts(a, sum(shown), b, len(shown) - sum(shown))


def from_counts(a: int, n1: int, b: int, n0: int) -> Contrast:
    """Contrast of ``a`` errors in ``n1`` pictures with v and ``b`` in ``n0`` without."""
    if not (n1 and n0 and a + b):
        return Contrast(a, n1, b, n0, None, None, None, 1.0)
    from scipy.stats import fisher_exact

    p = float(fisher_exact([[a, n1 - a], [b, n0 - b]]).pvalue)
    ratio = (a / n1) / (b / n0) if b else math.inf
    low, high = score_interval(a, n1, b, n0)
    return Contrast(a, n1, b, n0, ratio, low, high, min(p, 1.0))


def score_interval(a: int, n1: int, b: int, n0: int, level: float = 0.95) -> tuple[float, float]:
    """Interval of the ratio (a / n1) / (b / n0): all ratios the score test does not reject.

    Defined with empty cells too, where the logarithmic interval is not. Needs n1, n0 and a + b
    above 0.
    """
    from scipy.optimize import brentq
    from scipy.stats import chi2

    bound = float(chi2.ppf(level, 1))

    def excess(log_ratio: float) -> float:
        return _score(a, n1, b, n0, math.exp(log_ratio)) - bound

    far = 25.0
    centre = math.log((a / n1) / (b / n0)) if a and b else (far if a else -far)
    low = math.exp(brentq(excess, -far, centre)) if a else 0.0
    high = math.exp(brentq(excess, centre, far)) if b else math.inf
    return low, high


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values of Holm's step-down method, in the order given."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def _score(a: int, n1: int, b: int, n0: int, ratio: float) -> float:
    """Pearson's chi-square at the restricted estimate where p1 = ratio p0 (Koopman, eq. 2)."""
    quadratic = (n1 + n0) * ratio
    linear = ratio * (n1 + b) + a + n0
    gap = math.sqrt(max(0.0, linear * linear - 4 * quadratic * (a + b)))
    # the smaller root, written so that nothing cancels when the ratio is extreme
    p0 = 2 * (a + b) / (linear + gap)
    value = 0.0
    for count, n, expected in ((a, n1, ratio * p0), (b, n0, p0)):
        share = min(max(expected, 0.0), 1.0)
        if 0 < share < 1:
            value += (count - n * share) ** 2 / (n * share * (1 - share))
        elif not math.isclose(count, n * share, abs_tol=1e-9):
            return math.inf
    return value
