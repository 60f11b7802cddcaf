"""The store: append-only Parquet in a folder, read by DuckDB.

``entries/<submission>.parquet`` raw responses, with the header in the file's metadata;
``scores/<build>/<task>/<submission>.parquet`` what the board made of them (can be redone at any
time); ``ledger.jsonl`` which submissions count. A file without a ledger line does not exist for
the board, so a killed writer leaves nothing half.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from functools import partial as later
from pathlib import Path
from typing import Any

from leaderboard import audit, files, ledger
from leaderboard.catalog import Catalog, load_catalog
from leaderboard.check import TaskCheck, check
from leaderboard.entry_files import EntryFiles
from leaderboard.gold import Gold, load_gold
from leaderboard.ledger import Event, Kind
from leaderboard.lines import Submission
from leaderboard.receipts import notes_on, receipt
from leaderboard.records import Receipt
from leaderboard.schema import Header, SubmissionError
from leaderboard.score_files import Matrix, Result, ScoreFiles, read_matrix
from leaderboard.scoring import SCORER, ItemScore, score_task
from leaderboard.stored import Counting, Stored, counting, fold, no_effect
from wordsight.errors import DataError, WordsightError


class UnwritableError(WordsightError):
    """The board's folder takes no writing: no right to, read-only, or full."""


