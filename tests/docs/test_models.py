"""docs/models.md: its commands run, with a tiny checkpoint and a server on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.follow import Scene, follow
from tests.wordsight.models.loopback import ChatServer

pytestmark = pytest.mark.slow


def test_commands_run(tmp_path: Path) -> None:
    from wordsight.tiny_models import build_tiny_model

    (tmp_path / "tools").symlink_to(ROOT / "tools")
    server = ChatServer(lambda number, body: "likelihood")
    model = build_tiny_model("qwen2_5_vl", tmp_path / "tiny")
    stand_ins = {
        "pretrained=Qwen/Qwen2.5-VL-7B-Instruct": f"pretrained={model}",
        "http://localhost:8000/v1": server.url,
        "--tasks sage_verse": "--tasks sage_demo --limit 2",
    }
    try:
        follow("docs/models.md", tmp_path, Scene(stand_ins))
    finally:
        server.close()
    assert len(server.bodies) >= 20
