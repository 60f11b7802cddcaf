"""Runs in this process: ties, failures, shards, resume."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.wordsight.helpers import Scripted, read_run
from wordsight.answers import failed, similarity
from wordsight.errors import DataError, IncompleteRunError, WordsightError
from wordsight.models.base import Ask
from wordsight.run.harness import RunResult, run
from wordsight.run.report import evaluate, merge_and_report
from wordsight.run.spec import RunSpec
from wordsight.tiny_models import build_tiny_model

TASKS = ("sage_demo",)


def _run(folder: Path, say: Callable[[Ask], str] | None = None, **options: object) -> RunResult:
    spec = RunSpec(model="scripted", tasks=TASKS, limit=5)
    result = run(spec, folder, model=Scripted(say), quiet=True, **options)  # type: ignore[arg-type]
    assert result is not None
    return result


def test_a_constant_model_scores_chance_exactly(tmp_path: Path) -> None:
    _run(tmp_path)

    row = read_run(tmp_path).metrics["sage_demo"]
    assert row["hits1"] == 0.1
    assert row["mrr"] == pytest.approx(0.2928968253968254, abs=1e-15)
    assert row["hits1_stderr_clt"] == 0.0


def test_limit_counts_queries(tmp_path: Path) -> None:
    _run(tmp_path)

    assert len(read_run(tmp_path).logs) == 5


def test_the_log_carries_what_a_rescoring_needs(tmp_path: Path) -> None:
    _run(tmp_path, lambda ask: similarity(len(ask.image_id) + 0.25, note="kept"))

    for log in read_run(tmp_path).logs.values():
        assert log["responses"] == ['{"similarity": 64.25, "note": "kept"}'] * 10
        assert log["interface"] == "similarity"
        assert log["prompt"] == "yes_no-1"
        assert log["status"] == "ok"


def test_a_failed_request_leaves_the_run_incomplete_and_resume_completes_it(tmp_path: Path) -> None:
    asked: list[str] = []

    def flaky(ask: Ask) -> str:
        asked.append(ask.image_id)
        return failed("HTTP 503") if len(asked) == 13 else similarity(1.0)

    first = _run(tmp_path, flaky)
    assert first.failed == 1
    with pytest.raises(IncompleteRunError, match="--resume"):
        first.raise_if_incomplete()
    assert math.isnan(
        json.loads(first.results_file.read_text())["results"]["sage_demo"]["hits1,none"]
    )

    before = len(asked)
    second = _run(tmp_path, flaky, resume=True)
    assert second.failed == 0
    assert len(asked) == before + 1


def test_an_unreadable_answer_makes_the_item_invalid_and_is_counted(tmp_path: Path) -> None:
    first: list[str] = []

    def mumble(ask: Ask) -> str:
        first.append(ask.image_id)
        return "hm" if len(first) == 1 else "No"

    result = _run(tmp_path, mumble)

    assert (result.invalid, result.failed) == (1, 0)
    # the other four items: ten times No is a ten-way tie
    assert read_run(tmp_path).metrics["sage_demo"]["hits1"] == pytest.approx(4 * 0.1 / 5)


def test_answers_of_an_earlier_run_are_not_used_or_lost_unasked(tmp_path: Path) -> None:
    _run(tmp_path)

    with pytest.raises(WordsightError, match=r"--resume uses them, --restart throws them away"):
        _run(tmp_path)


def test_two_runs_of_a_model_do_not_write_into_one_folder(tmp_path: Path) -> None:
    code = (
        "import sys, filelock; "
        "lock = filelock.FileLock(sys.argv[1]); lock.acquire(); print('held', flush=True); "
        "sys.stdin.read()"
    )
    spec = RunSpec(model="scripted", tasks=TASKS, limit=5)
    path = tmp_path / "journal" / f"{spec.key}.0.lock"
    path.parent.mkdir()
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdout.readline().strip() == b"held"

    with pytest.raises(WordsightError, match="another run of this model is writing"):
        _run(tmp_path)
    other.communicate()
    _run(tmp_path)


def test_restart_asks_again(tmp_path: Path) -> None:
    _run(tmp_path)

    _run(tmp_path, lambda ask: similarity(float(int(ask.image_id[:6], 16))), restart=True)

    logs = [json.loads(line) for line in next((tmp_path / "journal").glob("*.jsonl")).open()]
    assert all('"similarity": 0.5' not in log["response"] for log in logs)


def test_shards_merge_to_the_whole(tmp_path: Path, tiny_vlm: Path) -> None:
    def spec(shard: str) -> RunSpec:
        return RunSpec(
            model="wordsight_hf",
            model_args=f"pretrained={tiny_vlm},device=cpu",
            tasks=("sage_demo_swapped",),
            batch_size=8,
            shard=shard,
        )

    evaluate(spec("1/1"), tmp_path / "whole", quiet=True)
    for i in (1, 2, 3):
        evaluate(spec(f"{i}/3"), tmp_path / f"part{i}", quiet=True)

    merge_and_report([tmp_path / f"part{i}" for i in (2, 1, 3)], tmp_path / "merged", as_json=True)

    whole, merged = (read_run(tmp_path / name) for name in ("whole", "merged"))
    assert merged.metrics["sage_demo_swapped"].keys() == whole.metrics["sage_demo_swapped"].keys()
    assert merged.rankings == whole.rankings
    for name, value in whole.metrics["sage_demo_swapped"].items():
        assert merged.metrics["sage_demo_swapped"][name] == pytest.approx(value, abs=1e-12)
    for key, scores in whole.scores.items():
        assert merged.scores[key] == pytest.approx(scores, abs=1e-5)


def test_a_missing_or_doubled_shard_is_named(tmp_path: Path) -> None:
    for i in (1, 2):
        evaluate(
            RunSpec(model="conse", model_args="text=word", tasks=TASKS, limit=2, shard=f"{i}/2"),
            tmp_path / f"part{i}",
            quiet=True,
        )
    parts = [tmp_path / "part1", tmp_path / "part2"]

    with pytest.raises(DataError, match=r"item\(s\) are in none of the parts"):
        merge_and_report(parts, tmp_path / "a", as_json=True)
    with pytest.raises(DataError, match=r"is in another part already"):
        merge_and_report([*parts, parts[0]], tmp_path / "b", as_json=True)
    with pytest.raises(DataError, match=r"given are the parts 2/2; missing: 1/2"):
        merge_and_report([parts[1]], tmp_path / "d", as_json=True)
    with pytest.raises(DataError, match=r"no finished run"):
        merge_and_report([parts[0], tmp_path], tmp_path / "c", as_json=True)


@pytest.mark.parametrize("shard", ["0/3", "4/3", "x", "99999/99999"])
def test_a_bad_shard_is_refused(tmp_path: Path, shard: str) -> None:
    spec = RunSpec(model="scripted", tasks=TASKS, shard=shard)

    with pytest.raises(WordsightError, match="shard"):
        run(spec, tmp_path, model=Scripted(), quiet=True)


@pytest.mark.parametrize("arguments", ["txt=word", "text", "text=picture"])
def test_wrong_model_arguments_name_those_that_are_taken(tmp_path: Path, arguments: str) -> None:
    spec = RunSpec(model="conse", model_args=arguments, tasks=TASKS)

    with pytest.raises(WordsightError, match="text"):
        run(spec, tmp_path, quiet=True)


def test_damaged_weights_are_one_line(tmp_path: Path) -> None:
    folder = build_tiny_model("qwen2_5_vl", tmp_path / "tiny")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:2000])
    spec = RunSpec("wordsight_hf", TASKS, model_args=f"pretrained={folder},device=cpu")

    with pytest.raises(WordsightError, match="are cut or damaged"):
        run(spec, tmp_path / "out", quiet=True)
    with pytest.raises(WordsightError, match="no tiny model 'gpt'; there are align, clip"):
        build_tiny_model("gpt", tmp_path / "no")


def test_unknown_names_are_named(tmp_path: Path) -> None:
    with pytest.raises(WordsightError, match=r"unknown task\(s\) sage_nowhere"):
        run(RunSpec("s", ("sage_nowhere",)), tmp_path / "a", model=Scripted(), quiet=True)
    with pytest.raises(WordsightError, match="unknown model 'nobody'"):
        run(RunSpec("nobody", TASKS), tmp_path / "b", quiet=True)
