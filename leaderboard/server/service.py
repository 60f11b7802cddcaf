"""The state of a running board: its store, and the board last computed from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from leaderboard import ledger
from leaderboard.examine import Signs, examine
from leaderboard.gold import Gold
from leaderboard.lines import read_submission
from leaderboard.records import Board, Receipt, TaskInfo, TrackBoard
from leaderboard.snapshot import current_board
from leaderboard.store import Store
from wordsight.errors import DataError

MAX_BODY = 64 * 1024 * 1024


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
    """Answers every question of the API and the pages; recomputes only when the ledger grew."""

    store: Store
    settings: Settings = Settings()
    _lock: Lock = field(default_factory=Lock)
    _board: Board | None = None
    _signs: tuple[str, list[Signs]] = ("", [])

    def board(self) -> Board:
        """The board as of the newest ledger line."""
        last = ledger.last_event(self.store.ledger_path)
        commit = last.hash if last else ledger.GENESIS
        with self._lock:
            if self._board is None or self._board.commit != commit:
                self._board = current_board(self.store)
            return self._board

    def signs(self) -> list[Signs]:
        """What stands out in the entries; examined anew only when the board changed."""
        board = self.board()
        with self._lock:
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

    def receive(self, content: bytes, name: str = "submission") -> Receipt:
        """Check, score and store what came over the network. Raises SubmissionError."""
        submission = read_submission(content, name)
        return self.store.add(
            submission,
            name=name,
            pending=self.settings.approve,
            max_attempts=self.settings.attempts,
        )
