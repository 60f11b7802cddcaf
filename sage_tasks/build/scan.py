"""Scanning a source's pictures one by one: content id, size, and whether each can be used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from sage_tasks.build.inspect import load_picture, look
from sage_tasks.build.plan import Skipped
from wordsight.errors import DataError


@dataclass(frozen=True)
class Scanned:
    """A picture as found; ``id`` is empty and ``reason`` filled where it cannot be used."""

    name: str
    path: str
    file_bytes: int = 0
    modified: int = 0
    id: str = ""
    stored_bytes: int = 0
    width: int = 0
    height: int = 0
    suffix: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Scan:
    """All pictures of a source by name."""

    pictures: dict[str, Scanned]

    def content(self, name: str) -> str | None:
        """Content id of a usable picture, else None; also None for a name never scanned."""
        found = self.pictures.get(name)
        return (found.id or None) if found else None

    def skipped(self) -> list[Skipped]:
        """The pictures that cannot be used, with the reason."""
        return [
            Skipped("picture", picture.reason, picture.path or "not on disk", picture.name)
            for picture in self.pictures.values()
            if picture.reason
        ]


def scan_pictures(
    names: Iterable[str],
    find: Callable[[str], Path | None],
    journal: Path,
    thorough: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> Scan:
    """Scan every named picture, one in memory at a time.

    journal : file that each result is appended to; what it already holds about an unchanged file
        is taken from it, so that an interrupted scan goes on where it stopped.
    """
    known = _read_journal(journal)
    pictures: dict[str, Scanned] = {}
    journal.parent.mkdir(parents=True, exist_ok=True)
    with journal.open("a", encoding="utf-8") as log:
        for done, name in enumerate(names, 1):
            path = find(name)
            if path is None:
                pictures[name] = Scanned(name, "", reason="the file is missing")
                continue
            status = path.stat()
            before = known.get(name)
            unchanged = (
                before is not None
                and before.path == str(path)
                and (before.file_bytes, before.modified) == (status.st_size, status.st_mtime_ns)
            )
            if before is not None and unchanged:
                pictures[name] = before
            else:
                found = _scan_one(name, path, status.st_size, status.st_mtime_ns, thorough)
                pictures[name] = found
                log.write(json.dumps(asdict(found), ensure_ascii=False) + "\n")
            progress(done)
    return Scan(pictures)


def _scan_one(name: str, path: Path, size: int, modified: int, thorough: bool) -> Scanned:
    try:
        content = load_picture(path)
        seen = look(content, "", thorough)
    except DataError as error:
        return Scanned(name, str(path), size, modified, reason=str(error).removeprefix(": "))
    except Exception as error:
        # Decoders raise anything on hostile bytes (struct.error, KeyError, ...); one damaged
        # picture among ten thousand must be listed, not end the build.
        reason = f"cannot be decoded ({type(error).__name__}: {error})"
        return Scanned(name, str(path), size, modified, reason=reason)
    return Scanned(
        name=name,
        path=str(path),
        file_bytes=size,
        modified=modified,
        id=hashlib.sha256(content).hexdigest(),
        stored_bytes=len(content),
        width=seen.width,
        height=seen.height,
        suffix=seen.suffix,
    )


def _read_journal(path: Path) -> dict[str, Scanned]:
    if not path.is_file():
        return {}
    known: dict[str, Scanned] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            entry = Scanned(**json.loads(line))
        except (ValueError, TypeError):
            continue  # the last line of a build that was killed
        known[entry.name] = entry
    return known
