"""The ledger: every submission ever accepted, and every later decision about one, in order.

Each line holds the hash of the line before it, so a line that is changed, dropped or moved breaks
the chain for anyone who checks.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from wordsight.errors import DataError

GENESIS = "0" * 64

# "preferred": counts on its row although an earlier attempt answered more items
Kind = Literal["submitted", "pending", "approved", "verified", "preferred", "withdrawn"]

MAX_REASON = 1000
# more than the longest line: every character of a reason may be written as an escape of 12 bytes
_TAIL = 65_536


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
    return [_event(line, f"{path}: line {number}") for number, line in enumerate(lines, 1)]


def _event(line: bytes, where: str) -> Event:
    try:
        return Event.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise LedgerError(
            f"{where}: is no line of a ledger ({first['msg'][:200]}); put a copy of the file back"
        ) from None


def verify(path: Path, *, head: str = "") -> list[Event]:
    """The events, after checking numbers, links and hashes.

    head : hash (or at least its first 12 digits) of a line that was there when someone looked.

    Raises LedgerError where the chain is broken or the line of that hash is gone.
    """
    if head and not re.fullmatch(r"[0-9a-f]{12,64}", head):
        raise LedgerError(
            f"{head[:80]!r} is no hash of a ledger line: 12 to 64 digits, 0-9 and a-f"
        )
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
    if head and not any(event.hash.startswith(head) for event in events):
        raise LedgerError(
            f"{path}: no line has the hash {head}; its {len(events)} lines fit each other: lines "
            "were taken from the end, or this is another ledger"
        )
    return events


def check_ending(path: Path) -> None:
    """Raise LedgerError where the last line has no line end.

    It does not count, and the next writer takes it away: whether it was ever acknowledged, only
    the person who looks now can find out.
    """
    content = path.read_bytes() if path.is_file() else b""
    if content and not content.endswith(b"\n"):
        number = content.count(b"\n") + 1
        raise LedgerError(
            f"{path}: line {number}: is cut, so it does not count: its writer "
            "was stopped, or the file was cut later. Put a copy of the file back; without one, "
            "submit or decide again what the line said, and the rest of it is taken away"
        )


def last_event(path: Path) -> Event | None:
    """The last complete line, read from the end of the file."""
    if not path.is_file() or path.stat().st_size == 0:
        return None
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _TAIL))
        complete = stream.read().split(b"\n")[:-1]
    return _event(complete[-1], f"{path}: last line") if complete else None


def append(
    path: Path, kind: Kind, *, submission: str, entry: str, content: str, reason: str = ""
) -> Event:
    """Append one event and force it to disk. The caller holds the store's lock.

    Raises LedgerError for a reason of more than ``MAX_REASON`` characters.
    """
    if len(reason) > MAX_REASON:
        raise LedgerError(f"a reason of {len(reason)} characters; the ledger takes {MAX_REASON}")
    _drop_torn_tail(path)
    event = following(
        last_event(path), kind, submission=submission, entry=entry, content=content, reason=reason
    )
    with path.open("ab") as stream:
        stream.write(line_of(event))
        stream.flush()
        os.fsync(stream.fileno())
    return event


def following(
    last: Event | None,
    kind: Kind,
    *,
    submission: str,
    entry: str,
    content: str,
    reason: str = "",
    time: str = "",
) -> Event:
    """The event that comes after ``last``, linked to it; ``time`` is now unless given."""
    draft = Event(
        number=last.number + 1 if last else 1,
        time=time or datetime.now(timezone.utc).isoformat(timespec="seconds"),
        kind=kind,
        submission=submission,
        entry=entry,
        content=content,
        reason=reason,
        previous=last.hash if last else GENESIS,
        hash="",
    )
    return draft.model_copy(update={"hash": draft.expected_hash()})


def line_of(event: Event) -> bytes:
    """The event as it stands in the file."""
    return event.model_dump_json().encode() + b"\n"


def _drop_torn_tail(path: Path) -> None:
    """Cut what a killed writer left after the last line end: it was never acknowledged."""
    if not path.is_file():
        return
    with path.open("rb+") as stream:
        size = stream.seek(0, os.SEEK_END)
        if size == 0:
            return
        start = max(0, size - _TAIL)
        stream.seek(start)
        tail = stream.read()
        if not tail.endswith(b"\n"):
            stream.truncate(start + tail.rfind(b"\n") + 1)
