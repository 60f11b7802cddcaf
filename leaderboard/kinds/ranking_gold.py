"""The gold of a ranking task: queries with their ten candidates."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from leaderboard.catalog import BoardTask
from leaderboard.gold import Exchanged, Gold, Summary
from leaderboard.kinds.ranking_score import RankingScore, missing_score, score_query
from leaderboard.scoring import ItemScore
from sage_tasks.package import Package, open_package
from sage_tasks.records import Query, pictures_fingerprint


@dataclass(frozen=True, kw_only=True)
class RankingGold(Gold):
    """Queries and pictures of one task."""

    package: Package

    @property
    def queries(self) -> tuple[Query, ...]:
        """The items, with candidates and gold."""
        return self.package.queries

    @property
    def fingerprint(self) -> str:
        return self.package.fingerprint

    @cached_property
    def summaries(self) -> Sequence[Summary]:
        return tuple(Summary(q.id, q.term, q.context, q.source_id) for q in self.queries)

    @property
    def pictures(self) -> Collection[str]:
        return self.package.images.keys()

    def picture_bytes(self, picture: str) -> bytes:
        return self.package.picture_bytes(picture)

    def query(self, item: str) -> Query:
        """The query of an item id; KeyError when the task has no such item."""
        return self.queries[self.row[item]]

    def score(self, item: str, responses: Sequence[str]) -> ItemScore:
        return score_query(self.query(item), responses)

    def missing(self, item: str) -> ItemScore:
        return missing_score(item)

    def facts(self, item: str) -> Mapping[str, Any]:
        query = self.query(item)
        return {
            "candidates": list(query.candidates),
            "kinds": list(query.kinds),
            "gold": query.gold,
        }

    def told(self, score: ItemScore) -> str:
        assert isinstance(score, RankingScore)
        if score.ranks is None:
            return score.status
        place = score.ranks[self.query(score.item).gold]
        return f"gold ranked {place:.0f}" if place == int(place) else f"gold ranked {place:.1f}"

    def exchanged(self, score: ItemScore) -> Exchanged:
        assert isinstance(score, RankingScore)
        query = self.query(score.item)
        asked = json.dumps({"term": query.term, "context": query.context}, ensure_ascii=False)
        sources = query.candidate_sources
        chosen = "" if score.choice is None else sources[score.choice]
        how = "rank of the ten responses"
        return Exchanged(asked, sources[query.gold], tuple(sources), chosen, how)

    def same_inputs(self, item: str, claimed: str) -> bool:
        return pictures_fingerprint(self.query(item)).startswith(claimed)


def load(task: BoardTask) -> RankingGold:
    """Open the dataset. Raises DataError when it is missing or damaged."""
    from sage_tasks.sources import DEMO, dataset_root
    from wordsight.hub import locate

    inside = task.dataset == DEMO or Path(task.dataset).is_dir()
    root = dataset_root(task.dataset) if inside else locate(task.dataset)
    package = open_package(root, task.config, task.split)
    return RankingGold(task=task, terms=tuple(q.term for q in package.queries), package=package)
