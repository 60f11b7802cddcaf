"""Tiny models and a way to read what runs leave on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from wordsight.answers import similarity
from wordsight.models.base import Ask, PictureModel


@pytest.fixture(scope="session")
def tiny_vlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen2.5-VL folder with random weights."""
    from wordsight.tiny_models import build_tiny_model

    return build_tiny_model("qwen2_5_vl", tmp_path_factory.mktemp("models") / "qwen2_5_vl")


@dataclass(frozen=True)
class Finished:
    """A run on disk: metrics per task, and the log of every item."""

    metrics: dict[str, dict[str, float]]
    logs: dict[tuple[str, str], dict[str, Any]]

    @property
    def scores(self) -> dict[tuple[str, str], list[float]]:
        """Scores per candidate of every (task, item)."""
        return {key: log["scores"] for key, log in self.logs.items()}

    @property
    def rankings(self) -> dict[tuple[str, str], list[int]]:
        """Candidates from best to worst of every (task, item)."""
        return {
            key: sorted(range(len(scores)), key=lambda i, s=scores: (-s[i], i))
            for key, scores in self.scores.items()
        }


def read_run(folder: Path) -> Finished:
    """Read the one run that lies under ``folder``."""
    (results_file,) = folder.rglob("*_results.json")
    results = json.loads(results_file.read_text())["results"]
    metrics = {
        task: {key.split(",")[0]: value for key, value in row.items() if isinstance(value, float)}
        for task, row in results.items()
    }
    logs = {}
    for path in results_file.parent.glob("*_samples_*.jsonl"):
        for line in path.read_text().splitlines():
            log = json.loads(line)["wordsight"]
            logs[log["task"], log["item"]] = log
    return Finished(metrics, logs)


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def command() -> Command:
    """Run a Python module as a user would run its command, on one thread."""

    def call(module: str, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", module, *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
        )

    return call


class Scripted(PictureModel):
    """Answers what a function of the request says."""

    def __init__(self, say: Callable[[Ask], str] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._say = say or (lambda _: similarity(0.5))

    def answer(self, asks: Sequence[Ask]) -> Iterator[str]:
        """Yield the scripted answers."""
        return map(self._say, asks)
