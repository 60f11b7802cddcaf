"""The one order of rows, for tables in a terminal, pages, exports and the API."""

from __future__ import annotations

from leaderboard.records import Row


def by_rank(row: Row) -> tuple[bool, int, int, float, str]:
    """Best and worst place that the data allow; within a range the first measure, then the name.

    Rows without a rank come last.
    """
    best, worst = row.rank or (0, 0)
    first = next((score.value for score in row.scores.values()), 0.0)
    return row.rank is None, best, worst, -first, row.label.casefold()
