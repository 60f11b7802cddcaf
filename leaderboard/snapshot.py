"""A computed board, kept beside the store so that a service starts at once, and its check.

Every number follows from the ledger's last hash, the datasets, the seed and the code: the file
name is a hash over these, and computing again gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

from pydantic import ValidationError

from leaderboard import files, ledger
from leaderboard.audit import ENTRIES, SNAPSHOTS
from leaderboard.board import SEED, build_board
from leaderboard.catalog import BOARD_FILE
from leaderboard.records import Board
from leaderboard.scoring import SCORER
from leaderboard.store import Store
from wordsight import __version__
from wordsight.errors import DataError


def current_board(store: Store) -> Board:
    """The board as of the newest ledger line: read where it was computed before.

    A snapshot that cannot be read is made again; where none can be written, none is kept.
    """
    path = snapshot_path(store)
    try:
        return Board.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        board = build_board(store)
    try:
        files.write_atomic(path, snapshot_bytes(board))
    except OSError as error:
        files.say_once(
            f"{path.parent}: cannot be written ({error.strerror}); the board is computed anew at "
            "every start"
        )
    return board


def snapshot_path(store: Store) -> Path:
    """Where the snapshot of the current state lies."""
    last = ledger.last_event(store.ledger_path)
    used = store.used_tasks()
    builds = [
        (task.name, task.version, store.gold(task.name).fingerprint)
        for task in store.catalog.tasks
        if task.name in used
    ]
    # labels, tracks and differences too, but not where on this machine the datasets lie
    shown = store.catalog.model_dump(
        mode="json", exclude={"tracks": {"__all__": {"tasks": {"__all__": {"dataset"}}}}}
    )
    key = json.dumps([last.hash if last else "", builds, shown, SEED, SCORER, __version__])
    name = hashlib.sha256(key.encode()).hexdigest()[:20]
    return store.root / SNAPSHOTS / f"{name}.json"


def snapshot_bytes(board: Board) -> bytes:
    """The board in its one written form."""
    return (board.model_dump_json(indent=1) + "\n").encode()


def rebuild(store: Store, *, check: bool = False) -> Path:
    """Compute scores and board anew from the raw responses, and write the snapshot.

    check : compare with the snapshot there is instead of writing it.

    Raises DataError when a stored file differs from the ledger or, with ``check``, when there is
    no snapshot or it differs.
    """
    store.verify()
    path = snapshot_path(store)
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch)
        # the same entries and ledger, but none of the scores made earlier
        for name in (ENTRIES, "ledger.jsonl", BOARD_FILE):
            if (store.root / name).exists():
                (fresh / name).symlink_to((store.root / name).resolve())
        content = snapshot_bytes(build_board(Store(fresh, store.catalog)))
    if not check:
        try:
            files.write_atomic(path, content)
        except OSError as error:
            raise DataError(
                f"{path.parent}: cannot be written ({error.strerror}), so the board computed anew "
                "is not kept; make the folder writable"
            ) from None
        return path
    if not path.is_file():
        raise DataError(f"{path}: no snapshot of this state; make one with rebuild")
    if path.read_bytes() != content:
        raise DataError(f"{path}: differs from what the raw responses give; it was changed")
    return path
