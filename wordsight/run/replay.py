"""A model that repeats answers given before: how shards become one result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lmms_eval.api.model import lmms

from wordsight.errors import DataError, WordsightError
from wordsight.run.harness import RunResult, run
from wordsight.run.manifest import MANIFEST_NAME
from wordsight.run.read import read_json, read_samples
from wordsight.run.spec import RunSpec
from wordsight.shard import Shard

_SAME = ("model", "model_args", "tasks", "gen_kwargs", "task_versions", "prompts")


class Replay(lmms):
    """Answers from a table (task, item) -> responses in candidate order."""

    is_simple = True

    def __init__(self, answers: dict[tuple[str, str], list[str]]) -> None:
        super().__init__()
        self._answers = answers

    def generate_until(self, requests: Sequence[Any]) -> Iterator[str]:
        """Yield the known answers. Raises DataError naming items that no part holds."""
        docs = [(r.args[4], self.task_dict[r.args[4]][r.args[5]][r.args[3]]) for r in requests]
        missing = sorted({(t, d["item"]) for t, d in docs if (t, d["item"]) not in self._answers})
        if missing:
            task, item = missing[0]
            raise DataError(
                f"{len(missing)} item(s) are in none of the parts, the first is {task} {item}: "
                "is a shard missing or unfinished?"
            )
        for task, doc in docs:
            # a setting of SymbalBench has one answer and no candidates
            yield self._answers[task, doc["item"]][doc.get("candidate", 0)]

    def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
        """Not offered: only generated answers are merged."""
        raise WordsightError("only generated answers can be merged")

    def generate_until_multi_round(self, requests: Sequence[Any]) -> list[str]:
        """Not offered: only generated answers are merged."""
        raise WordsightError("only generated answers can be merged")


def merge(parts: Sequence[Path], output: Path) -> tuple[RunResult, RunSpec, float]:
    """Put the shards of one run together and score them as one.

    Returns the result, the spec of the whole run and the seconds that the parts took together.
    Raises DataError when the parts are of different runs, overlap, or leave items out.
    """
    manifests = [read_json(part / MANIFEST_NAME) for part in parts]
    for part, manifest in zip(parts, manifests, strict=True):
        for name in _SAME:
            if manifest[name] != manifests[0][name]:
                raise DataError(
                    f"{part}: {name} is {manifest[name]!r}, but {manifests[0][name]!r} in "
                    f"{parts[0]}: these are parts of different runs"
                )
    _require_all_shards([manifest["shard"] for manifest in manifests])
    answers: dict[tuple[str, str], list[str]] = {}
    for part, manifest in zip(parts, manifests, strict=True):
        for key, responses in _responses(part, manifest):
            if key in answers:
                raise DataError(f"{part}: item {key[1]} of {key[0]} is in another part already")
            answers[key] = responses
    first = manifests[0]
    spec = RunSpec(
        model=first["model"],
        tasks=tuple(first["tasks"]),
        model_args=first["model_args"],
        batch_size=first["batch_size"],
        gen_kwargs=first["gen_kwargs"],
        seed=first["seed"],
    )
    result = run(spec, output, restart=True, model=Replay(answers), quiet=True)
    assert result is not None
    return result, spec, sum(manifest["seconds"] for manifest in manifests)


def _require_all_shards(given: Sequence[str]) -> None:
    shards = [Shard.parse(text) for text in given]
    total = max(shard.total for shard in shards)
    missing = [f"{i}/{total}" for i in range(1, total + 1) if f"{i}/{total}" not in given]
    if missing:
        raise DataError(
            f"given are the parts {', '.join(given)}; missing: {', '.join(missing)}. Run them with "
            "--shard and name their folders too"
        )


def _responses(part: Path, manifest: dict[str, Any]) -> Iterator[tuple[tuple[str, str], list[str]]]:
    for path in [part / name for name in manifest["sample_files"]]:
        for _, sample in read_samples(path):
            log = sample["wordsight"]
            yield (log["task"], log["item"]), log["responses"]
