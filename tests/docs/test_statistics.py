"""docs/statistics.md: its commands run.

Its examples and figures are checked in tests/leaderboard/stats/test_statistics_page.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.follow import Scene, follow

pytestmark = pytest.mark.slow

SMALL = "--items 300 --models 5 --resamples 2000 --scipy-models 3"


def test_commands_run(tmp_path: Path) -> None:
    for name in ("tools", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    bench = "python tools/bench/bench_stats.py"
    follow("docs/statistics.md", tmp_path, Scene({bench: f"{bench} {SMALL}"}), examples=False)
