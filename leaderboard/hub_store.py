"""A board whose folder is mirrored on a dataset repository of the Hub, so a restart loses nothing.

The local folder stays the one that is read. What a submission adds (its file and the ledger) is
committed to the repository before the submitter is told that it is stored. Several servers may
share one repository: a commit names the state that it was made from, and where another server was
first, the lines that are not there yet are put behind its lines and sent again.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from leaderboard import audit, files, ledger
from leaderboard.audit import ENTRIES
from leaderboard.catalog import BOARD_FILE
from leaderboard.ledger import Event
from leaderboard.lines import read_submission
from leaderboard.records import Receipt
from leaderboard.schema import SubmissionError
from leaderboard.store import Store, create_store
from wordsight.errors import DataError, WordsightError

LEDGER = "ledger.jsonl"
KEPT = (f"{ENTRIES}/*.parquet", LEDGER, BOARD_FILE)

# Another server was first (412; some versions of the Hub say 409), too many requests, or the Hub
# failed, perhaps after it had committed: what is there is looked at again before anything is sent.
_AGAIN = frozenset({409, 412, 429, 500, 502, 503, 504})
TRIES = 12
# seconds: the Hub may show an old head for a moment
_LONGEST_PAUSE = 5.0

Result = TypeVar("Result")


class _BusyError(WordsightError):
    """The commit was not made, or perhaps it was: worth another try."""


@dataclass(frozen=True)
class Mirror:
    """A dataset repository that holds a board. Reads the token from HF_TOKEN, as every Hub tool."""

    repository: str
    root: Path

    def pull(self) -> Store:
        """Fetch the repository's board into ``root``. Raises WordsightError when it cannot."""
        from huggingface_hub import snapshot_download

        with self._reached("not fetched"):
            snapshot_download(
                self.repository, repo_type="dataset", local_dir=self.root, allow_patterns=list(KEPT)
            )
        store = create_store(self.root)
        store.verify()
        return store

    def push(self, store: Store, receipts: Sequence[Receipt]) -> list[Receipt]:
        """Commit what the repository lacks; the receipts with their place in the ledger there.

        Raises WordsightError when that does not succeed in ``TRIES`` attempts.
        """
        title = f"Submission {', '.join(receipt.label for receipt in receipts)}"
        events = self._again(lambda: self._send(store, title))
        return [_placed(receipt, events) for receipt in receipts]

    def _again(self, send: Callable[[], Result]) -> Result:
        for number in range(TRIES):
            try:
                return send()
            except _BusyError as error:
                if number == TRIES - 1:
                    raise WordsightError(
                        f"{error}; stored here, not on the Hub: submit again later"
                    ) from None
            # unequal pauses, so that two servers do not meet again
            time.sleep(min(_LONGEST_PAUSE, 0.1 * 2**number) * random.uniform(0.5, 1.0))
        raise AssertionError("the last attempt returns or raises")

    def _send(self, store: Store, title: str) -> list[Event]:
        from huggingface_hub import CommitOperationAdd, HfApi

        # under the lock: nothing may be added between reading the ledger and sending it
        with store.locked():
            head, theirs = self._there()
            events = self._joined(store, theirs)
            new = events[len(theirs) :]
            if not new:
                return events
            paths = {f"{ENTRIES}/{event.submission}.parquet" for event in new}
            operations = [
                CommitOperationAdd(path, (self.root / path).read_bytes())
                for path in (*sorted(paths), LEDGER)
            ]
            with self._reached("not committed"):
                HfApi().create_commit(
                    self.repository,
                    repo_type="dataset",
                    operations=operations,
                    commit_message=title,
                    parent_commit=head,
                )
            return events

    def _there(self) -> tuple[str, list[Event]]:
        """The repository's newest commit, and its ledger in it."""
        from huggingface_hub import HfApi, hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError

        with self._reached("not read"):
            head = str(HfApi().dataset_info(self.repository).sha)
            with tempfile.TemporaryDirectory() as scratch:
                try:
                    path = hf_hub_download(
                        self.repository,
                        LEDGER,
                        repo_type="dataset",
                        revision=head,
                        local_dir=scratch,
                    )
                except EntryNotFoundError:
                    return head, []
                return head, ledger.verify(Path(path))

    def _joined(self, store: Store, theirs: Sequence[Event]) -> list[Event]:
        """The ledger here, after it was put behind theirs; with the files of their lines."""
        from huggingface_hub import hf_hub_download

        ours = ledger.read_ledger(store.ledger_path)
        events = behind(ours, theirs)
        for event in theirs:
            path = store.entry_files.path(event.submission)
            if not path.is_file():
                with self._reached("not fetched"), tempfile.TemporaryDirectory() as scratch:
                    fetched = hf_hub_download(
                        self.repository,
                        f"{ENTRIES}/{path.name}",
                        repo_type="dataset",
                        local_dir=scratch,
                    )
                    files.write_atomic(path, Path(fetched).read_bytes())
        if events != ours:
            files.write_atomic(store.ledger_path, b"".join(map(ledger.line_of, events)))
            for path in audit.strange_snapshots(store.root, events):
                path.unlink(missing_ok=True)
        return events

    @contextmanager
    def _reached(self, what: str) -> Iterator[None]:
        """Errors of the Hub's client as WordsightError; those that may pass as _BusyError."""
        from huggingface_hub.errors import HfHubHTTPError

        unreached, _ = hub_errors()
        where = f"hf://datasets/{self.repository}: {what}"
        try:
            yield
        except HfHubHTTPError as error:
            kind = _BusyError if error.response.status_code in _AGAIN else WordsightError
            raise kind(f"{where} ({error})") from None
        except unreached as error:
            raise _BusyError(f"{where} ({error})") from None
        except OSError as error:
            raise WordsightError(f"{where} ({error})") from None


