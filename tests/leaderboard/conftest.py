"""Fixtures of the leaderboard's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.leaderboard.bench import Bench, make_bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A small dataset and an empty board over it."""
    return make_bench(tmp_path)
