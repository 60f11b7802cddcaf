"""How many captions to spoil, and which, so that the error goes with the feature (Appendix B).

Of ``n`` pictures ``n1`` show the feature v. The erroneous sentence t is put into ``a`` captions of
pictures with v and ``b`` of pictures without. The association is Cramer's V of the 2 x 2 table,
which for two yes/no variables is the absolute value of phi.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Plan:
    """Captions to spoil with and without v, and the Cramer's V that gives."""

    with_v: int
    without_v: int
    achieved: float


@dataclass(frozen=True)
class Infeasible:
    """The strongest association that the free captions allow falls short of the request."""

    strongest: float
    reason: str


def phi(a: float, b: float, n1: int, n: int) -> float:
    """Phi coefficient of "t injected" against "v shown"; 0 where a margin is empty."""
    n0, m = n - n1, a + b
    if not (0 < m < n and 0 < n1 < n):
        return 0.0
    return (a * n0 - b * n1) / math.sqrt(n1 * n0 * m * (n - m))


def solve_without(strength: float, a: int, n1: int, n: int) -> float:
    """Real number b >= 0 with phi(a, b) = strength.

    m = a + b is the smaller root of (n1^2 + V^2 n1 n0) m^2 - (2 a n n1 + V^2 n1 n0 n) m + a^2 n^2.
    Raises ValueError when even b = 0 gives less than ``strength``.
    """
    n0 = n - n1
    square = strength * strength * n1 * n0
    quadratic, linear, constant = n1 * n1 + square, 2 * a * n * n1 + square * n, (a * n) ** 2
    gap = math.sqrt(max(0.0, linear * linear - 4 * quadratic * constant))
    # The larger root belongs to -V: there t would go with the absence of v.
    m = (linear - gap) / (2 * quadratic)
    if phi(a, 0, n1, n) < strength - 1e-12:
        raise ValueError(f"phi({a}, 0) is below {strength}")
    return max(0.0, m - a)


def plan(
    strength: float, *, free_with: int, free_without: int, n1: int, n: int, tolerance: float
) -> Plan | Infeasible:
    """Choose a and b for a wanted Cramer's V.

    Every free picture with v is used (a = ``free_with``) and b is solved; only when pictures
    without v run out is a lowered instead.
    """
    if not (0 < n1 < n and free_with > 0):
        return Infeasible(0.0, "no picture shows the feature with a caption free of the error")
    strongest = phi(free_with, 0, n1, n)
    if strongest < strength - tolerance:
        return Infeasible(
            strongest,
            f"{free_with} free captions of {n1} with the feature reach {strongest:.3f} at most",
        )
    if strongest <= strength:
        return Plan(free_with, 0, strongest)
    exact = solve_without(strength, free_with, n1, n)
    if exact <= free_without:
        options = {math.floor(exact), min(math.ceil(exact), free_without)}
        b = min(sorted(options), key=lambda x: abs(phi(free_with, x, n1, n) - strength))
        return _checked(Plan(free_with, b, phi(free_with, b, n1, n)), strength, tolerance)
    best = min(
        range(1, free_with + 1),
        key=lambda x: abs(phi(x, free_without, n1, n) - strength),
    )
    return _checked(Plan(best, free_without, phi(best, free_without, n1, n)), strength, tolerance)


def _checked(found: Plan, strength: float, tolerance: float) -> Plan | Infeasible:
    if abs(found.achieved - strength) <= tolerance:
        return found
    return Infeasible(
        found.achieved, f"whole captions only come to {found.achieved:.3f}, not {strength}"
    )


@dataclass(frozen=True)
class Injections:
    """Chosen rows of the base, in order, and for each the number of its sentence and its place.

    ``places`` holds the index among the caption's sentences, or is empty when all come last.
    """

    rows: tuple[int, ...]
    sentences: tuple[int, ...]
    places: tuple[int, ...] = ()


def draw(
    chosen: Plan,
    *,
    free_with: Sequence[int],
    free_without: Sequence[int],
    n_sentences: int,
    rng: random.Random,
    place: Literal["last", "random"] = "last",
    caption_lengths: Sequence[int] = (),
) -> Injections:
    """Draw the captions and the wording of each; ``caption_lengths`` counts sentences per row."""
    picked = rng.sample(sorted(free_with), chosen.with_v)
    picked += rng.sample(sorted(free_without), chosen.without_v)
    picked.sort()
    wording = tuple(rng.randrange(n_sentences) for _ in picked)
    if place == "last":
        return Injections(tuple(picked), wording)
    places = tuple(rng.randint(0, caption_lengths[row]) for row in picked)
    return Injections(tuple(picked), wording, places)
