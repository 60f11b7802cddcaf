"""The one order of rows, for tables in a terminal, pages, exports and the API."""

from __future__ import annotations

from leaderboard.records import Row


def by_rank(row: Row) -> tuple[bool, int, int, str]:
    """Best and worst place that the data allow, then the name; rows without a rank last.

    Entries that the data cannot tell apart stand in the order of the alphabet, not of a difference
    that may be luck.
    """
    best, worst = row.rank or (0, 0)
    return row.rank is None, best, worst, row.label.casefold()
