"""How much a lexicon knows of a dataset's targets, as in the paper's Table 15."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# (lexicon, subset) -> (coverage in percent, mean ambiguity), SAGE, Table 15.
PAPER: dict[tuple[str, str], tuple[float, float]] = {
    ("babelnet", "vwsd"): (100.00, 27.76),
    ("babelnet", "verse"): (100.00, 19.07),
    ("babelnet", "wikidiverse"): (95.01, 11.11),
    ("wordnet", "vwsd"): (97.84, 6.94),
    ("wordnet", "verse"): (100.00, 27.11),
    ("wordnet", "wikidiverse"): (31.50, 0.84),
}


@dataclass(frozen=True)
class Coverage:
    """Share of items with at least one sense, and senses per item, over all items."""

    items: int
    covered: int
    senses: int

    @property
    def percent(self) -> float:
        """Coverage in percent."""
        return 100.0 * self.covered / self.items if self.items else math.nan

    @property
    def ambiguity(self) -> float:
        """Mean number of senses; items without any count as 0."""
        return self.senses / self.items if self.items else math.nan


def measure(terms: Sequence[str], senses: Callable[[str], int]) -> Coverage:
    """Coverage over one term per item; ``senses`` counts those of a term."""
    known = {term: senses(term) for term in dict.fromkeys(terms)}
    counts = [known[term] for term in terms]
    return Coverage(len(counts), sum(count > 0 for count in counts), sum(counts))
