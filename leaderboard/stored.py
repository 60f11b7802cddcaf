"""What the ledger says about each submission."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leaderboard.ledger import Event
from leaderboard.schema import Header


@dataclass(frozen=True)
class Stored:
    """A submission as the board sees it: its header and what was decided about it since."""

    id: str
    entry: str
    header: Header
    submitted: str
    number: int
    content: str
    pending: bool = False
    verified: bool = False
    withdrawn: str = ""

    @property
    def public(self) -> bool:
        """Whether it may take part in rankings."""
        return not (self.pending or self.withdrawn)


def fold(events: Sequence[Event], header: Callable[[str], Header]) -> list[Stored]:
    """What the events say about each submission, oldest first.

    header : function from a submission id to its Header.
    """
    found: dict[str, Stored] = {}
    for event in events:
        if event.submission not in found:
            found[event.submission] = Stored(
                id=event.submission,
                entry=event.entry,
                header=header(event.submission),
                submitted=event.time,
                number=event.number,
                content=event.content,
            )
        changes: dict[str, dict[str, Any]] = {
            "submitted": {},
            "pending": {"pending": True},
            "approved": {"pending": False},
            "verified": {"verified": True},
            "withdrawn": {"withdrawn": event.reason or "no reason given"},
        }
        found[event.submission] = replace(found[event.submission], **changes[event.kind])
    return list(found.values())
