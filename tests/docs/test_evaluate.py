"""docs/evaluate.md: its commands run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.follow import follow

pytestmark = pytest.mark.slow


def test_commands_run(tmp_path: Path) -> None:
    follow("docs/evaluate.md", tmp_path)
