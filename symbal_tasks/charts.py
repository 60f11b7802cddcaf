"""Bars for HTML reports that open offline: counts worked out here, drawn by the page's CSS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise


@dataclass(frozen=True)
class Bar:
    """One bar: what it stands for, its value as text, its length from 0 to 1."""

    label: str
    text: str
    length: float


@dataclass(frozen=True)
class Chart:
    """A titled set of bars."""

    title: str
    bars: tuple[Bar, ...]


def histogram(title: str, values: Iterable[float], edges: Sequence[float]) -> Chart:
    """Counts between consecutive edges, the last edge included."""
    import numpy as np

    counts, _ = np.histogram(np.fromiter(values, dtype=float), bins=np.asarray(edges))
    labels = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    return counted(title, dict(zip(labels, counts.tolist(), strict=True)))


def counted(title: str, counts: dict[str, int]) -> Chart:
    """One bar for each named count, the longest filling the width."""
    most = max([*counts.values(), 1])
    bars = (Bar(label, str(count), count / most) for label, count in counts.items())
    return Chart(title, tuple(bars))


def shares(title: str, values: dict[str, float]) -> Chart:
    """One bar for each named share of 1, drawn as long as it is."""
    bars = (Bar(label, f"{100 * value:.1f}%", value) for label, value in values.items())
    return Chart(title, tuple(bars))


def render(template: str, **values: object) -> str:
    """Fill a page of ``symbal_tasks/data``; every value is escaped."""
    return str(_environment().get_template(template).render(**values))


@lru_cache(maxsize=1)
def _environment():  # type: ignore[no-untyped-def]
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def load(name: str) -> str:
        return (files("symbal_tasks") / "data" / name).read_text(encoding="utf-8")

    return Environment(loader=FunctionLoader(load), autoescape=True, undefined=StrictUndefined)
