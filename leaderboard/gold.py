"""The board's own gold: what submissions are scored against."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from leaderboard.catalog import BoardTask
from leaderboard.scoring import ItemScore

if TYPE_CHECKING:
    from leaderboard.kinds import Kind


@dataclass(frozen=True)
class Summary:
    """An item in a list: id, and two texts that say what it is about.

    source : what it was made from; variants of one source are compared item by item.
    """

    id: str
    term: str
    context: str
    source: str = ""


@dataclass(frozen=True)
class Stratum:
    """Some of the items: ``group`` of ``family``, as places in gold order."""

    family: str
    group: str
    places: tuple[int, ...]


@dataclass(frozen=True)
class Exchanged:
    """An item and its answer in the words of formats that know no pictures.

    asked : the question. choices : what could be chosen, empty where the answer is free text.
    chosen : the answer that was read; how : by what rule.
    """

    asked: str
    reference: str
    choices: tuple[str, ...]
    chosen: str
    how: str


@dataclass(frozen=True, kw_only=True)
class Gold(ABC):
    """Items of one task in the order that every score matrix of the board follows.

    clusters : for each item the group that counts as one trial in every interval and test; None
        where items count as independent.
    terms : for each item the group of a second interval, shown beside the usual one.
    strata : parts of the task that have numbers of their own.
    """

    task: BoardTask
    clusters: tuple[str, ...] | None = None
    terms: tuple[str, ...] | None = None
    strata: tuple[Stratum, ...] = ()

    @property
    def kind(self) -> Kind:
        """The kind of the task: its measures, columns and words."""
        from leaderboard.kinds import kind_of

        return kind_of(self.task)

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Identity of the dataset build that the board scores against."""

    @property
    @abstractmethod
    def summaries(self) -> Sequence[Summary]:
        """The items, in order."""

    @abstractmethod
    def score(self, item: str, responses: Sequence[str]) -> ItemScore:
        """Score one item from its raw responses."""

    @abstractmethod
    def missing(self, item: str) -> ItemScore:
        """The score of an item without responses."""

    @abstractmethod
    def facts(self, item: str) -> Mapping[str, Any]:
        """What is right, and what the item is made of, as plain data."""

    @abstractmethod
    def told(self, score: ItemScore) -> str:
        """What was answered to the item, in a few words."""

    @abstractmethod
    def exchanged(self, score: ItemScore) -> Exchanged:
        """The item and its answer for formats of other tools."""

    @abstractmethod
    def same_inputs(self, item: str, claimed: str) -> bool:
        """Whether a run's fingerprint of what it was shown is that of the gold's item."""

    @property
    def pictures(self) -> Collection[str]:
        """Content ids of the pictures that pages show."""
        return ()

    def picture_bytes(self, picture: str) -> bytes:
        """A picture as it came; KeyError for one that is not in ``pictures``."""
        raise KeyError(picture)

    @cached_property
    def row(self) -> Mapping[str, int]:
        """Item id -> row of the score matrices."""
        return {one.id: i for i, one in enumerate(self.summaries)}

    def __len__(self) -> int:
        return len(self.summaries)


def load_gold(task: BoardTask) -> Gold:
    """Open the gold of one task. Raises DataError when the dataset is missing or damaged."""
    from leaderboard.kinds import kind_of

    return kind_of(task).load(task)
