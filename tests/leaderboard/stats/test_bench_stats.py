"""The benchmark runs and its comparison with scipy and statsmodels comes out equal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[3] / "tools" / "bench" / "bench_stats.py"
SMALL = ["--items", "300", "--models", "5", "--resamples", "2000", "--scipy-models", "3"]


def bench(*options: str) -> str:
    command = [sys.executable, str(BENCH), *SMALL, *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_figures_agree_with_scipy_and_statsmodels() -> None:
    figures = json.loads(bench("--json"))
    assert figures["pairs"] == 10
    assert figures["statsmodels_pairs_run"] == 10
    assert figures["different_p"] == 0
    # an end's Monte Carlo error at 2,000 resamples is about 0.06 standard errors
    assert figures["largest_distance_in_standard_errors"] < 0.3


def test_report_says_what_is_extrapolated() -> None:
    text = bench()
    assert "extrapolated from 3 models" in text
    assert "times faster" in text
