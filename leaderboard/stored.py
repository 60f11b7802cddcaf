"""What the ledger says about each submission, and which of an entry's attempts count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.ledger import Event, Kind
from leaderboard.schema import SCHEMA, Header, TaskRun
from wordsight.errors import DataError

# stands for the header of a file that is damaged or gone, where nothing is shown from it
_UNREADABLE = Header.model_validate(
    {"schema": SCHEMA, "model": "unreadable", "tasks": [TaskRun(name="unreadable")]}
)


@dataclass(frozen=True)
class Stored:
    """A submission as the board sees it: its header and what was decided about it since.

    preferred : it counts on its row although an earlier attempt answered more items.
    withdrawn : why it left the board. rejected : why it never came onto it, though it had waited.
    """

    id: str
    entry: str
    header: Header
    submitted: str
    number: int
    content: str
    pending: bool = False
    verified: bool = False
    preferred: bool = False
    withdrawn: str = ""
    rejected: str = ""

    @property
    def public(self) -> bool:
        """Whether it may take part in rankings."""
        return not (self.pending or self.withdrawn or self.rejected)

    @property
    def waits(self) -> bool:
        """Whether a maintainer has still to approve or reject it."""
        return self.pending and not self.rejected


def fold(events: Sequence[Event], header: Callable[[str], Header]) -> list[Stored]:
    """What the events say about each submission: oldest first, preferred ones when they became so.

    header : function from a submission id to its Header; it may raise DataError, which is passed
        on unless that submission was withdrawn or rejected.
    """
    states: dict[str, dict[str, Any]] = {}
    for event in events:
        state = states.setdefault(
            event.submission,
            {
                "id": event.submission,
                "entry": event.entry,
                "submitted": event.time,
                "number": event.number,
                "content": event.content,
            },
        )
        changes: dict[str, dict[str, Any]] = {
            "submitted": {},
            "pending": {"pending": True},
            "approved": {"pending": False},
            "verified": {"verified": True},
            "preferred": {"preferred": True},
            "withdrawn": {
                # what was never shown is not published by its rejection
                "rejected" if state.get("pending") else "withdrawn": event.reason
                or "no reason given"
            },
        }
        state |= changes[event.kind]
        if event.kind == "preferred":
            states[event.submission] = states.pop(event.submission)
    return [Stored(header=_header_of(state, header), **state) for state in states.values()]


def no_effect(events: Sequence[Event], submission: str, kind: Kind, reason: str = "") -> str:
    """Why a decision about a submission would change nothing, and what to do; empty if it would.

    A withdrawal may be repeated with another reason, which then stands in place of the first.
    """
    states = fold(events, lambda _: _UNREADABLE)
    this = next(one for one in states if one.id == submission)
    others = [one for one in states if one.entry == this.entry and one.public]
    gone = this.withdrawn or this.rejected
    if gone and (kind != "withdrawn" or reason == gone):
        return (
            f"was {'withdrawn' if this.withdrawn else 'rejected'} ({gone}), which is final; "
            "another run of its model can be submitted"
        )
    if this.pending and kind in ("verified", "preferred"):
        return "waits for approval; decide approved first, or withdrawn, which rejects it"
    if kind == "approved" and not this.pending:
        return "is on the board and does not wait for approval; to take it off, decide withdrawn"
    if kind == "verified" and this.verified:
        return "is verified already; to take it off the board, decide withdrawn"
    if kind == "preferred" and this.preferred and this == others[-1]:
        return "is preferred already and has its row; to take it off the board, decide withdrawn"
    return ""


def _header_of(state: Mapping[str, Any], header: Callable[[str], Header]) -> Header:
    try:
        return header(state["id"])
    except DataError:
        if state.get("withdrawn") or state.get("rejected"):
            return _UNREADABLE
        raise


@dataclass(frozen=True)
class Counting:
    """Which attempt of an entry counts for each task; ``notes`` say where it is not the newest."""

    by_task: Mapping[str, Stored]
    notes: Mapping[str, str]


def counting(
    attempts: Sequence[Stored],
    versions: Mapping[str, str],
    answered: Callable[[str, Stored], int],
) -> Counting:
    """Of one entry's public attempts, those that count: the newest, but none with fewer answers.

    An attempt that answers fewer items of a task than the one before it takes its place only when
    it is preferred, which the submitter or a maintainer must have said.

    versions : task -> version that counts; answers to other versions are another question's.
    answered : function from a task and an attempt to how many of the task's items it answers.
    """
    chosen: dict[str, Stored] = {}
    notes: dict[str, str] = {}
    for attempt in attempts:
        for task in (run.name for run in attempt.header.tasks if _current(run, versions)):
            before = chosen.get(task)
            if before is None:
                chosen[task] = attempt
                continue
            now, then = answered(task, attempt), answered(task, before)
            if now < then and not attempt.preferred:
                notes[task] = f"{task}: a later attempt answers {now} items, not {then}: left out"
                continue
            chosen[task] = attempt
            if now < then:
                notes[task] = (
                    f"{task}: by request, {now} answers take the place of an attempt with {then}"
                )
            else:
                notes.pop(task, None)
    return Counting(chosen, notes)


def _current(run: TaskRun, versions: Mapping[str, str]) -> bool:
    return versions.get(run.name) == run.version