@dataclass(frozen=True)
class Store:
    """A board folder. Safe for any number of processes at once."""

    root: Path
    catalog: Catalog
    spare: list[Path] = field(default_factory=list, compare=False, repr=False)

    @property
    def ledger_path(self) -> Path:
        return self.root / "ledger.jsonl"

    @property
    def entry_files(self) -> EntryFiles:
        return EntryFiles(self.root)

    @property
    def score_files(self) -> ScoreFiles:
        return ScoreFiles(self.root / "scores", self.spare)

    def gold(self, task: str) -> Gold:
        """The gold of a task of this board; opened once per process."""
        return _gold(self.catalog.task(task))

    def check(
        self,
        submission: Submission,
        *,
        name: str = "submission",
        other_pictures: bool = False,
        partial: bool = False,
    ) -> list[TaskCheck]:
        """Check a submission against the gold of its tasks. Raises SubmissionError, DataError."""
        golds = {run.name: self.gold(run.name) for run in submission.header.tasks}
        return check(submission, golds, name=name, other_pictures=other_pictures, partial=partial)

    def add(
        self,
        submission: Submission,
        *,
        checks: Sequence[TaskCheck] = (),
        name: str = "submission",
        partial: bool = False,
        replace: bool = False,
        pending: bool = False,
        max_attempts: int = 0,
    ) -> Receipt:
        """Check, score and store a submission; when this returns, it is on disk for good.

        The same submission again changes nothing and returns its first receipt.
        checks : what ``check`` found, where it was called before.
        replace : it takes its row although an earlier attempt answered more items; on record.
        max_attempts : how many submissions one public entry may have; 0 sets no bound.

        Raises SubmissionError when it does not fit the board's gold, or was tried too often.
        """
        checks = checks or self.check(submission, name=name, partial=partial)
        content = files.entry_bytes(submission)
        for found in checks:
            of = self.gold(found.task).kind
            made = later(files.score_bytes, of, found.scores, found.other_pictures)
            self.score_files.put(self.score_name(found.task, submission.id), made)
        with self.locked():
            events = ledger.read_ledger(self.ledger_path)
            known = [e for e in events if e.submission == submission.id]
            if known:
                self.entry_files.mend(known[0], content)
            else:
                self._check_attempts(submission, events, max_attempts, name)
                self.entry_files.write(submission.id, content)
                kind: Kind = "pending" if pending else "submitted"
                events.append(self._append(kind, submission, content))
            if replace and not any(e.kind == "preferred" for e in known):
                stands = {e.kind for e in known} & {"submitted", "approved"}
                if pending and stands:  # nothing of what waits for approval may move it
                    raise SubmissionError(
                        f"{name}: stands on this board as {submission.id}; that it shall take the "
                        "place of another attempt is for the board's maintainer to decide"
                    )
                events.append(self._append("preferred", submission, content))
        notes = self._notes(submission, events)
        return receipt(submission, [one.report for one in checks], events, notes, new=not known)

    def _append(self, kind: Kind, submission: Submission, content: bytes) -> Event:
        return ledger.append(
            self.ledger_path,
            kind,
            submission=submission.id,
            entry=submission.header.entry,
            content=hashlib.sha256(content).hexdigest(),
            reason="asked for by the submitter" if kind == "preferred" else "",
        )

    def _check_attempts(
        self, submission: Submission, events: Sequence[Event], most: int, name: str
    ) -> None:
        tried = {e.submission for e in events if e.entry == submission.header.entry}
        if most and len(tried) >= most:
            raise SubmissionError(
                f"{name}: {submission.header.label} has {len(tried)} submissions, the most that "
                "this board takes for one entry"
            )

    def _notes(self, submission: Submission, events: Sequence[Event]) -> list[str]:
        entry = submission.header.entry
        try:
            attempts = fold([event for event in events if event.entry == entry], self.header)
            found = self.counting([one for one in attempts if one.public])
        except DataError as error:  # another attempt's file is damaged; this one is stored
            return [str(error)]
        return notes_on(next(one for one in attempts if one.id == submission.id), found)

    def decide(self, submission: str, kind: Kind, reason: str = "") -> Event:
        """Record a later decision: approved, verified, preferred, withdrawn.

        Raises DataError for an unknown submission, and for a decision that would change nothing.
        """
        with self.locked():
            events = ledger.read_ledger(self.ledger_path)
            known = [event for event in events if event.submission == submission]
            if not known:
                raise DataError(f"{self.root}: no submission {submission}")
            if told := no_effect(events, submission, kind, reason):
                raise DataError(f"{submission}: nothing recorded: it {told}")
            return ledger.append(
                self.ledger_path,
                kind,
                submission=submission,
                entry=known[0].entry,
                content=known[0].content,
                reason=reason,
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the store's lock between processes; released by the system when a holder dies.

        Raises UnwritableError where the folder cannot be written.
        """
        from filelock import FileLock

        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with FileLock(self.root / ".lock"):
                yield
        except OSError as error:
            raise UnwritableError(
                f"{self.root}: the board cannot be written ({error.strerror or error}: "
                f"{error.filename or 'in its folder'}). Make the folder writable for who runs "
                "this, or make room on its disk, and try again"
            ) from None

    def submissions(self) -> list[Stored]:
        """All submissions, oldest first, with what was decided about each.

        Raises DataError naming a submission's file that is damaged, unless it was withdrawn.
        """
        return fold(ledger.read_ledger(self.ledger_path), self.header)

    def counting(self, attempts: Sequence[Stored]) -> Counting:
        """Which of one entry's public attempts count for each task in its current version."""
        versions = {task.name: task.version for task in self.catalog.tasks}
        return counting(attempts, versions, lambda task, one: self.answered(task, one.id))

    def used_tasks(self) -> frozenset[str]:
        """Names of the tasks that any submission has."""
        return frozenset(run.name for one in self.submissions() for run in one.header.tasks)

    def header(self, submission: str) -> Header:
        """The header of a stored submission. Raises DataError when its file is damaged."""
        return self.entry_files.header(submission)

    def responses(self, submission: str, task: str, item: str = "") -> dict[str, list[str]]:
        """Raw responses of one submission: item id -> texts in candidate order.

        item : only this one.

        Raises DataError when its file is damaged.
        """
        answers = self.entry_files.answers(submission, task, item)
        return {name: responses for name, (responses, _) in answers.items()}

    def verify(self, *, head: str = "") -> list[Event]:
        """Check the ledger's chain and every stored file against it.

        head : hash of a line that must be there, as a receipt or an earlier check gave it.

        Raises LedgerError naming the first line, or DataError naming the files, that do not fit.
        """
        events = ledger.verify(self.ledger_path, head=head)
        audit.check_entries(self.root, events)
        return events

    def matrix(self, task: str, submissions: Sequence[str]) -> Matrix:
        """Scores of one task for the given submissions, in their order; scored now if need be."""
        gold = self.gold(task)
        return self._read_scores(
            task, submissions, lambda paths: read_matrix(gold, paths, submissions)
        )

    def scores(self, submission: str, task: str) -> list[ItemScore]:
        """Every item's score of one submission, in gold order."""
        kind = self.gold(task).kind
        return self._read_scores(
            task, [submission], lambda paths: files.read_scores(kind, paths[0])
        )

    def item_scores(self, task: str, item: str, submissions: Sequence[str]) -> dict[str, ItemScore]:
        """One item's score in each of the given submissions."""
        kind = self.gold(task).kind

        def read(paths: Sequence[Path]) -> dict[str, ItemScore]:
            found = files.read_item_scores(kind, paths, item)
            return {s: found[str(path)] for s, path in zip(submissions, paths, strict=True)}

        return self._read_scores(task, submissions, read)

    def answered(self, task: str, submission: str) -> int:
        """How many items of the task a submission answers, readably or not."""
        return self._read_scores(task, [submission], lambda paths: _answered(paths[0]))

    def scores_path(self, task: str, submission: str) -> Path:
        """Where the scores lie, made now if they are missing (deleted, or another gold since)."""
        return self._read_scores(task, [submission], lambda paths: paths[0])

    def score_name(self, task: str, submission: str) -> str:
        """Name of a score file below ``scores``; depends on the gold and the scoring rules."""
        return f"v{SCORER}-{self.gold(task).fingerprint}/{task}/{submission}.parquet"

    def _read_scores(
        self, task: str, submissions: Sequence[str], read: Callable[[Sequence[Path]], Result]
    ) -> Result:
        made = {self.score_name(task, one): later(self._score, task, one) for one in submissions}
        return self.score_files.read(self.gold(task), made, read)

    def _score(self, task: str, submission: str) -> bytes:
        """One task's scores, from what a stored submission answered."""
        gold = self.gold(task)
        answers = self.entry_files.answers(submission, task)
        scores = score_task(gold, {item: responses for item, (responses, _) in answers.items()})
        other = {
            item
            for item, (_, images) in answers.items()
            if images and item in gold.row and not gold.same_inputs(item, images)
        }
        return files.score_bytes(gold.kind, scores, other)


@lru_cache(maxsize=32)
def _gold(task: Any) -> Gold:
    return load_gold(task)


@lru_cache(maxsize=20_000)
def _answered(path: Path) -> int:
    return files.count_answered(path)


def create_store(root: Path) -> Store:
    """The board at ``root``, whether or not anything is there yet."""
    return Store(root, load_catalog(root))


def open_store(root: Path) -> Store:
    """The board at ``root``. Raises DataError when nothing was ever submitted there."""
    if not (root / "ledger.jsonl").is_file() and not (root / "board.json").is_file():
        raise DataError(f"no board at {root}: submit a run with --to {root} first")
    return create_store(root)
