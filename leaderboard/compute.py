"""From score matrices to estimates and rank ranges, keyed by entry; tests are in versus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from leaderboard.records import Estimate, Group, TaskAgreement
from leaderboard.scoring import Measure

if TYPE_CHECKING:
    import numpy as np

    from leaderboard.gold import Stratum
    from leaderboard.stats import Interval

    Array = np.ndarray[Any, np.dtype[np.float64]]

Estimates = dict[str, dict[str, Estimate]]

MAX_AGREEING = 60
MIN_GROUPS = 20
# Intervals that BCa limits may stand in for; where the percentile bootstrap is not trusted, BCa
# is not either.
_PERCENTILE = ("percentile bootstrap", "cluster bootstrap")


@dataclass(frozen=True)
class Scores:
    """Scores of one task.

    values : measure -> array of shape (n_items, n_entries), columns as ``entries``.
    measures : the first is what entries are ranked by. clusters : group of each item that counts
    as one trial; None for independent items. without : entry -> measures that it does not have.
    """

    entries: tuple[str, ...]
    values: Mapping[str, Array]
    measures: tuple[Measure, ...]
    clusters: tuple[str, ...] | None = None
    without: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def first(self) -> Array:
        """Values of the measure that entries are ranked by."""
        return self.values[self.measures[0].name]

    def only(self, entries: Sequence[str]) -> Scores:
        """The columns of these entries, in this order."""
        columns = [self.entries.index(entry) for entry in entries]
        values = {name: array[:, columns] for name, array in self.values.items()}
        return replace(self, entries=tuple(entries), values=values)

    def part(self, places: Sequence[int]) -> Scores:
        """The rows of these items."""
        rows = list(places)
        values = {name: array[rows] for name, array in self.values.items()}
        groups = None if self.clusters is None else tuple(self.clusters[i] for i in rows)
        return replace(self, values=values, clusters=groups)

    @cached_property
    def first_means(self) -> Array:
        """Resampled means of the first measure, shared by every interval and test."""
        from leaderboard.stats import bootstrap_means

        return bootstrap_means(self.first, clusters=self.clusters)


def estimates(scores: Scores) -> Estimates:
    """Every measure of every entry on one task: entry -> measure -> estimate."""
    return both_estimates(scores)[0]


def both_estimates(scores: Scores, *, bca: bool = False) -> tuple[Estimates, Estimates]:
    """The usual estimates and, if asked for, those with BCa limits.

    BCa only where the usual limits are percentiles of a bootstrap.
    """
    from leaderboard.stats import bootstrap_means, mean_intervals

    usual: Estimates = {entry: {} for entry in scores.entries}
    corrected: Estimates = {entry: {} for entry in scores.entries}
    for number, measure in enumerate(scores.measures):
        values = scores.values[measure.name]
        means = bootstrap_means(values, clusters=scores.clusters) if number else scores.first_means
        found = mean_intervals(values, kind=measure.rule, clusters=scores.clusters, means=means)
        _put(usual, measure.name, scores, found)
        fit = [i for i, interval in enumerate(found) if bca and interval.method in _PERCENTILE]
        if fit:
            some = mean_intervals(
                values[:, fit],
                kind=measure.rule,
                clusters=scores.clusters,
                method="bca",
                means=means[:, fit],
            )
            entries = replace(scores, entries=tuple(scores.entries[i] for i in fit))
            _put(corrected, measure.name, entries, some)
    return usual, corrected


def by_term(scores: Scores, terms: Sequence[str] | None) -> dict[str, Estimate]:
    """The first measure of every entry with whole terms resampled.

    terms : the term of each item, in the order of the scores. Empty without terms, and where no
    term has two items.
    """
    from leaderboard.stats import mean_intervals

    if terms is None or len(set(terms)) == len(terms):
        return {}
    found = mean_intervals(scores.first, kind=scores.measures[0].rule, clusters=terms)
    return {e: _estimate(interval) for e, interval in zip(scores.entries, found, strict=True)}


def by_stratum(scores: Scores, strata: Sequence[Stratum]) -> dict[str, list[Group]]:
    """Every measure of every entry on every part of a task."""
    groups: dict[str, list[Group]] = {entry: [] for entry in scores.entries}
    for stratum in strata:
        for entry, found in estimates(scores.part(stratum.places)).items():
            groups[entry].append(
                Group(
                    family=stratum.family,
                    group=stratum.group,
                    items=len(stratum.places),
                    scores=found,
                )
            )
    return groups


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
    def first(self) -> list[Array]:
        """The first measure per task."""
        return [scores.first for scores in self.subsets]

    @property
    def clusters(self) -> list[tuple[str, ...] | None]:
        """Groups of items per task."""
        return [scores.clusters for scores in self.subsets]

    @cached_property
    def first_means(self) -> Array:
        """Resampled (macro) means, shared by intervals, ranks and tests."""
        from leaderboard.stats import bootstrap_macro

        if self.single:
            return self.single.first_means
        return bootstrap_macro(self.first, clusters=self.clusters)


def overall(ranked: Ranked, cells: Mapping[str, Estimates]) -> Estimates:
    """Every measure over all ranked tasks: the task's own, or the macro average of several.

    cells : task -> entry -> measure -> estimate; where there is one task, its own are taken.
    """
    from leaderboard.stats import macro_intervals

    if not ranked.entries:
        return {}
    if ranked.single:
        (own,) = cells.values()
        return {entry: own[entry] for entry in ranked.entries}
    found: Estimates = {entry: {} for entry in ranked.entries}
    for number, measure in enumerate(ranked.subsets[0].measures):
        intervals = macro_intervals(
            [scores.values[measure.name] for scores in ranked.subsets],
            kind=measure.rule,
            clusters=ranked.clusters,
            means=None if number else ranked.first_means,
        )
        for scores in ranked.subsets[:1]:
            _put(found, measure.name, scores, intervals)
        for entry in ranked.entries:
            if any(measure.name not in own[entry] for own in cells.values()):
                found[entry].pop(measure.name, None)
    return found


def rank_ranges(ranked: Ranked) -> dict[str, tuple[int, int]]:
    """Best and worst place by the first measure of every entry, true together at 95%."""
    from leaderboard.stats import rank_sets

    if not ranked.entries:
        return {}
    if ranked.single:
        found = rank_sets(
            ranked.single.first, means=ranked.first_means, clusters=ranked.single.clusters
        )
    else:
        found = rank_sets(ranked.first, means=ranked.first_means, clusters=ranked.clusters)
    return dict(zip(ranked.entries, found, strict=True))


def smallest_difference(scores: Scores) -> float | None:
    """What difference in the first measure a typical pair of entries could show on these items.

    None for items in few groups, of which the normal approximation would promise too much.
    """
    from leaderboard.stats import detectable_difference

    if scores.clusters is not None and len(set(scores.clusters)) < MIN_GROUPS:
        return None

    return detectable_difference(scores.first, clusters=scores.clusters)


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
        for found in subset_agreement(ranked.first)
        if not math.isnan(found.tau) and found.low is not None and found.high is not None
    ]


def _put(found: Estimates, name: str, scores: Scores, intervals: Sequence[Interval]) -> None:
    for entry, interval in zip(scores.entries, intervals, strict=True):
        if name not in scores.without.get(entry, ()):
            found[entry][name] = _estimate(interval)


def _estimate(interval: Interval) -> Estimate:
    return Estimate(
        value=interval.estimate, low=interval.low, high=interval.high, method=interval.method
    )
