"""What the board must know of a kind of task, besides its gold."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leaderboard.catalog import BoardTask
from leaderboard.gold import Gold
from leaderboard.scoring import ItemScore, Measure

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Kind:
    """A kind of task.

    measures : the first is what entries are ranked and tested by.
    columns : function that gives the Arrow fields that a score has beyond those of ItemScore.
    read : function from a stored row to a score.
    headings : of an item's two texts. chance : what guessing gets, None where nobody can guess.
    without : interface -> measures that answers of this interface do not have; see ``lacking``.
    signs : what stands out in one entry's answers to a task, in words.
    trait : what two copied answers to an item have in common; None says nothing.
    since : what stands out in an attempt beside an earlier one of the same entry, in words.
    """

    name: str
    measures: tuple[Measure, ...]
    load: Callable[[BoardTask], Gold]
    columns: Callable[[], Sequence[pa.Field[Any]]]
    read: Callable[[Mapping[str, Any]], ItemScore]
    headings: tuple[str, str]
    chance: float | None
    signs: Callable[[Gold, Sequence[ItemScore]], list[str]]
    trait: Callable[[ItemScore], Hashable]
    without: Mapping[str, frozenset[str]] = field(default_factory=dict)
    since: Callable[[Gold, Sequence[ItemScore], Sequence[ItemScore]], str] = lambda *_: ""

    def fields(self, score: ItemScore) -> dict[str, Any]:
        """A score as plain data."""
        own = ("status", "interface", "reason", *(column.name for column in self.columns()))
        return {name: getattr(score, name) for name in own}

    def lacking(self, task: str, interface: str) -> frozenset[str]:
        """Measures that an entry does not have on a task: by its interfaces, joined with "+".

        The end of the task's name counts too: a run without one readable answer shows no interface.
        """
        forms = {*interface.split("+"), task.rpartition("_")[2]}
        return frozenset(name for form in forms for name in self.without.get(form, ()))

    @property
    def first(self) -> Measure:
        """What entries are ranked by."""
        return self.measures[0]
