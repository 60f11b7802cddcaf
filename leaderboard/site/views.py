"""The looks of all kinds of task."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.site import naming_view, ranking_view
from leaderboard.site.view import ItemAnswer, View

VIEWS: Mapping[str, View] = {"ranking": ranking_view.VIEW, "naming": naming_view.VIEW}

__all__ = ["VIEWS", "ItemAnswer", "View"]
