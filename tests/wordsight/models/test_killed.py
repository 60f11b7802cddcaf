"""A run of wordsight_hf killed at a random moment and resumed leaves the files of a whole one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.wordsight.conftest import Command

pytestmark = pytest.mark.slow
ITEMS = 12
# What tells of when and for how long; the folder's name is in some.
_TIMES = {
    "seconds",
    "date",
    "start_time",
    "end_time",
    "total_evaluation_time_seconds",
    "throughput",
    "created",
    "command",
}


def words(model: Path, output: Path, batch_size: int) -> list[str]:
    return [
        *("eval", "--model", "wordsight_hf", "--model_args", f"pretrained={model},device=cpu"),
        *("--tasks", "sage_demo_swapped", "--limit", str(ITEMS)),
        *("--batch_size", str(batch_size), "--output_path", str(output)),
    ]


def without_times(value: Any) -> Any:
    """The same without what a clock says; responses are JSON in text."""
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in _TIMES}
    if isinstance(value, list):
        return [without_times(part) for part in value]
    if isinstance(value, str) and value.startswith("{"):
        return without_times(json.loads(value))
    return value


def files(output: Path) -> dict[str, Any]:
    """Every file that a run leaves for its reader, parsed."""
    found: dict[str, Any] = {}
    for path in sorted(output.rglob("*_samples_*.jsonl")):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        found[path.name.split("_samples_")[1]] = without_times(lines)
    (results,) = output.rglob("*_results.json")
    found["results"] = without_times(json.loads(results.read_text()))
    return found


def kill_after(count: int, command: list[str], journal: Path) -> int:
    """Start a run, kill it once so many answers are kept, and say how many are."""
    started = subprocess.Popen(
        [sys.executable, "-m", "wordsight", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )

    def kept() -> int:
        return sum(path.read_bytes().count(b"\n") for path in journal.glob("*.jsonl"))

    while kept() < count:
        assert started.poll() is None, "the run ended before it could be killed"
        time.sleep(0.001)
    started.send_signal(signal.SIGKILL)
    started.wait()
    return kept()


@pytest.mark.parametrize("batch_size", [1, 8])
def test_killed_and_resumed(
    batch_size: int, tmp_path: Path, tiny_vlm: Path, command: Command
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    done = command("wordsight", *words(tiny_vlm, whole, batch_size))
    assert done.returncode == 0, done.stderr
    moment = random.randrange(1, 10 * ITEMS // 2)
    kept = kill_after(moment, words(tiny_vlm, cut, batch_size), cut / "journal")
    assert moment <= kept < 10 * ITEMS, f"to be killed at {moment}"
    done = command("wordsight", *words(tiny_vlm, cut, batch_size), "--resume")
    assert done.returncode == 0, done.stderr
    found, expected = files(cut), files(whole)
    assert {"results", "sage_demo_swapped.jsonl"} <= expected.keys()
    assert found == expected, f"killed at {kept} of {10 * ITEMS} answers"
