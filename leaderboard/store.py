"""The store: append-only Parquet in a folder, read by DuckDB.

``entries/<submission>.parquet`` raw responses, with the header in the file's metadata;
``scores/<build>/<task>/<submission>.parquet`` what the board made of them (can be redone at any
time); ``ledger.jsonl`` which submissions count. A file without a ledger line does not exist for
the board, so a killed writer leaves nothing half.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaderboard import files, ledger
from leaderboard.catalog import Catalog, load_catalog
from leaderboard.check import TaskCheck, check
from leaderboard.gold import Gold, load_gold
from leaderboard.ledger import Event, Kind
from leaderboard.lines import Submission
from leaderboard.records import Receipt, TaskReport
from leaderboard.schema import Header, SubmissionError
from leaderboard.scoring import SCORER, ItemScore, score_task
from leaderboard.stored import Stored, fold
from wordsight.errors import DataError

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Matrix:
    """Scores of one task: arrays of shape (n_items, n_submissions), columns as ``submissions``.

    values : measure -> scores. other_pictures : items answered on other copies of the pictures.
    """

    submissions: tuple[str, ...]
    values: Mapping[str, np.ndarray[Any, Any]]
    status: np.ndarray[Any, Any]
    interfaces: tuple[str, ...]
    other_pictures: tuple[int, ...]


@dataclass(frozen=True)
class Store:
    """A board folder. Safe for any number of processes at once."""

    root: Path
    catalog: Catalog

    @property
    def ledger_path(self) -> Path:
        return self.root / "ledger.jsonl"

    def gold(self, task: str) -> Gold:
        """The gold of a task of this board; opened once per process."""
        return _gold(self.catalog.task(task))

    def check(
        self, submission: Submission, *, name: str = "submission", other_pictures: bool = False
    ) -> list[TaskCheck]:
        """Check a submission against the gold of its tasks. Raises SubmissionError, DataError."""
        golds = {run.name: self.gold(run.name) for run in submission.header.tasks}
        return check(submission, golds, name=name, other_pictures=other_pictures)

    def add(
        self,
        submission: Submission,
        *,
        name: str = "submission",
        other_pictures: bool = False,
        pending: bool = False,
        max_attempts: int = 0,
    ) -> Receipt:
        """Check, score and store a submission; when this returns, it is on disk for good.

        The same submission again changes nothing and returns its first receipt.
        max_attempts : how many submissions one public entry may have; 0 sets no bound.

        Raises SubmissionError when it does not fit the board's gold, or was tried too often.
        """
        checks = self.check(submission, name=name, other_pictures=other_pictures)
        path = self._entry_path(submission.id)
        content = files.entry_bytes(submission)
        digest = hashlib.sha256(content).hexdigest()
        entry = submission.header.entry
        for run in submission.header.tasks:
            self._write_scores(submission, run.name)
        with self.locked():
            events = ledger.read_ledger(self.ledger_path)
            known = [e for e in events if e.submission == submission.id]
            if not known:
                tried = {e.submission for e in events if e.entry == entry}
                if max_attempts and len(tried) >= max_attempts:
                    raise SubmissionError(
                        f"{name}: {submission.header.label} has {len(tried)} submissions, the most "
                        "that this board takes for one entry"
                    )
                files.write_atomic(path, content)
                kind: Kind = "pending" if pending else "submitted"
                event = ledger.append(
                    self.ledger_path, kind, submission=submission.id, entry=entry, content=digest
                )
                events.append(event)
            else:
                event = known[0]
        attempts = {e.submission for e in events if e.entry == entry}
        return Receipt(
            submission=submission.id,
            entry=entry,
            label=submission.header.label,
            number=event.number,
            attempts=len(attempts),
            new=not known,
            state=event.kind,
            tasks=[
                TaskReport(
                    task=found.task,
                    items=found.items,
                    missing=len(found.missing),
                    other_pictures=len(found.other_pictures),
                )
                for found in checks
            ],
        )

    def decide(self, submission: str, kind: Kind, reason: str = "") -> Event:
        """Record a later decision: approved, verified, withdrawn. Raises DataError if unknown."""
        with self.locked():
            known = [e for e in ledger.read_ledger(self.ledger_path) if e.submission == submission]
            if not known:
                raise DataError(f"{self.root}: no submission {submission}")
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
        """Hold the store's lock between processes; released by the system when a holder dies."""
        from filelock import FileLock

        self.root.mkdir(parents=True, exist_ok=True)
        with FileLock(self.root / ".lock"):
            yield

    def submissions(self) -> list[Stored]:
        """All submissions, oldest first, with what was decided about each."""
        return fold(ledger.read_ledger(self.ledger_path), self.header)

    def used_tasks(self) -> frozenset[str]:
        """Names of the tasks that any submission has."""
        return frozenset(run.name for one in self.submissions() for run in one.header.tasks)

    def header(self, submission: str) -> Header:
        """The header of a stored submission."""
        return _header(self._entry_path(submission))

    def responses(self, submission: str, task: str, item: str = "") -> dict[str, list[str]]:
        """Raw responses of one submission: item id -> texts in candidate order.

        item : only this one.
        """
        rows = files.query(
            "select item, responses from read_parquet(?) where task = ? and item like ?",
            [str(self._entry_path(submission)), task, item or "%"],
        ).fetchall()
        return dict(rows)

    def verify(self) -> list[Event]:
        """Check the ledger's chain and every stored file against it.

        Raises LedgerError naming the first line, or DataError naming the first file, that fails.
        """
        events = ledger.verify(self.ledger_path)
        for event in events:
            path = self._entry_path(event.submission)
            if not path.is_file():
                raise DataError(f"{path}: missing, though line {event.number} of the ledger has it")
            if hashlib.sha256(path.read_bytes()).hexdigest() != event.content:
                raise DataError(f"{path}: is not the file that line {event.number} recorded")
        return events

    def matrix(self, task: str, submissions: Sequence[str]) -> Matrix:
        """Scores of one task for the given submissions, in their order; scored now if need be."""
        import numpy as np

        paths = [str(self.scores_path(task, submission)) for submission in submissions]
        gold = self.gold(task)
        names = [measure.name for measure in gold.kind.measures]
        if not paths:
            none = np.zeros((len(gold), 0))
            return Matrix((), dict.fromkeys(names, none), none.astype(np.uint8), (), ())
        rows = files.query(
            f"select {', '.join(names)}, status from read_parquet(?, filename = true) "
            "order by filename, place",
            [paths],
        ).fetchnumpy()
        order = np.argsort(np.argsort(paths, kind="stable"), kind="stable")

        def table(column: str) -> np.ndarray[Any, Any]:
            found: np.ndarray[Any, Any] = rows[column].reshape((len(paths), len(gold)))[order].T
            return found

        found = files.query(
            "select filename, string_agg(distinct interface, '+' order by interface) "
            "filter (interface <> ''), count(*) filter (other) "
            "from read_parquet(?, filename = true) group by filename",
            [paths],
        ).fetchall()
        per_file = {name: (interfaces or "", other) for name, interfaces, other in found}
        return Matrix(
            tuple(submissions),
            {name: table(name) for name in names},
            table("status"),
            tuple(per_file[path][0] for path in paths),
            tuple(per_file[path][1] for path in paths),
        )

    def scores(self, submission: str, task: str) -> list[ItemScore]:
        """Every item's score of one submission, in gold order."""
        return files.read_scores(self.gold(task).kind, self.scores_path(task, submission))

    def item_scores(self, task: str, item: str, submissions: Sequence[str]) -> dict[str, ItemScore]:
        """One item's score in each of the given submissions."""
        paths = [self.scores_path(task, submission) for submission in submissions]
        found = files.read_item_scores(self.gold(task).kind, paths, item)
        return {s: found[str(path)] for s, path in zip(submissions, paths, strict=True)}

    def scores_path(self, task: str, submission: str) -> Path:
        """Where the scores lie, made now if they are missing (deleted, or another gold since)."""
        path = self.score_file(task, submission)
        if not path.is_file():
            answered = files.query(
                "select item, responses, images from read_parquet(?) where task = ?",
                [str(self._entry_path(submission)), task],
            ).fetchall()
            self._keep_scores(path, task, {item: tuple(rest) for item, *rest in answered})
        return path

    def _write_scores(self, submission: Submission, task: str) -> None:
        path = self.score_file(task, submission.id)
        if not path.is_file():
            mine = [item for item in submission.items if item.task == task]
            self._keep_scores(path, task, {i.item: (i.responses, i.images) for i in mine})

    def _keep_scores(
        self, path: Path, task: str, answered: Mapping[str, tuple[Sequence[str], str]]
    ) -> None:
        """Score one task's responses, each given with its fingerprint of pictures."""
        gold = self.gold(task)
        scores = score_task(gold, {item: responses for item, (responses, _) in answered.items()})
        other = {
            item
            for item, (_, images) in answered.items()
            if images and item in gold.row and not gold.same_inputs(item, images)
        }
        files.write_atomic(path, files.score_bytes(gold.kind, scores, other), sync=False)

    def _entry_path(self, submission: str) -> Path:
        return self.root / "entries" / f"{submission}.parquet"

    def score_file(self, task: str, submission: str) -> Path:
        """Where the scores lie or would lie; depends on the gold and the scoring rules."""
        build = f"v{SCORER}-{self.gold(task).fingerprint}"
        return self.root / "scores" / build / task / f"{submission}.parquet"


@lru_cache(maxsize=32)
def _gold(task: Any) -> Gold:
    return load_gold(task)


@lru_cache(maxsize=20_000)
def _header(path: Path) -> Header:
    return files.read_header(path)


def create_store(root: Path) -> Store:
    """The board at ``root``, whether or not anything is there yet."""
    return Store(root, load_catalog(root))


def open_store(root: Path) -> Store:
    """The board at ``root``. Raises DataError when nothing was ever submitted there."""
    if not (root / "ledger.jsonl").is_file() and not (root / "board.json").is_file():
        raise DataError(f"no board at {root}: submit a run with --to {root} first")
    return create_store(root)