def hub_errors() -> tuple[type[Exception], type[Exception]]:
    """What the Hub's client raises where nothing answers, and OSError, which it raises too.

    The first belongs to the HTTP library under the client, which changed between its versions.
    """
    from huggingface_hub.errors import HfHubHTTPError

    library = next(one for one in HfHubHTTPError.__mro__ if one.__name__ == "HTTPError")
    return library, OSError


def behind(ours: Sequence[Event], theirs: Sequence[Event]) -> list[Event]:
    """``theirs``, then those of ``ours`` that are not in it, linked anew in their order."""
    events = list(theirs)
    known = {(event.submission, event.kind, event.reason) for event in theirs}
    stored = {event.submission for event in theirs}
    shared = sum(1 for _ in _shared(ours, theirs))
    for event in ours[shared:]:
        first = event.kind in ("submitted", "pending")
        if (first and event.submission in stored) or (
            event.submission,
            event.kind,
            event.reason,
        ) in known:
            continue
        last = events[-1] if events else None
        events.append(
            ledger.following(
                last,
                event.kind,
                submission=event.submission,
                entry=event.entry,
                content=event.content,
                reason=event.reason,
                time=event.time,
            )
        )
    return events


def _shared(ours: Sequence[Event], theirs: Sequence[Event]) -> Iterator[Event]:
    for one, other in zip(ours, theirs, strict=False):
        if one.hash != other.hash:
            return
        yield one


def _placed(receipt: Receipt, events: Sequence[Event]) -> Receipt:
    own = [event for event in events if event.entry == receipt.entry]
    number = next(event.number for event in own if event.submission == receipt.submission)
    changes = {
        "number": number,
        "head": events[-1].hash,
        "attempts": len({event.submission for event in own}),
    }
    return receipt.model_copy(update=changes)


def take_in(
    store: Store, folder: Path, *, partial: bool = False, replace: bool = False
) -> tuple[list[Receipt], list[str]]:
    """Add the packed submissions of a folder (``incoming/``, where merged pull requests lie).

    Returns the receipts, and the reason for every file that was not added. Raises DataError for a
    folder without any.
    """
    paths = sorted(folder.glob("*.jsonl"))
    if not paths:
        raise DataError(f"{folder}: no packed submissions (*.jsonl) there")
    receipts, refused = [], []
    for path in paths:
        try:
            submission = read_submission(path.read_bytes(), path.name)
            receipts.append(store.add(submission, name=path.name, partial=partial, replace=replace))
        except (SubmissionError, DataError) as error:
            refused.append(str(error))
    return receipts, refused
