"""From score matrices to estimates, tests and rank ranges, keyed by entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from leaderboard.records import Comparison, Estimate, TaskAgreement

if TYPE_CHECKING:
    import numpy as np

    from leaderboard.stats import Interval

    Array = np.ndarray[Any, np.dtype[np.float64]]


MAX_AGREEING = 60


@dataclass(frozen=True)
class Scores:
    """Scores of one task: arrays of shape (n_items, n_entries), columns as ``entries``."""

    entries: tuple[str, ...]
    hits1: Array
    mrr: Array

    def only(self, entries: Sequence[str]) -> Scores:
        """The columns of these entries, in this order."""
        columns = [self.entries.index(entry) for entry in entries]
        return Scores(tuple(entries), self.hits1[:, columns], self.mrr[:, columns])

    @cached_property
    def hits1_means(self) -> Array:
        """Resampled means of Hits@1, shared by every interval and test: (resamples, n_entries)."""
        from leaderboard.stats import bootstrap_means

        return bootstrap_means(self.hits1)


def estimates(scores: Scores) -> dict[str, tuple[Estimate, Estimate]]:
    """Hits@1 and MRR of every entry on one task."""
    from leaderboard.stats import mean_intervals

    hits1 = mean_intervals(scores.hits1, kind="hits1", means=scores.hits1_means)
    mrr = mean_intervals(scores.mrr, kind="mrr")
    pairs = zip(hits1, mrr, strict=True)
    return {
        entry: (_estimate(h), _estimate(m))
        for entry, (h, m) in zip(scores.entries, pairs, strict=True)
    }


def by_term(scores: Scores, terms: Sequence[str]) -> dict[str, Estimate]:
    """Hits@1 of every entry with whole terms resampled; empty where no term has two items.

    terms : the term of each item, in the order of the scores.
    """
    from leaderboard.stats import mean_intervals

    if len(set(terms)) == len(terms):
        return {}
    found = mean_intervals(scores.hits1, kind="hits1", clusters=terms)
    return {e: _estimate(interval) for e, interval in zip(scores.entries, found, strict=True)}


@dataclass(frozen=True)
class Ranked:
    """The ranked tasks' scores of the entries that have them all, columns in one order."""

    subsets: tuple[Scores, ...]

    @property
    def entries(self) -> tuple[str, ...]:
        return self.subsets[0].entries if self.subsets else ()

    @property
    def single(self) -> Scores | None:
        """The only task, where there is one; several have a macro average instead."""
        return self.subsets[0] if len(self.subsets) == 1 else None

    @property
    def hits1(self) -> list[Array]:
        """Hits@1 per task."""
        return [scores.hits1 for scores in self.subsets]

    @cached_property
    def hits1_means(self) -> Array:
        """Resampled (macro) means, shared by intervals, ranks and tests."""
        from leaderboard.stats import bootstrap_macro

        return self.single.hits1_means if self.single else bootstrap_macro(self.hits1)


def overall(ranked: Ranked) -> dict[str, tuple[Estimate, Estimate]]:
    """Hits@1 and MRR over all ranked tasks: the task's own, or the macro average of several."""
    from leaderboard.stats import macro_intervals

    if not ranked.entries:
        return {}
    if ranked.single:
        return estimates(ranked.single)
    hits1 = macro_intervals(ranked.hits1, kind="hits1", means=ranked.hits1_means)
    mrr = macro_intervals([s.mrr for s in ranked.subsets], kind="mrr")
    return {
        entry: (_estimate(h), _estimate(m))
        for entry, h, m in zip(ranked.entries, hits1, mrr, strict=True)
    }


def rank_ranges(ranked: Ranked) -> dict[str, tuple[int, int]]:
    """Best and worst place by Hits@1 (macro average) of every entry, true together at 95%."""
    from leaderboard.stats import rank_sets

    if not ranked.entries:
        return {}
    values = ranked.single.hits1 if ranked.single else ranked.hits1
    found = rank_sets(values, means=ranked.hits1_means)
    return dict(zip(ranked.entries, found, strict=True))


