"""Finding a picture by the name that a source gives it."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

from wordsight.errors import DataError


class PictureFolder:
    """Files below a folder, found by name: as written, else in another case or composed form."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise DataError(f"{root}: the picture folder does not exist")
        self.root = root
        self._exact: dict[str, Path] = {}
        self._loose: dict[str, Path] = {}
        for folder, subfolders, files in os.walk(root):
            subfolders.sort()
            for name in sorted(files):
                path = Path(folder, name)
                self._exact.setdefault(name, path)
                self._loose.setdefault(_loosened(name), path)

    def find(self, name: str) -> Path | None:
        """The file called ``name``, or None."""
        return self._exact.get(name) or self._loose.get(_loosened(name))


def _loosened(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
