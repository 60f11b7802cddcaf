"""The gold of a naming task: the settings of a benchmark, with error, feature and strata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from leaderboard.catalog import BoardTask
from leaderboard.gold import Exchanged, Gold, Stratum, Summary
from leaderboard.kinds.naming_score import NamingScore, missing_score, score_setting
from leaderboard.scoring import ItemScore
from symbal_tasks.evaluate import group_order, groups_of
from symbal_tasks.records import Setting
from symbal_tasks.view import Benchmark, open_benchmark


@dataclass(frozen=True, kw_only=True)
class NamingGold(Gold):
    """Settings of one domain, with or without references."""

    benchmark: Benchmark

    @property
    def fingerprint(self) -> str:
        return str(self.benchmark.stored.manifest["fingerprint"])

    @cached_property
    def settings(self) -> Sequence[Setting]:
        """The settings, in the order of the build."""
        return self.benchmark.settings

    @cached_property
    def summaries(self) -> Sequence[Summary]:
        return tuple(
            Summary(s.id, self.truth(s), f"strength {s.strength:g}", s.id) for s in self.settings
        )

    def setting(self, item: str) -> Setting:
        """The setting of an item id; KeyError when the task has no such item."""
        return self.settings[self.row[item]]

    def score(self, item: str, responses: Sequence[str]) -> ItemScore:
        return score_setting(self.setting(item), responses)

    def missing(self, item: str) -> NamingScore:
        return missing_score(item, "no response was submitted")

    def facts(self, item: str) -> Mapping[str, Any]:
        return self.setting(item).facts()

    def told(self, score: ItemScore) -> str:
        assert isinstance(score, NamingScore)
        if score.status == "missing":
            return score.status
        lists = (", ".join(names) or "nothing" for names in (score.errors, score.features))
        return " / ".join(lists)

    def exchanged(self, score: ItemScore) -> Exchanged:
        setting = self.setting(score.item)
        asked = f"Which error do the captions of setting {setting.id} share, and with what?"
        return Exchanged(asked, self.truth(setting), (), self.told(score), "names on two lines")

    def truth(self, setting: Setting) -> str:
        """The answer that is right throughout."""
        return f"{setting.t} / {setting.v}"

    def same_inputs(self, item: str, claimed: str) -> bool:
        """Settings have no fingerprint of their own: the build's is in the header."""
        return False


def load(task: BoardTask) -> NamingGold:
    """Open the benchmark. Raises DataError when it is missing or damaged."""
    from symbal_tasks.sources import benchmark_root

    benchmark = open_benchmark(benchmark_root(task.dataset), task.config)
    return NamingGold(
        task=task,
        # the strengths of one pair share its pictures and wordings: they are no separate trials
        clusters=tuple(f"{s.t} / {s.v}" for s in benchmark.settings),
        strata=_strata(benchmark.settings),
        benchmark=benchmark,
    )


def _strata(settings: Sequence[Setting]) -> tuple[Stratum, ...]:
    places: dict[tuple[str, str], list[int]] = {}
    for place, setting in enumerate(settings):
        for key in groups_of(setting.strength, setting.feature_size, setting.kinds):
            places.setdefault(key, []).append(place)
    return tuple(
        Stratum(family, group, tuple(found))
        for (family, group), found in sorted(places.items(), key=lambda one: group_order(*one[0]))
    )
