"""Kinds of task: each is one module that opens its gold, scores its items and says its words."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.catalog import BoardTask
from leaderboard.kinds.kind import Kind
from leaderboard.kinds.naming import NAMING
from leaderboard.kinds.ranking import RANKING

KINDS: Mapping[str, Kind] = {kind.name: kind for kind in (RANKING, NAMING)}


def kind_of(task: BoardTask) -> Kind:
    """The kind of a task."""
    return KINDS[task.kind]


__all__ = ["KINDS", "NAMING", "RANKING", "Kind", "kind_of"]
