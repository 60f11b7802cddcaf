"""What a model has answered, kept by content, so that a run that stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from wordsight.errors import DataError

# sqlite allows about a thousand variables in one statement on old builds
_CHUNK = 500
T = TypeVar("T")


class ContentCache:
    """A map from content keys to bytes in one SQLite file, or in memory where no path is given.

    Safe to use from several threads, and from several processes on one machine.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(
                str(path) if path else ":memory:", check_same_thread=False, timeout=60
            )
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value BLOB NOT NULL)"
            )
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"{path}: not a cache of this package ({error}); remove the file or name another"
            ) from None

    def __reduce__(self) -> tuple[type[ContentCache], tuple[Path | None]]:
        # a connection cannot travel to a worker: it opens the file anew
        return ContentCache, (self._path,)

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The values that are held, by key; missing keys are left out."""
        wanted = list(keys)
        found: dict[str, bytes] = {}
        with self._lock:
            for start in range(0, len(wanted), _CHUNK):
                chunk = wanted[start : start + _CHUNK]
                marks = ",".join("?" * len(chunk))
                query = f"SELECT key, value FROM kept WHERE key IN ({marks})"
                found.update(self._connection.execute(query, chunk).fetchall())
        return found

    def put_many(self, values: Mapping[str, bytes]) -> None:
        """Keep values; they are on disk when this returns."""
        with self._lock, self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO kept VALUES (?, ?)", list(values.items())
            )

    def fill(
        self, items: Mapping[str, T], make: Callable[[list[T]], Sequence[bytes]], batch: int
    ) -> dict[str, bytes]:
        """The value of every item by its key: held ones, and those that ``make`` gives for the
        rest, ``batch`` at a time, each batch kept as soon as it is there."""
        found = self.get_many(items)
        pending = [key for key in items if key not in found]
        for start in range(0, len(pending), batch):
            keys = pending[start : start + batch]
            made = dict(zip(keys, make([items[key] for key in keys]), strict=True))
            self.put_many(made)
            found |= made
        return found

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def content_key(*parts: str | bytes | int | None) -> str:
    """Hash over the parts, in order; what belongs to an answer's cause goes in."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part if isinstance(part, bytes) else json.dumps(part).encode()
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.hexdigest()
