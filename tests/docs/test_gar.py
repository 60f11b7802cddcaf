"""docs/gar.md: its commands run, with a tiny checkpoint and made-up sources."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.follow import Scene, follow
from tests.docs.pages import blocks, read_page

# fixtures of another folder's tests
PAGE = "docs/gar.md"


@pytest.fixture
def wordnet_version() -> str:
    from sage_tasks.lexicons.wordnet import find_wordnet
    from wordsight.errors import DataError

    try:
        return find_wordnet().version
    except DataError:
        pytest.skip("WordNet is not installed")


@pytest.mark.slow
@pytest.mark.usefixtures("wordnet_version")
def test_commands_run(tmp_path: Path, vwsd_source: Path, verse_source: dict[str, Path]) -> None:
    from sage_tasks.package import open_package
    from sage_tasks.sources import dataset_root
    from wordsight.tiny_models import build_tiny_model

    pytest.importorskip("xllamacpp")  # runs smollm2
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    (tmp_path / "downloads").mkdir()
    vwsd_source.rename(tmp_path / "downloads" / "vwsd")
    verse_source["folder"].rename(tmp_path / "downloads" / "verse")
    model = build_tiny_model("gemma3", tmp_path / "tiny")
    first = open_package(dataset_root("demo"), "demo").queries[0]
    stand_ins = {
        "google/gemma-3-12b-it": str(model),
        "--tasks sage_verse": "--tasks sage_demo",
        "--tasks sage_demo": "--tasks sage_demo --limit 2",
        "out/gar ride": f"out/gar {first.id}",
        "--items 12": "--items 1",
    }
    follow(PAGE, tmp_path, Scene(stand_ins))
    assert (tmp_path / "definitions.jsonl").read_text(encoding="utf-8").count("\n") == 2


@pytest.mark.shared_data
def test_coverage_is_printed_as_shown(shared: Path, wordnet_version: str) -> None:
    if wordnet_version != "3.0":
        pytest.skip(f"figures are those of WordNet 3.0, installed is {wordnet_version}")
    (block,) = [b for b in blocks(read_page(PAGE)) if "wordsight lexicons" in b.text]
    (line,) = block.commands
    lines = [said for said in block.text.splitlines() if said.startswith("wordnet ")]
    done = subprocess.run(
        [sys.executable, "-m", *line.replace("downloads", str(shared / "data")).split()],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == lines
