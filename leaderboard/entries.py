"""The board's public entries: which of the attempts at each of them count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leaderboard.store import Store
from leaderboard.stored import Stored
from wordsight.errors import DataError


@dataclass(frozen=True)
class Entry:
    """A public entry: for each task the attempt that counts; ``newest`` is the last of these.

    attempts : all that were ever submitted. notes : task -> why its attempt is not the newest.
    """

    id: str
    newest: Stored
    by_task: Mapping[str, Stored]
    attempts: int
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.newest.header.label


def current_entries(store: Store) -> list[Entry]:
    """The store's public entries, in the order of their first submission."""
    groups: dict[str, list[Stored]] = {}
    for stored in store.submissions():
        groups.setdefault(stored.entry, []).append(stored)
    entries = []
    for identifier, attempts in groups.items():
        public = [stored for stored in attempts if stored.public]
        if public:
            found = store.counting(public)
            used = {one.id for one in found.by_task.values()}
            newest = [one for one in public if one.id in used or not used][-1]
            entries.append(Entry(identifier, newest, found.by_task, len(attempts), found.notes))
    return entries


def find_entry(entries: Sequence[Entry], name: str) -> Entry:
    """The entry with this id or label (or its only label's start).

    Raises DataError, with the labels there are, for none or several.
    """
    found = [entry for entry in entries if name in (entry.id, entry.label)]
    found = found or [entry for entry in entries if entry.label.startswith(name)]
    if len(found) == 1:
        return found[0]
    labels = ", ".join(repr(entry.label) for entry in (found or entries)[:12]) or "none"
    problem = "fits several entries" if found else "is not on the board"
    raise DataError(f"{name!r} {problem}; entries: {labels}")
