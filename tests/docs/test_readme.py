"""README.md: its commands run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.follow import Scene, follow

pytestmark = pytest.mark.slow


def test_commands_run(tmp_path: Path) -> None:
    from wordsight.tiny_models import build_tiny_model

    model = build_tiny_model("qwen2_5_vl", tmp_path / "tiny")
    follow("README.md", tmp_path, Scene({"Qwen/Qwen2.5-VL-7B-Instruct": f"{model} --limit 10"}))
