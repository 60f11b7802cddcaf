"""Every command that a page shows is run, in the order in which the page shows them."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

PAGES = ("README.md", "docs/evaluate.md")
# command prefix -> why it is not run here
NOT_RUN = {
    "make test": "it is what runs this test",
    "make demo": "tests/test_demo.py runs the same command",
    "pip install": "tests/test_packaging.py installs the package",
}


def commands(page: str) -> list[str]:
    """The lines after "$ " in console blocks."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A tiny checkpoint in place of each one that would have to be downloaded."""
    from wordsight.tiny_models import build_tiny_model

    folder = build_tiny_model("qwen2_5_vl", tmp_path_factory.mktemp("tiny") / "qwen")
    return {"Qwen/Qwen2.5-VL-7B-Instruct": str(folder)}


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_the_page_work(page: str, tmp_path: Path, stand_ins: dict[str, str]) -> None:
    found = commands(page)
    assert found, f"{page} shows no command"
    for line in found:
        if line.startswith(tuple(NOT_RUN)):
            continue
        _run(_with(line, stand_ins), tmp_path)


def _with(line: str, stand_ins: dict[str, str]) -> str:
    for name, stand_in in stand_ins.items():
        line = line.replace(name, stand_in)
    return line


def _run(line: str, folder: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        shlex.split(line), cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, f"$ {line}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    if "--output_path" in line:
        # lmms-eval ends with status 0 when it failed: look at the numbers
        words = shlex.split(line)
        output = folder / words[words.index("--output_path") + 1]
        values = [v for path in output.rglob("*_results.json") for v in _figures(path)]
        assert values, f"$ {line}\nleft no results\n{done.stdout[-4000:]}"
        assert all(math.isfinite(value) for value in values)


def _figures(path: Path) -> list[float]:
    results: dict[str, dict[str, Any]] = json.loads(path.read_text())["results"]
    return [row["hits1,none"] for row in results.values() if "hits1,none" in row]


@pytest.mark.parametrize("page", sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/*.md")))
def test_links_of_the_page_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"
