"""What a submitter is told about a stored submission."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.ledger import Event
from leaderboard.lines import Submission
from leaderboard.records import Receipt, TaskReport
from leaderboard.stored import Counting, Stored


def receipt(
    submission: Submission,
    reports: Sequence[TaskReport],
    events: Sequence[Event],
    notes: Sequence[str],
    *,
    new: bool,
) -> Receipt:
    """The receipt of a submission that is in the ledger.

    events : the whole ledger. new : False where it was stored before.
    """
    attempts = [event for event in events if event.entry == submission.header.entry]
    first = next(event for event in attempts if event.submission == submission.id)
    return Receipt(
        submission=submission.id,
        entry=submission.header.entry,
        label=submission.header.label,
        number=first.number,
        head=events[-1].hash,
        attempts=len({event.submission for event in attempts}),
        new=new,
        state=first.kind,
        tasks=list(reports),
        notes=list(notes),
    )


def notes_on(this: Stored, found: Counting) -> list[str]:
    """Where this attempt, or another of its entry, does not count, and what can be done."""
    notes = list(found.notes.values())
    if this.withdrawn:
        return [*notes, f"was withdrawn ({this.withdrawn}) and stays off the board"]
    if this.rejected:
        return [*notes, f"was rejected ({this.rejected}) and is not shown"]
    if this.waits:
        return [*notes, "is not shown before a maintainer of the board approves it"]
    if this.public and this not in found.by_task.values():
        return [
            *notes,
            "does not have the row; to give it the row all the same, submit it once more with "
            "--replace (over HTTP ?replace=true)",
        ]
    return notes
