"""Runs on the demo of SymbalBench, written as lmms-eval leaves them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from symbal_tasks.records import Setting
from symbal_tasks.sources import benchmark_root
from symbal_tasks.view import Benchmark, open_benchmark
from tests.leaderboard.bench import write_lines

TASK = "symbalbench_demo"


def demo() -> Benchmark:
    """The demo inside the package."""
    return open_benchmark(benchmark_root("demo"), "natural")


def right(setting: Setting) -> str:
    """The answer that is right throughout."""
    return told(setting.t, setting.v)


def told(errors: str, features: str) -> str:
    """An answer of two lines."""
    return f"Textual Error: {errors}\nVisual Feature: {features}"


def write_run(
    root: Path, name: str, answer: Callable[[Setting], str | None], *, fingerprint: str = ""
) -> Path:
    """A run of ``org/name`` that answers every setting with ``answer``; None leaves it out."""
    benchmark = demo()
    folder = root / name / "model"
    folder.mkdir(parents=True)
    build = fingerprint or benchmark.stored.manifest["fingerprint"]
    results = {
        "config": {"model": "hf", "model_args": f"pretrained=org/{name}"},
        "configs": {TASK: {"metadata": {"dataset_fingerprint": build}}},
    }
    stamp = "20261130_101500"
    (folder / f"{stamp}_results.json").write_text(json.dumps(results), encoding="utf-8")
    lines = [
        {
            "doc_id": number,
            "wordsight": {
                "item": setting.id,
                "task": TASK,
                "task_version": "1",
                "prompt": "direct-1",
                "responses": [response],
                "status": "ok",
            },
        }
        for number, setting in enumerate(benchmark.settings)
        if (response := answer(setting)) is not None
    ]
    write_lines(folder / f"{stamp}_samples_{TASK}.jsonl", lines)
    return root / name
