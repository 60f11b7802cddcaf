"""How a kind of task looks on pages: one record per kind, all in leaderboard.site.views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.gold import Gold
from leaderboard.scoring import ItemScore
from leaderboard.site.links import Links

# Per entry that says more than its answer: its label, and item -> pairs of name and text.
Texts = Sequence[tuple[str, Mapping[str, Sequence[tuple[str, str]]]]]


@dataclass(frozen=True)
class ItemAnswer:
    """One entry's score on one item, as a row of the item page."""

    entry: str
    label: str
    score: ItemScore
    texts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class View:
    """How a kind of task looks.

    lead : what the task is, above its table. template : of an item's page.
    page : function from gold, item and answers to the template's own variables.
    block : function from links, gold, place of an item and texts to what compare.js draws of it.
    answer : function from a score to what compare.js draws of one entry's answer.
    """

    lead: str
    template: str
    page: Callable[[Gold, str, Sequence[ItemAnswer]], Mapping[str, Any]]
    block: Callable[[Links, Gold, int, Texts], Mapping[str, Any]]
    answer: Callable[[ItemScore], Any]
