"""Tiny models and commands in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny_vlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen2.5-VL folder with random weights."""
    from wordsight.tiny_models import build_tiny_model

    return build_tiny_model("qwen2_5_vl", tmp_path_factory.mktemp("models") / "qwen2_5_vl")


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
