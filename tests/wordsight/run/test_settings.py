"""SymbalBench's questions, which show no picture, on the models of this package."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tqdm import tqdm

from tests.symbal_tasks import chat_server
from tests.wordsight.helpers import read_run
from wordsight.errors import WordsightError
from wordsight.run.harness import run
from wordsight.run.journal import Journal, keep_answers
from wordsight.run.report import evaluate, merge_and_report
from wordsight.run.spec import RunSpec

TASKS = ("symbalbench_demo",)


def responses(folder: Path) -> dict[str, str]:
    """Setting -> raw answer."""
    return {key[1]: log["responses"][0] for key, log in read_run(folder).logs.items()}


def test_checkpoint_writes_its_answer(tmp_path: Path, tiny_vlm: Path) -> None:
    arguments = f"pretrained={tiny_vlm},device=cpu"
    evaluate(RunSpec("wordsight_hf", TASKS, arguments, limit=3), tmp_path / "one", quiet=True)
    three = RunSpec("wordsight_hf", TASKS, arguments, limit=3, batch_size=3)
    evaluate(three, tmp_path / "three", quiet=True)

    found = responses(tmp_path / "one")

    assert len(found) == 3
    assert all(found.values())
    assert responses(tmp_path / "three") == found


def test_likelihood_form_of_a_stock_adapter_writes_too(tmp_path: Path, tiny_vlm: Path) -> None:
    arguments = f"pretrained={tiny_vlm},device_map=cpu"
    spec = RunSpec(
        "wordsight_qwen2_5_vl", TASKS, arguments, limit=1, device="cpu", force_simple=True
    )

    evaluate(spec, tmp_path, quiet=True)

    (text,) = responses(tmp_path).values()
    assert '"yes"' not in text


def test_server_answers_and_a_failure_is_marked(tmp_path: Path) -> None:
    script = chat_server.Script()
    script.fail_next = [500]
    with chat_server.serve(script) as address:
        spec = RunSpec("wordsight_openai", TASKS, f"model=m,base_url={address},retries=0", limit=2)
        result = evaluate(spec, tmp_path, quiet=True)

    assert result is not None
    assert result.failed == 1
    assert len(script.requests) == 2
    assert "Textual Error: ..." in json.dumps(script.requests[0])


def test_matcher_says_that_it_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(WordsightError, match="writes none"):
        run(RunSpec("conse", TASKS, "text=word", limit=1), tmp_path, quiet=True)


def test_shards_of_settings_are_merged(tmp_path: Path) -> None:
    options = f"cache={tmp_path / 'cache.sqlite'}"
    for number in (1, 2):
        spec = RunSpec("symbal_nogroup", TASKS, options, shard=f"{number}/2")
        evaluate(spec, tmp_path / f"part{number}", quiet=True)

    parts = [tmp_path / "part1", tmp_path / "part2"]
    merge_and_report(parts, tmp_path / "merged", as_json=True)

    assert responses(tmp_path / "merged") == responses(parts[0]) | responses(parts[1])
    assert len(responses(tmp_path / "merged")) == 18


def test_long_prompts_are_asked_in_small_lots(tmp_path: Path) -> None:
    lots: list[int] = []

    def ask(requests: list[Any]) -> Sequence[str]:
        lots.append(len(requests))
        return ["x"] * len(requests)

    def asked(prompt: str) -> list[int]:
        lots.clear()
        requests = [
            SimpleNamespace(args=(f"{prompt}{i}", {}, {}, i, "toy", "test"), idx=0)
            for i in range(300)
        ]
        journal = Journal(tmp_path, f"{len(prompt)}")
        documents: dict[str, Any] = {"toy": {"test": [{}] * 300}}
        list(keep_answers(ask, documents, journal, tqdm(disable=True))(requests))
        return lots

    assert asked("short") == [256, 44]
    assert asked("long" * 6000)[:2] == [8, 8]
    kept = (tmp_path / "24000.0.jsonl").read_text().splitlines()
    assert len({json.loads(line)["key"] for line in kept}) == 300
