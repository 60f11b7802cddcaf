"""Texts kept on disk by the content of what they were made from."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from pathlib import Path

from wordsight.errors import WordsightError

VARIABLE = "WORDSIGHT_CACHE"


def cache_folder() -> Path:
    """Folder for what can be made or fetched again: $WORDSIGHT_CACHE, else the user's cache."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "wordsight"


class DiskCache:
    """A table of texts in one SQLite file, safe for several processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # autocommit: a text is kept the moment it is there
            self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS texts (key TEXT PRIMARY KEY, text TEXT)")
        except (OSError, sqlite3.Error) as error:
            raise WordsightError(
                f"{path}: the cache cannot be opened ({error}); delete the file or name another "
                f"folder in {VARIABLE}"
            ) from error

    def get(self, key: str) -> str | None:
        """The text kept under ``key``, if any."""
        row = self._db.execute("SELECT text FROM texts WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, key: str, text: str) -> None:
        """Keep a text. Raises WordsightError when the disk takes no more."""
        try:
            self._db.execute("INSERT OR REPLACE INTO texts VALUES (?, ?)", (key, text))
        except sqlite3.Error as error:
            raise WordsightError(f"{self.path}: cannot write ({error})") from error


def content_key(*parts: object) -> str:
    """Hash of JSON values."""
    payload = json.dumps(parts, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(payload.encode()).hexdigest()
