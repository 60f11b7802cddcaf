"""Finding files by name below the folders that a user points at."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

from wordsight.errors import DataError


def walk(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """(folder, subfolders, files) for everything below ``root``, sorted; links are followed once.

    People link their COCO folder into place, which ``rglob`` would not enter.
    """
    seen: set[str] = set()
    for folder, subfolders, files in os.walk(root, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            subfolders.clear()
            continue
        seen.add(real)
        subfolders.sort()
        yield Path(folder), subfolders, sorted(files)


def find_files(root: Path, names: Iterable[str]) -> dict[str, list[Path]]:
    """Name -> the files so called below ``root``, nearest to it first."""
    found: dict[str, list[Path]] = {name: [] for name in names}
    for folder, _, files in walk(root):
        for name in found.keys() & set(files):
            found[name].append(folder / name)
    return {name: sorted(paths, key=_depth) for name, paths in found.items()}


def find_folders(root: Path, pattern: str) -> list[Path]:
    """Folders below ``root`` whose name matches the pattern, nearest to it first."""
    return sorted(
        (
            folder / name
            for folder, names, _ in walk(root)
            for name in names
            if fnmatch(name, pattern)
        ),
        key=_depth,
    )


def _depth(path: Path) -> tuple[int, str]:
    return len(path.parts), str(path)


class PictureFolder:
    """Files below a folder, found by name: as written, else in another case or composed form."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise DataError(f"{root}: the picture folder does not exist")
        self.root = root
        self._exact: dict[str, Path] = {}
        self._loose: dict[str, Path] = {}
        for folder, _, files in walk(root):
            for name in files:
                path = folder / name
                self._exact.setdefault(name, path)
                self._loose.setdefault(_loosened(name), path)

    def find(self, name: str) -> Path | None:
        """The file called ``name``, or None."""
        return self._exact.get(name) or self._loose.get(_loosened(name))


def _loosened(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
