"""Signs that an entry deserves a look: shown beside the numbers, never a judgement.

Each sign is one small function and one line in ``SIGNS``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from leaderboard.scoring import BoardScore

CHANCE = 0.1
ALPHA = 0.001

# Entries whose answers agree on so large a share of items that no two models of their own would.
TWINS = 0.98
# Beyond so many entries only those are compared that agree on the first fifty items.
ALL_PAIRS = 200


@dataclass(frozen=True)
class Answers:
    """One entry's scores on one task, with the place of the gold of each item."""

    scores: Sequence[BoardScore]
    golds: Sequence[int]


def signs_of(by_task: Mapping[str, Answers]) -> list[str]:
    """What stands out in one entry, in words; empty when nothing does."""
    return [
        f"{task}: {text}"
        for task, answers in by_task.items()
        for sign in SIGNS
        if (text := sign(answers))
    ]


def constant(answers: Answers) -> str:
    """Nearly all items tie all their candidates: the entry says the same to everything."""
    valid = [s for s in answers.scores if s.ranks]
    tied = sum(1 for s in valid if s.ranks and len(set(s.ranks)) == 1)
    if not valid or tied < 0.9 * len(valid):
        return ""
    return f"gives all candidates the same score on {tied} of {len(valid)} items"


def positional(answers: Answers) -> str:
    """First choices pile up on one place, more than the golds do (exact binomial test)."""
    from scipy import stats

    choices = [s.choice for s in answers.scores if s.choice is not None]
    if len(choices) < 20:
        return ""
    places = max(len(answers.scores[0].ranks or ()), 10)
    counts = [choices.count(place) for place in range(places)]
    top = max(counts)
    place = counts.index(top)
    share = max(1 / places, answers.golds.count(place) / len(answers.golds))
    p = stats.binomtest(top, len(choices), share, alternative="greater").pvalue * places
    if p >= ALPHA or top < 0.3 * len(choices):
        return ""
    return f"puts candidate {place + 1} first on {top} of {len(choices)} items"


def chance_level(answers: Answers) -> str:
    """Hits@1 is what guessing gives."""
    from scipy import stats

    n = len(answers.scores)
    hits = math.fsum(s.hits1 for s in answers.scores)
    low = stats.binom.ppf(0.025, n, CHANCE)
    high = stats.binom.ppf(0.975, n, CHANCE)
    return "does not differ from guessing" if low <= hits <= high else ""


def hard_gold(answers: Answers) -> str:
    """Certainty that looks copied: the gold alone gets a score, on nearly every item."""
    ok = [
        (s.scores, gold)
        for s, gold in zip(answers.scores, answers.golds, strict=True)
        if s.scores is not None
    ]
    if len(ok) < 20:
        return ""
    exact = sum(
        1
        for scores, gold in ok
        if scores[gold] == max(scores) and len({v for i, v in enumerate(scores) if i != gold}) == 1
    )
    if exact < 0.95 * len(ok):
        return ""
    return f"gives the gold one score and all others another on {exact} of {len(ok)} items"


SIGNS: tuple[Callable[[Answers], str], ...] = (constant, positional, chance_level, hard_gold)


def near_gold(hits: Mapping[str, float], expected: Mapping[str, tuple[float, float]]) -> list[str]:
    """Tasks on which an entry is far better than its other tasks explain.

    hits : Hits@1 of the entry per task. expected : per task, what the entry's other tasks predict
    and the standard deviation of that prediction over all entries.
    """
    found = []
    for task, (value, spread) in expected.items():
        if task in hits and spread > 0 and (hits[task] - value) / spread > 4:
            found.append(
                f"{task}: {100 * hits[task]:.1f}% where the entry's other tasks let expect "
                f"{100 * value:.1f}%"
            )
    return found


def expectations(
    hits: Mapping[str, Mapping[str, float]],
) -> dict[str, dict[str, tuple[float, float]]]:
    """For every entry and task: Hits@1 predicted from its mean on the other tasks, and the spread.

    hits : entry -> task -> Hits@1. A straight line per task, fitted to the other entries only, so
    that an entry does not explain itself. Needs eight entries with all tasks; else empty.
    """
    import numpy as np

    tasks = sorted({task for by_task in hits.values() for task in by_task})
    entries = [entry for entry, by_task in hits.items() if len(by_task) == len(tasks)]
    found: dict[str, dict[str, tuple[float, float]]] = {}
    if len(tasks) < 2 or len(entries) < 8:
        return found
    table = np.array([[hits[entry][task] for task in tasks] for entry in entries])
    for column, task in enumerate(tasks):
        others = np.delete(table, column, axis=1).mean(axis=1)
        for place, entry in enumerate(entries):
            keep = np.arange(len(entries)) != place
            slope, start = np.polyfit(others[keep], table[keep, column], 1)
            rest = table[keep, column] - (slope * others[keep] + start)
            spread = float(np.sqrt((rest**2).sum() / max(1, len(rest) - 2)))
            value = float(slope * others[place] + start)
            found.setdefault(entry, {})[task] = (value, spread)
    return found


def twins(ranks: Mapping[str, Sequence[tuple[float, ...] | None]]) -> list[tuple[str, str, float]]:
    """Pairs of entries that rank the candidates alike on nearly every item.

    ranks : entry -> ranks per item, items in one order. Returns entry, entry, share of items.
    """
    entries = list(ranks)
    pairs: Iterable[tuple[str, str]] = combinations(entries, 2)
    if len(entries) > ALL_PAIRS:
        buckets: dict[int, list[str]] = {}
        for entry in entries:
            buckets.setdefault(hash(tuple(ranks[entry][:50])), []).append(entry)
        pairs = [pair for bucket in buckets.values() for pair in combinations(bucket, 2)]
    found = []
    for one, other in pairs:
        both = [
            a == b
            for a, b in zip(ranks[one], ranks[other], strict=True)
            # ties throughout say nothing about who copied whom
            if a is not None and b is not None and len(set(a)) > 1
        ]
        if len(both) >= 20 and sum(both) >= TWINS * len(both):
            found.append((one, other, sum(both) / len(both)))
    return found
