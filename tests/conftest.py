"""Fixtures that every part of the suite may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with the real source files; the test is skipped where it is not at hand."""
    path = Path(os.environ.get("WORDSIGHT_SHARED", ROOT.parent / "shared"))
    if not (path / "data").is_dir():
        pytest.skip(f"real source files not found at {path} (set WORDSIGHT_SHARED)")
    return path
