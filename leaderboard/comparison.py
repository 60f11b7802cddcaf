"""Two entries against each other on one task: what differs, and whether it could be luck."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Literal

from pydantic import BaseModel, ConfigDict

from leaderboard.entries import Entry, current_entries, find_entry
from leaderboard.score_files import Matrix
from leaderboard.scoring import STATUSES, ItemScore, Measure, value
from leaderboard.site.formats import counted, limits_signed, p_value, signed
from leaderboard.stats import (
    DifferencePairs,
    benjamini_hochberg,
    difference_pairs,
    holm,
    mcnemar_pairs,
    smallest_detectable_difference,
)
from leaderboard.store import Store
from wordsight.errors import DataError

Answer = Literal["yes", "no", "cannot tell", "no verdict"]

ALPHA = 0.05
# Above this share of unanswered items a difference says more about the run than about the model.
MOST_MISSING = 0.05
# 4,950 pairs: more are not corrected for, since testing them all would take minutes.
MAX_FAMILY = 100


class Gap(BaseModel):
    """Entry a and entry b on one measure; difference = a minus b, with its interval and p."""

    model_config = ConfigDict(frozen=True)

    measure: str
    label: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    p: float


class Duel(BaseModel):
    """Entry a against entry b on one task; difference, interval and p by its first measure.

    gaps : every measure that both have, the first one first. wins, losses : items that only a, only
    b, puts right (fractional under ties). groups : of items that count as one trial; None for
    independent items. detectable : the smallest true difference that a test on these items would
    find in 80 of 100 cases, given how often the two disagree; None where they would find none that
    often, and for items in groups.
    missing_a, missing_b : items without an answer; they count as wrong.
    pairs, p_holm, p_screening : how many pairs of entries the task has, and p with Holm's
    correction (claims) and Benjamini and Hochberg's (looking around) over them all; None beyond
    ``MAX_FAMILY`` entries.
    answer : is a better than b? "yes", "no" (b is better) or "cannot tell", for this one pair; yes
    and no need p < 0.05 and an interval without zero. "no verdict" where one of the two leaves more
    than one item in twenty unanswered (``MOST_MISSING``).
    """

    model_config = ConfigDict(frozen=True)

    task: str
    a: str
    b: str
    label_a: str
    label_b: str
    items: int
    groups: int | None
    gaps: list[Gap]
    difference: float
    low: float
    high: float
    p: float
    method: str
    wins: float
    losses: float
    detectable: float | None
    missing_a: int = 0
    missing_b: int = 0
    pairs: int
    p_holm: float | None
    p_screening: float | None
    answer: Answer


def duel(store: Store, task: str, a: str, b: str) -> Duel:
    """Compare two entries, named by label or id. Raises DataError for an unknown one."""
    store.catalog.task(task)
    entries = [e for e in current_entries(store) if task in e.by_task]
    first, second = find_entry(entries, a), find_entry(entries, b)
    if first.id == second.id:
        raise DataError(f"{first.label!r} cannot be compared with itself")
    chosen = [first, second]
    return duels(store, task, chosen, [*chosen, *(e for e in entries if e not in chosen)])[0]


def duels(
    store: Store, task: str, entries: Sequence[Entry], family: Sequence[Entry] = ()
) -> list[Duel]:
    """Every pair of the entries, each with the earlier one as a.

    family : all entries whose pairs the corrections count, the compared ones first; by default
    these alone.
    """
    gold = store.gold(task)
    corrected = len(family or entries) <= MAX_FAMILY
    family = (family or entries) if corrected else entries
    matrix = store.matrix(task, [entry.by_task[task].id for entry in family])
    blank = [gold.kind.lacking(task, interface) for interface in matrix.interfaces]
    wanted = list(combinations(range(len(entries)), 2))
    gaps = {
        measure: difference_pairs(matrix.values[measure.name], pairs=wanted, clusters=gold.clusters)
        for measure in gold.kind.measures
    }
    main = gaps[gold.kind.first]
    counts = mcnemar_pairs(matrix.values[gold.kind.first.name])
    place = {pair: k for k, pair in enumerate(zip(counts.first, counts.second, strict=True))}
    p = counts.p
    rules = ["exact McNemar"] * len(wanted)
    if gold.clusters is not None:
        p = difference_pairs(matrix.values[gold.kind.first.name], clusters=gold.clusters).p
        rules = [f"{one.method}, whole groups" for one in main.rows()]
    holms, screens = holm(p), benjamini_hochberg(p)
    missing = (matrix.status == STATUSES.index("missing")).sum(axis=0)
    found = []
    for row, (i, j) in enumerate(wanted):
        k = place[i, j]
        wins, losses = float(counts.wins[k]), float(counts.losses[k])
        answer: Answer = "cannot tell"
        if max(missing[i], missing[j]) > MOST_MISSING * len(gold):
            answer = "no verdict"
        elif p[k] < ALPHA and not main.low[row] <= 0 <= main.high[row]:
            answer = "yes" if main.difference[row] > 0 else "no"
        found.append(
            Duel(
                task=task,
                a=entries[i].id,
                b=entries[j].id,
                label_a=entries[i].label,
                label_b=entries[j].label,
                items=len(gold),
                groups=None if gold.clusters is None else len(set(gold.clusters)),
                gaps=[
                    _gap(measure, matrix, tests, (row, i, j))
                    for measure, tests in gaps.items()
                    if measure.name not in blank[i] | blank[j]
                ],
                difference=float(main.difference[row]),
                low=float(main.low[row]),
                high=float(main.high[row]),
                p=float(p[k]),
                method=rules[row],
                wins=wins,
                losses=losses,
                detectable=None
                if gold.clusters is not None
                else smallest_detectable_difference(len(gold), (wins + losses) / len(gold)),
                missing_a=int(missing[i]),
                missing_b=int(missing[j]),
                pairs=len(p) if corrected else 0,
                p_holm=float(holms[k]) if corrected else None,
                p_screening=float(screens[k]) if corrected else None,
                answer=answer,
            )
        )
    return found


def _gap(
    measure: Measure, matrix: Matrix, tests: DifferencePairs, place: tuple[int, int, int]
) -> Gap:
    row, i, j = place
    values = matrix.values[measure.name]
    return Gap(
        measure=measure.name,
        label=measure.label,
        a=math.fsum(values[:, i]) / len(values),
        b=math.fsum(values[:, j]) / len(values),
        difference=float(tests.difference[row]),
        low=float(tests.low[row]),
        high=float(tests.high[row]),
        p=float(tests.p[row]),
    )


class Disagreement(BaseModel):
    """An item that one entry puts right and the other not, by the first measure.

    answer_a, answer_b : what each answered, in a few words.
    """

    model_config = ConfigDict(frozen=True)

    item: str
    term: str
    context: str
    value_a: float
    value_b: float
    answer_a: str
    answer_b: str


def disagreeing(store: Store, found: Duel) -> list[Disagreement]:
    """The items on which the two entries disagree, largest gap first."""
    entries = {entry.id: entry for entry in current_entries(store)}
    first, second = (
        store.scores(entries[entry].by_task[found.task].id, found.task)
        for entry in (found.a, found.b)
    )
    gold = store.gold(found.task)
    name = gold.kind.first.name
    return [
        Disagreement(
            item=gold.summaries[place].id,
            term=gold.summaries[place].term,
            context=gold.summaries[place].context,
            value_a=value(first[place], name),
            value_b=value(second[place], name),
            answer_a=gold.told(first[place]),
            answer_b=gold.told(second[place]),
        )
        for place in disagreements(gold.kind.measures, first, second)
    ]


def sentence(found: Duel) -> str:
    """The verdict in words, with all it rests on."""
    question = f"Is {found.label_a} better than {found.label_b} on {found.task}?"
    words = {
        "yes": "Yes.",
        "no": f"No. {found.label_b} is the better one.",
        "cannot tell": "These items cannot tell.",
        "no verdict": f"No verdict: {_unanswered(found)}; they count as wrong, so the difference "
        "says little about the models.",
    }
    first = found.gaps[0]
    size = counted(found.items, "item")
    if found.groups:
        size += f" in {counted(found.groups, 'group')}"
    return (
        f"{question} {words[found.answer]}\n"
        f"{first.label} {100 * first.a:.1f}% and {100 * first.b:.1f}% ({size}), difference "
        f"{signed(found.difference)} points ({limits_signed(found)}), p {p_value(found.p)} "
        f"({found.method}), {counted(found.wins, 'item')} right only by the first, "
        f"{counted(found.losses, 'item')} only by the second.\n"
        f"{_family(found)}{_missing(found)}{_power(found)}"
    )


def _family(found: Duel) -> str:
    if found.p_holm is None or found.p_screening is None or found.pairs < 2:
        return ""
    return (
        f"Among all {found.pairs} pairs of entries: p {p_value(found.p_holm)} by Holm (for "
        f"claims), {p_value(found.p_screening)} by Benjamini-Hochberg (for looking around).\n"
    )


def _unanswered(found: Duel) -> str:
    """Which of the two leaves how many items unanswered, where these are more than allowed."""
    sides = (("the first", found.missing_a), ("the second", found.missing_b))
    return " and ".join(
        f"{who} left {missing} of {counted(found.items, 'item')} unanswered"
        for who, missing in sides
        if missing > MOST_MISSING * found.items
    )


def _missing(found: Duel) -> str:
    if not found.missing_a and not found.missing_b:
        return ""
    return (
        f"Items without an answer, which count as wrong: {found.missing_a} of the first, "
        f"{found.missing_b} of the second.\n"
    )


def _power(found: Duel) -> str:
    if found.groups is not None:
        return "Items of one group count as one trial."
    if found.detectable is None:
        return "The two disagree on too few items for any difference to be found reliably."
    points = f"{100 * found.detectable:.1f}"
    return f"A true difference of {points} points would be found in 80 of 100 cases."


def badge_svg(found: Duel) -> str:
    """The verdict as a small picture; labels are patterns of safe characters, escaped anyway."""
    from html import escape

    left = f"{found.label_a} better than {found.label_b}? ({found.task})"
    right = found.answer
    colour = {"yes": "#147a44", "no": "#b3261e"}.get(found.answer, "#5b646e")
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


def disagreements(
    measures: Sequence[Measure], first: Sequence[ItemScore], second: Sequence[ItemScore]
) -> list[int]:
    """Places of the items that only one puts right by the first measure.

    Largest gap in the second measure first.
    """
    main, finer = measures[0].name, measures[1].name
    places = [
        place
        for place, (x, y) in enumerate(zip(first, second, strict=True))
        if value(x, main) != value(y, main)
    ]

    def gap(place: int) -> float:
        return abs(value(first[place], finer) - value(second[place], finer))

    return sorted(places, key=lambda place: -gap(place))
