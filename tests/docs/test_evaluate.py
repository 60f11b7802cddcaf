"""docs/evaluate.md: its commands run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.follow import Scene, follow

pytestmark = pytest.mark.slow


def test_commands_run(tmp_path: Path) -> None:
    # not the shards: they are merged over the whole task
    fewer = {"text=gloss --tasks": "text=gloss --limit 8 --tasks"}
    follow("docs/evaluate.md", tmp_path, Scene(fewer))
