"""What the score of an item is, whatever the kind of task; the kinds are in leaderboard.kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from leaderboard.gold import Gold

# Raised whenever the same responses could get other scores; stored scores of older ones are redone.
SCORER = "2"

ItemStatus = Literal["ok", "invalid", "missing"]
# stored as a number: the place in this tuple
STATUSES: tuple[ItemStatus, ...] = ("ok", "invalid", "missing")

# Which rule of leaderboard.stats makes the interval.
Rule = Literal["hits1", "mrr"]


@dataclass(frozen=True)
class Measure:
    """A number between 0 and 1 that every item has.

    name : field of the item's score, and key in records and files. label : heading.
    rule : "hits1" for right or wrong, "mrr" for reciprocal ranks. text : what it is, in a sentence.
    """

    name: str
    label: str
    rule: Rule
    text: str


class ItemScore(Protocol):
    """One item as the board counts it; a field for each measure of its kind comes on top.

    interface : how the model answered ("likelihood", "text", ...). reason : why not "ok".
    """

    @property
    def item(self) -> str: ...
    @property
    def status(self) -> ItemStatus: ...
    @property
    def interface(self) -> str: ...
    @property
    def reason(self) -> str: ...


def value(score: ItemScore, measure: str) -> float:
    """The item's value on a measure."""
    return float(getattr(score, measure))


def score_task(gold: Gold, responses: Mapping[str, Sequence[str]]) -> list[ItemScore]:
    """Scores of every item of the task, in gold order; items without responses are "missing".

    responses : item id -> raw texts, in candidate order where there are candidates.
    """
    return [
        gold.score(one.id, responses[one.id]) if one.id in responses else gold.missing(one.id)
        for one in gold.summaries
    ]