def smallest_difference(scores: Scores) -> float | None:
    """What difference in Hits@1 a typical pair of entries could show on these items."""
    from leaderboard.stats import detectable_difference

    return detectable_difference(scores.hits1)


def agreements(names: Sequence[str], ranked: Ranked) -> list[TaskAgreement]:
    """tau-b between every two tasks over the entries that have all of them.

    Left out where one task ties all entries (tau has no value), and beyond ``MAX_AGREEING``
    entries, where the resampled orders would take minutes.
    """
    import math

    from leaderboard.stats import subset_agreement

    if ranked.single or not 2 < len(ranked.entries) <= MAX_AGREEING:
        return []
    return [
        TaskAgreement(
            first=names[found.first],
            second=names[found.second],
            tau=found.tau,
            low=found.low,
            high=found.high,
            p=found.p,
        )
        for found in subset_agreement(ranked.hits1)
        if not math.isnan(found.tau) and found.low is not None and found.high is not None
    ]


def versus(other: str, ranked: Ranked) -> dict[str, Comparison]:
    """Every entry against one other by Hits@1, with Holm's correction over all of them.

    On one task: exact McNemar for p, the paired bootstrap for the interval. On several: the paired
    bootstrap of the macro average for both.
    """
    from leaderboard.stats import difference_pairs, holm, mcnemar_exact

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
            [v[:, pair] for v in ranked.hits1], means=ranked.hits1_means[:, pair]
        )
        p, method = float(found.p[0]), "paired bootstrap of the macro average"
        if ranked.single:
            hits1 = ranked.single.hits1
            p, method = mcnemar_exact(hits1[:, column], hits1[:, place]).p, "exact McNemar"
        tests[entry] = _test(other, found, p, method)
    return _with_holm(tests, holm([test.p for test in tests.values()]))


def deltas(
    minuend: Scores,
    subtrahend: Scores,
    minuend_sources: Sequence[str],
    subtrahend_sources: Sequence[str],
) -> dict[str, Comparison]:
    """Hits@1 on one task minus that on another, over items of the same source, per entry.

    *_sources : source id of each item, in the order of the score arrays. Entries without both
    tasks, and sources without both items, are left out.
    """
    from leaderboard.stats import bootstrap_means, difference_pairs, holm

    entries = [entry for entry in minuend.entries if entry in set(subtrahend.entries)]
    place = {source: i for i, source in enumerate(subtrahend_sources)}
    rows = [(i, place[s]) for i, s in enumerate(minuend_sources) if s in place]
    if not rows or not entries:
        return {}
    import numpy as np

    first, second = (list(part) for part in zip(*rows, strict=True))
    upper = minuend.only(entries).hits1[first]
    lower = subtrahend.only(entries).hits1[second]
    means = bootstrap_means(np.hstack([upper, lower]))
    tests: dict[str, Comparison] = {}
    for column, entry in enumerate(entries):
        pair = [column, len(entries) + column]
        both = np.stack([upper[:, column], lower[:, column]], axis=1)
        found = difference_pairs(both, means=means[:, pair])
        method = f"paired over {len(rows)} sources"
        tests[entry] = _test("", found, float(found.p[0]), method)
    return _with_holm(tests, holm([test.p for test in tests.values()]))


def _estimate(interval: Interval) -> Estimate:
    return Estimate(
        value=interval.estimate, low=interval.low, high=interval.high, method=interval.method
    )


def _test(other: str, found: Any, p: float, method: str) -> Comparison:
    return Comparison(
        other=other,
        difference=float(found.difference[0]),
        low=float(found.low[0]),
        high=float(found.high[0]),
        p=p,
        p_adjusted=p,
        method=method,
    )


def _with_holm(tests: Mapping[str, Comparison], adjusted: Any) -> dict[str, Comparison]:
    return {
        entry: test.model_copy(update={"p_adjusted": float(value)})
        for (entry, test), value in zip(tests.items(), adjusted, strict=True)
    }
