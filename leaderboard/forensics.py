"""Signs that an entry deserves a look: shown beside the numbers, never a judgement.

Those that look at one entry and one task are the kind's own (``Kind.signs``).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations

ALPHA = 0.001

# Entries whose answers agree on so large a share of items that no two models of their own would.
TWINS = 0.98
# Beyond so many entries only those are compared that agree on the first fifty items.
ALL_PAIRS = 200


def rose(before: Sequence[float], now: Sequence[float]) -> str:
    """An attempt is better than an earlier one by more than luck; a rerun should hardly differ.

    before, now : 0/1 (or shares, under ties) of the items that both answered, in one order.
    """
    from leaderboard.stats import mcnemar_exact

    if not before or sum(now) <= sum(before) or mcnemar_exact(now, before).p >= ALPHA:
        return ""
    old, new = (100 * sum(values) / len(values) for values in (before, now))
    return f"{new:.1f}% instead of {old:.1f}% on the {len(now)} items that both answered"


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


def twins(traits: Mapping[str, Sequence[Hashable]]) -> list[tuple[str, str, int, int]]:
    """Pairs of entries that answer alike on nearly every item that both answered.

    traits : entry -> what its answer to each item is like (``Kind.trait``), items in one order;
    None says nothing. Returns entry, entry, items answered alike, items compared.
    """
    entries = list(traits)
    pairs: Iterable[tuple[str, str]] = combinations(entries, 2)
    if len(entries) > ALL_PAIRS:
        buckets: dict[int, list[str]] = {}
        for entry in entries:
            buckets.setdefault(hash(tuple(traits[entry][:50])), []).append(entry)
        pairs = [pair for bucket in buckets.values() for pair in combinations(bucket, 2)]
    found = []
    for one, other in pairs:
        both = [
            a == b
            for a, b in zip(traits[one], traits[other], strict=True)
            if a is not None and b is not None
        ]
        if len(both) >= 20 and sum(both) >= TWINS * len(both):
            found.append((one, other, sum(both), len(both)))
    return found
