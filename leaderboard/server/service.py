"""The state of a running board: its store, and the board last computed from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock, Thread

from leaderboard import ledger
from leaderboard.entry_files import LostEntryError
from leaderboard.examine import Signs, examine
from leaderboard.gold import Gold
from leaderboard.hub_store import Mirror
from leaderboard.ledger import LedgerError
from leaderboard.lines import read_submission
from leaderboard.records import Board, Receipt, TaskInfo, TrackBoard
from leaderboard.snapshot import current_board
from leaderboard.store import Store
from wordsight.errors import DataError

# Seconds that a reader waits for a new board before the last one is shown.
PATIENCE = 5.0

MAX_BODY = 64 * 1024 * 1024

# errors of the board itself: no fault of who asks or submits
DAMAGE = (LostEntryError, LedgerError)


@dataclass(frozen=True)
class Settings:
    """What the operator decides.

    tokens : who may submit over the network; none means nobody.
    approve : submissions wait until a maintainer approves them.
    hourly : submissions per token and hour; attempts : submissions per public entry, ever.
    """

    tokens: tuple[str, ...] = ()
    approve: bool = False
    hourly: int = 60
    attempts: int = 50
    max_body: int = MAX_BODY
    allowed_hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")


@dataclass
class Service:
    """Answers every question of the API and the pages; recomputes only when the ledger grew.

    mirror : a repository that gets every submission before it is acknowledged.
    """

    store: Store
    settings: Settings = Settings()
    mirror: Mirror | None = None
    _lock: Lock = field(default_factory=Lock)
    _board: Board | None = None
    _examining: Lock = field(default_factory=Lock)
    _worker: Thread | None = None
    _failure: Exception | None = None
    _signs: tuple[str, list[Signs]] = ("", [])

    def board(self) -> Board:
        """The board as of the newest ledger line, or the one before while that takes long.

        A large board takes a minute to compute; its readers get the last one meanwhile.
        """
        last = ledger.last_event(self.store.ledger_path)
        commit = last.hash if last else ledger.GENESIS
        with self._lock:
            known = self._board
            if known is not None and known.commit == commit:
                return known
            if self._worker is None or not self._worker.is_alive():
                self._worker = Thread(target=self._recompute, daemon=True)
                self._worker.start()
            worker = self._worker
        worker.join(None if known is None else PATIENCE)
        with self._lock:
            if self._board is None:
                raise self._failure or DataError("the board could not be computed")
            return self._board

    def _recompute(self) -> None:
        try:
            board = current_board(self.store)
        except Exception as error:  # handed to whoever waits for it
            with self._lock:
                self._failure = error
            return
        with self._lock:
            self._board, self._failure = board, None

    def signs(self) -> list[Signs]:
        """What stands out in the entries; examined anew only when the board changed."""
        board = self.board()
        with self._examining:
            if self._signs[0] != board.commit:
                self._signs = (board.commit, examine(self.store, board))
            return self._signs[1]

    def find_task(self, task: str) -> tuple[TrackBoard, TaskInfo]:
        """The track and column of a task. Raises DataError when no entry has it."""
        for track in self.board().tracks:
            for info in track.tasks:
                if info.name == task:
                    return track, info
        raise DataError(f"no entry of this board has a task {task[:64]!r}")

    def gold(self, task: str) -> Gold:
        """The gold of a task that has entries. Raises DataError for any other name."""
        self.find_task(task)
        return self.store.gold(task)

    def receive(
        self,
        content: bytes,
        name: str = "submission",
        *,
        partial: bool = False,
        replace: bool = False,
    ) -> Receipt:
        """Check, score and store what came over the network. Raises SubmissionError."""
        submission = read_submission(content, name)
        receipt = self.store.add(
            submission,
            name=name,
            partial=partial,
            replace=replace,
            pending=self.settings.approve,
            max_attempts=self.settings.attempts,
        )
        if self.mirror is not None:
            (receipt,) = self.mirror.push(self.store, [receipt])
        return receipt
