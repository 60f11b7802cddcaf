"""Where a benchmark lies."""

from __future__ import annotations

from pathlib import Path

from wordsight.hub import locate

DEMO = "demo"


def benchmark_root(name: str) -> Path:
    """The built-in demo, a folder, or a dataset found by its name. Raises DataError otherwise."""
    if name == DEMO:
        return Path(__file__).resolve().parent / "demo"
    path = Path(name).expanduser()
    return path if path.is_dir() else locate(name)
