"""Two entries against each other on one task: what differs, and whether it could be luck."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from leaderboard.board import Entry, current_entries, find_entry
from leaderboard.scoring import STATUSES, BoardScore
from leaderboard.site.formats import count, limits_signed, p_value, signed
from leaderboard.stats import difference_pairs, mcnemar_pairs, smallest_detectable_difference
from leaderboard.store import Store
from wordsight.errors import DataError

Answer = Literal["yes", "no", "cannot tell"]

ALPHA = 0.05
# Above this share of unanswered items a difference says more about the run than about the model.
MOST_MISSING = 0.05


class Duel(BaseModel):
    """Entry a against entry b by Hits@1 on one task; difference = a minus b.

    wins, losses : items that only a, only b, puts right (fractional under ties).
    mrr_* : the same difference by MRR. detectable : the smallest true difference that a test on
    these items would find in 80 of 100 cases, given how often the two disagree; None where they
    would find none that often.
    missing_a, missing_b : items without an answer; they count as wrong.
    answer : is a better than b? "yes", "no" (b is better) or "cannot tell", at p < 0.05. Where one
    of the two leaves more than one item in twenty unanswered, the items cannot tell.
    """

    model_config = ConfigDict(frozen=True)

    task: str
    a: str
    b: str
    label_a: str
    label_b: str
    items: int
    hits1_a: float
    hits1_b: float
    difference: float
    low: float
    high: float
    p: float
    wins: float
    losses: float
    mrr_difference: float
    mrr_low: float
    mrr_high: float
    mrr_p: float
    detectable: float | None
    missing_a: int = 0
    missing_b: int = 0
    answer: Answer


def duel(store: Store, task: str, a: str, b: str) -> Duel:
    """Compare two entries, named by label or id. Raises DataError for an unknown one."""
    entries = [e for e in current_entries(store) if task in e.by_task]
    store.catalog.task(task)
    first, second = find_entry(entries, a), find_entry(entries, b)
    if first.id == second.id:
        raise DataError(f"{first.label!r} cannot be compared with itself")
    return duels(store, task, [first, second])[0]


def duels(store: Store, task: str, entries: Sequence[Entry]) -> list[Duel]:
    """Every pair of the entries, each with the earlier one as a."""
    matrix = store.matrix(task, [entry.by_task[task].id for entry in entries])
    n = len(matrix.hits1)
    means = [math.fsum(column) / n for column in matrix.hits1.T]
    tests = mcnemar_pairs(matrix.hits1)
    missing = (matrix.status == STATUSES.index("missing")).sum(axis=0)
    by_hits, by_mrr = difference_pairs(matrix.hits1), difference_pairs(matrix.mrr)
    found = []
    for k, (i, j) in enumerate(zip(tests.first, tests.second, strict=True)):
        wins, losses, p = float(tests.wins[k]), float(tests.losses[k]), float(tests.p[k])
        better: Answer = "yes" if wins > losses else "no"
        whole = max(missing[i], missing[j]) <= MOST_MISSING * n
        found.append(
            Duel(
                task=task,
                a=entries[i].id,
                b=entries[j].id,
                label_a=entries[i].label,
                label_b=entries[j].label,
                items=n,
                hits1_a=means[i],
                hits1_b=means[j],
                difference=float(by_hits.difference[k]),
                low=float(by_hits.low[k]),
                high=float(by_hits.high[k]),
                p=p,
                wins=wins,
                losses=losses,
                mrr_difference=float(by_mrr.difference[k]),
                mrr_low=float(by_mrr.low[k]),
                mrr_high=float(by_mrr.high[k]),
                mrr_p=float(by_mrr.p[k]),
                detectable=smallest_detectable_difference(n, (wins + losses) / n),
                missing_a=int(missing[i]),
                missing_b=int(missing[j]),
                answer=better if p < ALPHA and whole else "cannot tell",
            )
        )
    return found


class Disagreement(BaseModel):
    """An item that one entry puts right and the other not."""

    model_config = ConfigDict(frozen=True)

    item: str
    term: str
    context: str
    hits1_a: float
    hits1_b: float
    gold_rank_a: float | None
    gold_rank_b: float | None


def disagreeing(store: Store, found: Duel) -> list[Disagreement]:
    """The items on which the two entries disagree, largest gap first."""
    entries = {entry.id: entry for entry in current_entries(store)}
    first, second = (
        store.scores(entries[entry].by_task[found.task].id, found.task)
        for entry in (found.a, found.b)
    )
    queries = store.gold(found.task).queries
    return [
        Disagreement(
            item=queries[place].id,
            term=queries[place].term,
            context=queries[place].context,
            hits1_a=first[place].hits1,
            hits1_b=second[place].hits1,
            gold_rank_a=_rank(first[place], queries[place].gold),
            gold_rank_b=_rank(second[place], queries[place].gold),
        )
        for place in disagreements(first, second)
    ]


def sentence(found: Duel) -> str:
    """The verdict in words, with all it rests on."""
    words = {
        "yes": f"Yes: {found.label_a} is better than {found.label_b}",
        "no": f"No: {found.label_b} is better than {found.label_a}",
        "cannot tell": f"Cannot tell {found.label_a} and {found.label_b} apart",
    }
    return (
        f"{words[found.answer]} on {found.task} ({found.items} items).\n"
        f"Hits@1 {100 * found.hits1_a:.1f}% and {100 * found.hits1_b:.1f}%, difference "
        f"{signed(found.difference)} points ({limits_signed(found)}), exact McNemar p "
        f"{p_value(found.p)}, {count(found.wins)} items right only by the first, "
        f"{count(found.losses)} only by the second.\n"
        f"{_missing(found)}{_power(found)}"
    )


def _missing(found: Duel) -> str:
    if not found.missing_a and not found.missing_b:
        return ""
    return (
        f"Items without an answer, which count as wrong: {found.missing_a} of the first, "
        f"{found.missing_b} of the second.\n"
    )


def _power(found: Duel) -> str:
    if found.detectable is None:
        return "The two disagree on too few items for any difference to be found reliably."
    points = f"{100 * found.detectable:.1f}"
    return f"A true difference of {points} points would be found in 80 of 100 cases."


def badge_svg(found: Duel) -> str:
    """The verdict as a small picture; labels are patterns of safe characters, escaped anyway."""
    from html import escape

    left = f"{found.label_a} better than {found.label_b}? ({found.task})"
    right = found.answer
    colour = {"yes": "#147a44", "no": "#b3261e", "cannot tell": "#5b646e"}[found.answer]
    wide, narrow = 16 + int(6.6 * len(left)), 16 + int(6.8 * len(right))
    title = escape(sentence(found))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide + narrow}" height="22" role="img">'
        f"<title>{title}</title>"
        f'<rect width="{wide}" height="22" fill="#32383e"/>'
        f'<rect x="{wide}" width="{narrow}" height="22" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="8" y="15" textLength="{wide - 16}">{escape(left)}</text>'
        f'<text x="{wide + 8}" y="15" textLength="{narrow - 16}">{escape(right)}</text></g></svg>\n'
    )


def disagreements(first: Sequence[BoardScore], second: Sequence[BoardScore]) -> list[int]:
    """Places of the items on which one is right and the other not, largest gap in MRR first."""
    places = [
        place for place, (x, y) in enumerate(zip(first, second, strict=True)) if x.hits1 != y.hits1
    ]
    return sorted(places, key=lambda place: -abs(first[place].mrr - second[place].mrr))


def _rank(score: BoardScore, gold: int) -> float | None:
    return None if score.ranks is None else score.ranks[gold]
