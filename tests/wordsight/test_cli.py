"""The command line: fast to start, honest about errors."""

from __future__ import annotations

import subprocess
import sys

import pytest

import wordsight
from wordsight.task_paths import task_names


def _wordsight(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "wordsight", *words], capture_output=True, text=True, check=False
    )


def test_version() -> None:
    assert _wordsight("--version").stdout.strip() == wordsight.__version__


def test_help_names_the_commands() -> None:
    printed = _wordsight("--help").stdout

    for command in ("eval", "merge", "demo", "submit", "leaderboard", "build"):
        assert command in printed


def test_starting_imports_nothing_heavy() -> None:
    code = (
        "import sys, wordsight.cli; print([m for m in ('torch', 'lmms_eval', 'datasets', 'pandas', "
        "'numpy', 'duckdb', 'gradio', 'pydantic', 'PIL') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_tasks_lists_what_the_yaml_defines() -> None:
    printed = _wordsight("tasks").stdout.split()

    assert printed == task_names()
    assert {"sage_demo", "sage_demo_swapped", "sage_demo_spis"} <= set(printed)


_EVAL = ("eval", "--model", "conse", "--tasks", "sage_demo", "--output_path", "o")


@pytest.mark.parametrize(
    "words",
    [
        ("eval",),
        ("eval", "--model", "conse"),
        ("nonsense",),
        (*_EVAL, "--limit", "2", "--shard", "1/2"),
        (*_EVAL, "--limit", "0"),
        (*_EVAL, "--shard", "4/3"),
        (*_EVAL, "--resume", "--restart"),
        ("eval", "--model", "conse", "--tasks", "", "--output_path", "o"),
    ],
)
def test_wrong_usage_ends_in_status_two(words: tuple[str, ...]) -> None:
    assert _wordsight(*words).returncode == 2
