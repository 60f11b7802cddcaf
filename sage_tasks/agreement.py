"""Agreement between annotators of a sample (SAGE, Tables 9, 11, 12, 13 and 16). Pure functions.

Answers are given per item; an item that not every annotator answered is left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wordsight.errors import DataError, WordsightError

Answers = Mapping[str, str]
"""Item -> answer of one annotator; an empty answer means not answered."""


@dataclass(frozen=True)
class Agreement:
    """How far annotators agree.

    items : items that everyone answered; unanswered : items that someone left open.
    unanimous, two_of_three, all_different : numbers of items; the last two are None for two
        annotators.
    coefficient, value : "Fleiss' kappa" for three or more annotators, "Gwet's AC1" for two; None
        where it is not defined (one category only, or no item).
    """

    annotators: int
    items: int
    unanswered: int
    unanimous: int
    two_of_three: int | None
    all_different: int | None
    coefficient: str
    value: float | None

    @property
    def percent(self) -> float:
        """Unanimous items in percent of all."""
        return 100 * self.unanimous / self.items if self.items else 0.0


def agreement(answers: Sequence[Answers], categories: int) -> Agreement:
    """Agreement of two or more annotators over the same items.

    categories : how many answers were on offer (ten pictures; two for yes and no).
    Raises DataError for fewer than two annotators, or more than three.
    """
    if len(answers) not in (2, 3):
        raise DataError(f"{len(answers)} annotators; agreement is defined here for two or three")
    items = sorted(set().union(*answers))
    rows = [row for item in items if all(row := [given.get(item, "") for given in answers])]
    patterns = Counter(len(set(row)) for row in rows)
    three = len(answers) == 3
    return Agreement(
        annotators=len(answers),
        items=len(rows),
        unanswered=len(items) - len(rows),
        unanimous=patterns[1],
        two_of_three=patterns[2] if three else None,
        all_different=patterns[3] if three else None,
        coefficient="Fleiss' kappa" if three else "Gwet's AC1",
        value=fleiss_kappa(rows) if three else gwet_ac1(rows, categories),
    )


def fleiss_kappa(rows: Sequence[Sequence[str]]) -> float | None:
    """Fleiss' kappa of rows of answers; None when chance agreement is complete.

    Raises WordsightError where statsmodels is not installed.
    """
    try:
        from statsmodels.stats.inter_rater import aggregate_raters
        from statsmodels.stats.inter_rater import fleiss_kappa as kappa
    except ImportError:
        raise WordsightError(
            "Fleiss' kappa needs statsmodels: `pip install 'wordsight[leaderboard]'`"
        ) from None
    if len({answer for row in rows for answer in row}) < 2:
        return None
    counts, _ = aggregate_raters([list(row) for row in rows])
    return float(kappa(counts, method="fleiss"))


def gwet_ac1(rows: Sequence[Sequence[str]], categories: int) -> float | None:
    """Gwet's AC1 of two annotators over a fixed number of categories (Gwet 2008, equation 6).

    Chance agreement is sum p (1 - p) / (categories - 1), p being the share of a category in all
    answers. Written out because the one package that has it holds numpy at an old version.
    """
    if not rows or categories < 2:
        return None
    observed = sum(first == second for first, second in rows) / len(rows)
    shares = Counter(answer for row in rows for answer in row)
    total = 2 * len(rows)
    chance = sum(n / total * (1 - n / total) for n in shares.values()) / (categories - 1)
    return (observed - chance) / (1 - chance)


def majority(answers: Sequence[Answers]) -> dict[str, str]:
    """Item -> the answer that more than half of the annotators gave, where there is one."""
    chosen: dict[str, str] = {}
    for item in set().union(*answers):
        given = Counter(a[item] for a in answers if a.get(item))
        if given:
            answer, votes = given.most_common(1)[0]
            if 2 * votes > len(answers):
                chosen[item] = answer
    return chosen


def mismatches(answers: Sequence[Answers], gold: Mapping[str, str]) -> list[str]:
    """Items whose majority answer is not the gold, sorted (Tables 12 and 13)."""
    return sorted(
        item for item, answer in majority(answers).items() if item in gold and answer != gold[item]
    )


def category_counts(categories: Sequence[Answers], items: Sequence[str]) -> dict[str, int]:
    """How often each category stands on the given items, one vote per item.

    The majority's category counts; without one, the item is under "no majority".
    """
    chosen = majority(categories)
    named = [item for item in items if any(given.get(item) for given in categories)]
    return dict(Counter(chosen.get(item, "no majority") for item in named).most_common())
