"""README.md: its commands run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.follow import Scene, follow
from tests.docs.test_audit import plant
from tests.symbal_tasks.fixtures import Release

pytestmark = pytest.mark.slow


def test_commands_run(tmp_path: Path, coco_release: Release) -> None:
    from wordsight.tiny_models import build_tiny_model

    plant(coco_release, tmp_path)
    model = build_tiny_model("qwen2_5_vl", tmp_path / "tiny")
    stand_ins = {"pretrained=Qwen/Qwen2.5-VL-7B-Instruct": f"pretrained={model} --batch_size 16"}
    follow("README.md", tmp_path, Scene(stand_ins))
    assert "kite" in (tmp_path / "audit" / "audit.json").read_text(encoding="utf-8")
