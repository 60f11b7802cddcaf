"""The ledger: every submission ever accepted, and every later decision about one, in order.

Each line holds the hash of the line before it, so a line that is changed, dropped or moved breaks
the chain for anyone who checks.
"""

from __future__ import annotations

import hashlib
import json
import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from wordsight.errors import DataError

GENESIS = "0" * 64

Kind = Literal["submitted", "pending", "approved", "verified", "withdrawn"]


class LedgerError(DataError):
    """The ledger's chain is broken; the message names the first line that does not fit."""


class Event(BaseModel):
    """One line. ``content`` is the sha256 of the stored file of that submission."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int
    time: str
    kind: Kind
    submission: str
    entry: str
    content: str
    reason: str = ""
    previous: str
    hash: str

    def expected_hash(self) -> str:
        """The hash over all other fields."""
        payload = self.model_dump(exclude={"hash"})
        return hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()


def read_ledger(path: Path) -> list[Event]:
    """All events, oldest first. A last line without line end was never acknowledged: left out.

    Raises LedgerError for a line that cannot be read.
    """
    if not path.is_file():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    events = []
    for number, line in enumerate(lines, 1):
        try:
            events.append(Event.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            raise LedgerError(f"{path}: line {number}: {first['msg']}") from None
    return events


def verify(path: Path) -> list[Event]:
    """The events, after checking numbers, links and hashes. Raises LedgerError."""
    events = read_ledger(path)
    previous = GENESIS
    for number, event in enumerate(events, 1):
        where = f"{path}: line {number}"
        if event.number != number:
            raise LedgerError(f"{where}: is numbered {event.number}; a line was added or dropped")
        if event.previous != previous:
            raise LedgerError(f"{where}: does not follow from the line before it")
        if event.hash != event.expected_hash():
            raise LedgerError(f"{where}: was changed after it was written")
        previous = event.hash
    return events


def last_event(path: Path) -> Event | None:
    """The last complete line, read from the end of the file."""
    if not path.is_file() or path.stat().st_size == 0:
        return None
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - 16_384))
        complete = stream.read().split(b"\n")[:-1]
    return Event.model_validate_json(complete[-1]) if complete else None


def append(
    path: Path, kind: Kind, *, submission: str, entry: str, content: str, reason: str = ""
) -> Event:
    """Append one event and force it to disk. The caller holds the store's lock."""
    _drop_torn_tail(path)
    last = last_event(path)
    draft = Event(
        number=last.number + 1 if last else 1,
        time=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        kind=kind,
        submission=submission,
        entry=entry,
        content=content,
        reason=reason,
        previous=last.hash if last else GENESIS,
        hash="",
    )
    event = draft.model_copy(update={"hash": draft.expected_hash()})
    line = event.model_dump_json().encode() + b"\n"
    with path.open("ab") as stream:
        stream.write(line)
        stream.flush()
        os.fsync(stream.fileno())
    return event


def _drop_torn_tail(path: Path) -> None:
    """Cut what a killed writer left after the last line end: it was never acknowledged."""
    if not path.is_file():
        return
    with path.open("rb+") as stream:
        size = stream.seek(0, os.SEEK_END)
        if size == 0:
            return
        start = max(0, size - 16_384)
        stream.seek(start)
        tail = stream.read()
        if not tail.endswith(b"\n"):
            stream.truncate(start + tail.rfind(b"\n") + 1)
