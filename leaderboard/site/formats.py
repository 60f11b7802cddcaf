"""How numbers are written, on pages and in tables."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Protocol

NONE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


class HasLimits(Protocol):
    """Anything with an interval."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


class HasValue(HasLimits, Protocol):
    """An estimate with its interval."""

    @property
    def value(self) -> float: ...


def percent(estimate: HasValue | None) -> str:
    """0.4531 -> "45.3"."""
    return NONE if estimate is None else f"{100 * estimate.value:.1f}"


def limits(estimate: HasLimits | None) -> str:
    """An interval in percent: "41.0 to 49.6"."""
    return "" if estimate is None else f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}"


def signed(difference: float) -> str:
    """A difference in percentage points, with its sign: "+3.2", "-0.4"."""
    return f"{100 * difference:+.1f}".replace("-", MINUS)


def limits_signed(test: HasLimits) -> str:
    """The interval of a difference: "-1.0 to +4.2"."""
    return f"{signed(test.low)} to {signed(test.high)}"


def p_value(p: float) -> str:
    """Three decimals, or "< 0.001": more would claim what no test delivers."""
    return "< 0.001" if p < 0.0005 else f"{p:.3f}"


def rank(places: tuple[int, int] | None) -> str:
    """A rank set: "1-3", or "2" where only one place is left."""
    if places is None:
        return NONE
    first, last = places
    return str(first) if first == last else f"{first}{NONE}{last}"


def count(number: float) -> str:
    """A count that ties may have made fractional: "3", "2.5"."""
    return f"{number:.0f}" if number == int(number) else f"{number:.1f}"


def counted(number: float, what: str) -> str:
    """A count with its noun: "1 item", "3 items", "2.5 items"."""
    return f"{count(number)} {what}{'' if number == 1 else 's'}"


def utc(moment: str) -> str:
    """A time of the ledger: "2026-11-30 05:48 UTC"."""
    when = datetime.fromisoformat(moment).astimezone(timezone.utc)
    return f"{when:%Y-%m-%d %H:%M} UTC"


def score(number: float) -> str:
    """A candidate's score."""
    return f"{number:.2f}"
