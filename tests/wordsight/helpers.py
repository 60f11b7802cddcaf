"""Reading what a run leaves on disk, and a model that says what a test wants."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordsight.answers import similarity
from wordsight.models.base import Ask, PictureModel


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
            key: [i for _, i in sorted((-score, i) for i, score in enumerate(scores))]
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


class Scripted(PictureModel):
    """Answers what a function of the request says."""

    def __init__(self, say: Callable[[Ask], str] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._say = say or (lambda _: similarity(0.5))

    def answer(self, asks: Sequence[Ask]) -> Iterator[str]:
        """Yield the scripted answers."""
        return map(self._say, asks)
