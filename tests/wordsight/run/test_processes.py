"""The same figures by every way to start a run: lmms-eval's command, one or two processes,
small or large batches, after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.wordsight.conftest import Command
from tests.wordsight.helpers import Finished, read_run

pytestmark = pytest.mark.slow

TASK = "sage_demo_swapped"


@pytest.fixture(scope="module")
def reference(
    tmp_path_factory: pytest.TempPathFactory, command: Command, tiny_vlm: Path
) -> Finished:
    """``wordsight eval``, one process, one question at a time."""
    folder = tmp_path_factory.mktemp("reference")
    words = _model(tiny_vlm, "--batch_size", "1")
    done = command("wordsight", "eval", *words, "--output_path", folder, "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    finished = read_run(folder)
    assert printed["results"][TASK]["hits1"] == finished.metrics[TASK]["hits1"]
    assert printed["failed"] == printed["invalid"] == 0
    return finished


def _model(tiny_vlm: Path, *more: str) -> list[str]:
    return [
        "--model",
        "wordsight_hf",
        "--model_args",
        f"pretrained={tiny_vlm},device=cpu",
        "--tasks",
        TASK,
        *more,
    ]


def _assert_same(found: Finished, reference: Finished) -> None:
    assert found.rankings == reference.rankings
    for key, scores in reference.scores.items():
        assert found.scores[key] == pytest.approx(scores, abs=1e-5)
    for name in ("hits1", "mrr", "hard_confusion", "random_confusion", "spis_hits1"):
        assert found.metrics[TASK][name] == pytest.approx(reference.metrics[TASK][name], abs=1e-12)


def test_lmms_eval_itself_gives_the_same(
    tmp_path: Path, command: Command, tiny_vlm: Path, reference: Finished
) -> None:
    words = _model(tiny_vlm, "--batch_size", "16", "--log_samples")

    done = command("lmms_eval", *words, "--output_path", tmp_path)

    assert done.returncode == 0, done.stderr
    assert "Stderr_CLT" in done.stdout
    _assert_same(read_run(tmp_path), reference)


@pytest.mark.parametrize("program", ["lmms_eval", "wordsight"])
def test_two_processes_give_the_same(
    tmp_path: Path, command: Command, tiny_vlm: Path, reference: Finished, program: str
) -> None:
    words = _model(tiny_vlm, "--batch_size", "16")
    words += ["--log_samples"] if program == "lmms_eval" else []
    launch = ["--nproc_per_node", "2", "--master_port", str(_free_port()), "-m", program]
    launch += ["eval"] if program == "wordsight" else []

    done = command("torch.distributed.run", *launch, *words, "--output_path", tmp_path)

    assert done.returncode == 0, done.stderr
    assert "rank 0" in done.stdout + done.stderr
    assert "rank 1" in done.stdout + done.stderr
    _assert_same(read_run(tmp_path), reference)


def test_a_killed_run_goes_on_where_it_stopped(
    tmp_path: Path, command: Command, tiny_vlm: Path, reference: Finished
) -> None:
    words = ["eval", *_model(tiny_vlm, "--batch_size", "1"), "--output_path", str(tmp_path)]
    started = subprocess.Popen(
        [sys.executable, "-m", "wordsight", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    kept = _wait_for_answers(tmp_path / "journal", 40, started)
    started.send_signal(signal.SIGKILL)
    started.wait()
    assert not list(tmp_path.glob("*_results.json"))

    refused = command("wordsight", *words)
    resumed = command("wordsight", *words, "--resume")

    assert refused.returncode == 1
    assert "--resume" in refused.stderr
    assert resumed.returncode == 0, resumed.stderr
    _assert_same(read_run(tmp_path), reference)
    (journal,) = (tmp_path / "journal").glob("*.jsonl")
    lines = journal.read_bytes().splitlines()
    whole = [json.loads(line)["key"] for line in lines if line.endswith(b"}")]
    assert len(whole) == len(set(whole)), "something was asked twice"
    assert kept < len(whole)


def test_ctrl_c_says_that_what_was_answered_is_kept(
    tmp_path: Path, tiny_vlm: Path, command: Command
) -> None:
    words = ["eval", *_model(tiny_vlm, "--batch_size", "1"), "--output_path", str(tmp_path)]
    started = subprocess.Popen(
        [sys.executable, "-m", "wordsight", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    _wait_for_answers(tmp_path / "journal", 10, started)
    started.send_signal(signal.SIGINT)
    _, printed = started.communicate(timeout=60)

    assert started.returncode == 130
    assert printed.strip().splitlines()[-1].startswith("wordsight: interrupted; ")
    assert "--resume" in printed
    assert "Traceback" not in printed


def _wait_for_answers(folder: Path, count: int, process: subprocess.Popen[Any]) -> int:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        assert process.poll() is None, "the run ended before it could be killed"
        lines = [line for path in folder.glob("*.jsonl") for line in path.read_bytes().splitlines()]
        if len(lines) >= count:
            return len(lines)
        time.sleep(0.01)
    raise AssertionError("no answers arrived")


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


_FLAKY = """
from wordsight.answers import failed, similarity
from wordsight.models.base import PictureModel


class Flaky(PictureModel):
    def answer(self, asks):
        for number, _ in enumerate(asks):
            yield failed("HTTP 503") if number == 3 else similarity(0.5)
"""


@pytest.mark.parametrize("program", ["lmms_eval", "wordsight"])
def test_a_failed_request_ends_in_a_status_that_is_not_zero(
    tmp_path: Path, command: Command, program: str
) -> None:
    models = tmp_path / "flaky_plugin" / "models"
    models.mkdir(parents=True)
    (models.parent / "tasks").mkdir()
    (models / "__init__.py").write_text('AVAILABLE_MODELS = {"flaky": "Flaky"}\n')
    (models / "flaky.py").write_text(_FLAKY)
    words = [
        "--model",
        "flaky",
        "--tasks",
        TASK,
        "--limit",
        "2",
        "--output_path",
        str(tmp_path / "o"),
    ]
    words = [*words, "--log_samples"] if program == "lmms_eval" else ["eval", *words]

    done = command(
        program, *words, LMMS_EVAL_PLUGINS="flaky_plugin", PYTHONPATH=f"{tmp_path}:{os.getcwd()}"
    )

    assert done.returncode == 3, done.stderr
    statuses = [log["status"] for log in read_run(tmp_path / "o").logs.values()]
    assert sorted(statuses) == ["failed", "ok"]


def test_bad_data_ends_in_one_line_and_status_one(tmp_path: Path, command: Command) -> None:
    yaml = tmp_path / "tasks" / "gone.yaml"
    yaml.parent.mkdir()
    template = Path(__file__).parents[3] / "tasks" / "_sage_yes_no_yaml"
    yaml.write_text(
        f"task: gone\ninclude: {template}\n"
        f"metadata:\n  version: 1\n  dataset: {tmp_path}/nowhere\n  config: demo\n"
    )

    done = command(
        "wordsight", "eval", "--model", "conse", "--tasks", "gone",
        "--include_path", yaml.parent, "--output_path", tmp_path / "o",
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith("wordsight: no dataset")
    assert "Traceback" not in done.stderr
