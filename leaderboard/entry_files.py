"""The raw responses on disk: one file per submission, written once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from leaderboard import files
from leaderboard.audit import ENTRIES
from leaderboard.files import DamagedError
from leaderboard.ledger import Event
from leaderboard.schema import Header
from wordsight.errors import DataError


class LostEntryError(DataError):
    """The file of a submission that counts is damaged or gone; the board cannot do without it."""


@dataclass(frozen=True)
class EntryFiles:
    """The submissions' files of the board at ``root``."""

    root: Path

    def path(self, submission: str) -> Path:
        """Where a submission's responses lie."""
        return self.root / ENTRIES / f"{submission}.parquet"

    def header(self, submission: str) -> Header:
        """Who answered and how. Raises DataError when the file is damaged."""
        try:
            return _header(self.path(submission))
        except DamagedError as error:
            raise _lost(submission, error) from None

    def answers(
        self, submission: str, task: str, item: str = ""
    ) -> dict[str, tuple[list[str], str]]:
        """Item id -> raw responses and fingerprint of the pictures, of one task or one item of it.

        Raises DataError when the file is damaged.
        """
        try:
            rows = files.query(
                "select item, responses, images from read_parquet(?) "
                "where task = ? and ? in ('', item)",
                [self.path(submission)],
                [task, item],
                "fetchall",
            )
        except DamagedError as error:
            raise _lost(submission, error) from None
        return {name: (responses, images) for name, responses, images in rows}

    def write(self, submission: str, content: bytes) -> None:
        """Write the file of a new submission. The caller holds the store's lock."""
        # nobody else writes now: a draft that lies there is a killed writer's
        for draft in (self.root / ENTRIES).glob(files.DRAFTS):
            draft.unlink(missing_ok=True)
        files.write_atomic(self.path(submission), content)

    def mend(self, event: Event, content: bytes) -> None:
        """Write a file again, where it was lost or damaged, from the same submission.

        Raises DataError when that does not give the bytes that the ledger recorded.
        """
        path = self.path(event.submission)
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == event.content:
            return
        if hashlib.sha256(content).hexdigest() != event.content:
            raise DataError(
                f"{path}: is damaged, and the pyarrow that is installed cannot make it again to "
                "the byte; put a copy of it back"
            )
        files.write_atomic(path, content)


def _lost(submission: str, error: DamagedError) -> LostEntryError:
    return LostEntryError(
        f"{error}. Put a copy of the file back, submit the same run again, or take it off the "
        f"board: wordsight leaderboard decide {submission} withdrawn --reason ..."
    )


@lru_cache(maxsize=20_000)
def _header(path: Path) -> Header:
    return files.read_header(path)
