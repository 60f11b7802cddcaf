"""Which dataset folder a task reads."""

from __future__ import annotations

from pathlib import Path

from wordsight.errors import DataError

DEMO = "demo"


def dataset_root(name: str) -> Path:
    """Folder of the dataset ``name``: the demo set ships with the package, a path is itself.

    Raises DataError when there is no such dataset.
    """
    if name == DEMO:
        return Path(__file__).resolve().parent / "demo"
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    raise DataError(f"no dataset {name!r}: neither a built-in one nor a folder")
