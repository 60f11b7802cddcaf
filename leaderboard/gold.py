"""The board's own gold: what submissions are scored against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from leaderboard.catalog import BoardTask
from sage_tasks.package import Package, open_package
from sage_tasks.records import Query, pictures_fingerprint


@dataclass(frozen=True)
class Gold:
    """Queries of one task in the order that every score matrix of the board follows."""

    task: BoardTask
    package: Package

    @property
    def queries(self) -> tuple[Query, ...]:
        return self.package.queries

    @property
    def fingerprint(self) -> str:
        """Identity of the dataset build that the board scores against."""
        return self.package.fingerprint

    @cached_property
    def row(self) -> Mapping[str, int]:
        """Item id -> row of the score matrices."""
        return {query.id: i for i, query in enumerate(self.queries)}

    def query(self, item: str) -> Query:
        """The query of an item id; KeyError when the task has no such item."""
        return self.queries[self.row[item]]


def load_gold(task: BoardTask) -> Gold:
    """Open the gold of one task. Raises DataError when the dataset is missing or damaged."""
    return Gold(task, open_package(task.folder(), task.config, task.split))


def same_pictures(query: Query, claimed: str) -> bool:
    """Whether a run's fingerprint (at least 16 hex digits) is that of the gold's pictures."""
    return pictures_fingerprint(query).startswith(claimed)
