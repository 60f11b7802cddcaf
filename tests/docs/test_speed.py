"""docs/speed.md: its benchmarks run, on few pictures, tiny models and a CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.follow import Scene, follow

pytestmark = pytest.mark.slow


def test_commands_run(tmp_path: Path) -> None:
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    stand_ins = {
        " --device cuda --dtype bfloat16": "",
        "--runs 3": "--runs 1",
        "--model mid": "--model tiny",
        "--model full": "--model tiny",
        " --pictures 150": "",
        " --pictures 50": "",
        "bench_hf.py": "bench_hf.py --pictures 3",
        "bench_itm.py": "bench_itm.py --pictures 4",
        "bench_openai.py": "bench_openai.py --pictures 8",
    }
    follow("docs/speed.md", tmp_path, Scene(stand_ins))
