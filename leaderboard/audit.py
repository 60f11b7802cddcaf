"""What lies in a board's folder against what its ledger says."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from leaderboard.ledger import GENESIS, Event
from wordsight.errors import DataError

ENTRIES = "entries"
SNAPSHOTS = "snapshots"

# a snapshot begins with the board's title and the hash of the last line it was computed from
_COMMIT = re.compile(rb'"commit": "([0-9a-f]{64})"')
_BEGINNING = 4096


def check_entries(root: Path, events: Sequence[Event]) -> None:
    """Raise DataError naming every file that is not what the ledger recorded.

    A withdrawn submission may lack its file: nothing is shown from it.
    """
    withdrawn = {event.submission for event in events if event.kind == "withdrawn"}
    first: dict[str, Event] = {}
    for event in events:
        first.setdefault(event.submission, event)
    problems = []
    for submission, event in first.items():
        path = root / ENTRIES / f"{submission}.parquet"
        if not path.is_file():
            if submission not in withdrawn:
                problems.append(f"{path}: missing, though line {event.number} of the ledger has it")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != event.content:
            problems.append(f"{path}: is not the file that line {event.number} recorded")
    if problems:
        raise DataError(
            "\n".join(problems) + "\nPut copies of these files back, or submit the same runs again"
        )


def orphans(root: Path, events: Sequence[Event]) -> list[Path]:
    """Entry files without a ledger line: a writer was killed, or their lines were removed."""
    known = {event.submission for event in events}
    found = sorted((root / ENTRIES).glob("*.parquet"))
    return [path for path in found if path.stem not in known]


def check_snapshots(root: Path, events: Sequence[Event]) -> None:
    """Raise DataError where a snapshot was computed from a ledger line that is no longer there."""
    for path in strange_snapshots(root, events):
        raise DataError(
            f"{path}: was computed from a ledger line that the ledger does not have: lines were "
            "taken from it or replaced. Put a copy of the ledger back; if it was replaced on "
            "purpose, delete the snapshot"
        )


def strange_snapshots(root: Path, events: Sequence[Event]) -> Iterator[Path]:
    """Snapshots of states that this ledger never had; unreadable ones say nothing and are not."""
    states = {GENESIS, *(event.hash for event in events)}
    for path in sorted((root / SNAPSHOTS).glob("*.json")):
        with path.open("rb") as stream:
            commit = _COMMIT.search(stream.read(_BEGINNING))
        if commit and commit[1].decode() not in states:
            yield path
