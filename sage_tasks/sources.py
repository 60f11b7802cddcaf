"""Which dataset folder a task reads."""

from __future__ import annotations

from pathlib import Path

from wordsight.hub import locate

DEMO = "demo"


def dataset_root(name: str) -> Path:
    """Folder of the dataset ``name``.

    The demo set ships with the package, a path is itself; any other name is looked up under
    WORDSIGHT_DATA, then at its pinned revision on the Hub. Raises DataError, naming the command
    that builds it, when there is no such dataset.
    """
    if name == DEMO:
        return Path(__file__).resolve().parent / "demo"
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    return locate(name)
