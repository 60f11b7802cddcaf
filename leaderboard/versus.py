"""Tests of entries against one other, and of a task against its variant, keyed by entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.compute import Ranked, Scores
from leaderboard.records import Comparison


def versus(other: str, ranked: Ranked) -> dict[str, Comparison]:
    """Every entry against one other by the first measure, corrected over all of them.

    On one task of independent items: exact McNemar for p, the paired bootstrap for the interval.
    On items in groups, or several tasks: the paired bootstrap of groups, or of the macro average,
    for both; sign flips and Student's t where these are few.
    """
    from leaderboard.stats import difference_pairs, mcnemar_exact

    entries = ranked.entries
    if other not in entries:
        return {}
    place = entries.index(other)
    tests: dict[str, Comparison] = {}
    for column, entry in enumerate(entries):
        if entry == other:
            continue
        pair = [column, place]
        found = difference_pairs(
            [v[:, pair] for v in ranked.first],
            means=ranked.first_means[:, pair],
            clusters=ranked.clusters,
        )
        (paired,) = found.rows()
        p, method = paired.p, f"{paired.method}, macro average"
        if ranked.single:
            first = ranked.single.first
            method = f"{paired.method}, whole groups"
            if ranked.single.clusters is None:
                p, method = mcnemar_exact(first[:, column], first[:, place]).p, "exact McNemar"
        tests[entry] = _test(other, found, p, method)
    return _corrected(tests)


def deltas(
    minuend: Scores,
    subtrahend: Scores,
    minuend_sources: Sequence[str],
    subtrahend_sources: Sequence[str],
) -> dict[str, Comparison]:
    """The first measure on one task minus that on another, over items of one source, per entry.

    *_sources : source id of each item, in the order of the score arrays. Entries without both
    tasks, and sources without both items, are left out.
    """
    from leaderboard.stats import bootstrap_means, difference_pairs

    entries = [entry for entry in minuend.entries if entry in set(subtrahend.entries)]
    place = {source: i for i, source in enumerate(subtrahend_sources)}
    rows = [(i, place[s]) for i, s in enumerate(minuend_sources) if s in place]
    if not rows or not entries:
        return {}
    import numpy as np

    first, second = (list(part) for part in zip(*rows, strict=True))
    upper, lower = minuend.only(entries).part(first), subtrahend.only(entries).part(second)
    groups = upper.clusters
    means = bootstrap_means(np.hstack([upper.first, lower.first]), clusters=groups)
    tests: dict[str, Comparison] = {}
    for column, entry in enumerate(entries):
        pair = [column, len(entries) + column]
        both = np.stack([upper.first[:, column], lower.first[:, column]], axis=1)
        found = difference_pairs(both, means=means[:, pair], clusters=groups)
        method = f"paired over {len(rows)} sources"
        tests[entry] = _test("", found, float(found.p[0]), method)
    return _corrected(tests)


def _test(other: str, found: Any, p: float, method: str) -> Comparison:
    return Comparison(
        other=other,
        difference=float(found.difference[0]),
        low=float(found.low[0]),
        high=float(found.high[0]),
        p=p,
        p_adjusted=p,
        p_screening=p,
        method=method,
    )


def _corrected(tests: Mapping[str, Comparison]) -> dict[str, Comparison]:
    """The tests with Holm's and Benjamini and Hochberg's p over all of them."""
    from leaderboard.stats import benjamini_hochberg, holm

    p = [test.p for test in tests.values()]
    corrected = zip(tests.items(), holm(p), benjamini_hochberg(p), strict=True)
    return {
        entry: test.model_copy(update={"p_adjusted": float(claim), "p_screening": float(screen)})
        for (entry, test), claim, screen in corrected
    }
