"""What waits for a maintainer's approval."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from leaderboard.records import TaskReport
from leaderboard.scoring import STATUSES
from leaderboard.store import Store
from leaderboard.stored import Stored


class Waiting(BaseModel):
    """A submission that is shown to nobody yet.

    tasks : only those that the board has in this version; the others get no counts. submitted :
        UTC. contact, command : the submitter's word.
    """

    model_config = ConfigDict(frozen=True)

    submission: str
    entry: str
    label: str
    submitted: str
    contact: str
    command: str
    tasks: list[TaskReport]


def waiting(store: Store) -> list[Waiting]:
    """All submissions that wait, oldest first. Raises DataError when a file is damaged."""
    return [
        Waiting(
            submission=one.id,
            entry=one.entry,
            label=one.header.label,
            submitted=one.submitted,
            contact=one.header.contact,
            command=one.header.command,
            tasks=_reports(store, one),
        )
        for one in store.submissions()
        if one.waits
    ]


def _reports(store: Store, one: Stored) -> list[TaskReport]:
    versions = {task.name: task.version for task in store.catalog.tasks}
    return [
        _report(store, one.id, run.name)
        for run in one.header.tasks
        if versions.get(run.name) == run.version
    ]


def _report(store: Store, submission: str, task: str) -> TaskReport:
    found = store.matrix(task, [submission])
    states = [STATUSES[state] for state in found.status[:, 0]]
    return TaskReport(
        task=task,
        items=len(store.responses(submission, task)),
        total=len(states),
        missing=states.count("missing"),
        invalid=states.count("invalid"),
        other_pictures=found.other_pictures[0],
    )
