"""The wheel: what it holds, and that the board alone needs neither torch nor lmms-eval."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow


_RUN = ("--model", "conse", "--tasks", "sage_demo", "--limit", "2")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from the checkout."""
    out = tmp_path_factory.mktemp("dist")
    _checked([sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT)])
    (found,) = out.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """The python of a new environment with the wheel and the extra [leaderboard] only."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    _checked([str(python), "-m", "pip", "install", "--quiet", f"{wheel}[leaderboard]"])
    return python


def test_the_wheel_holds_task_yaml_and_demo_set_and_no_stray_modules(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert "wordsight/_tasks/sage_demo.yaml" in names
    assert "wordsight/_tasks/_sage_yes_no_yaml" in names
    assert "sage_tasks/demo/images.jsonl" in names
    assert "sage_tasks/demo/NOTICE" in names
    assert any(name.startswith("leaderboard/_published/") for name in names)
    assert "sage_tasks/build/cli.py" in names
    packages = {"wordsight", "sage_tasks", "symbal_tasks", "leaderboard"}
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == packages
    pictures = {p.name for p in (ROOT / "sage_tasks" / "demo" / "images").iterdir()}
    assert {n.rsplit("/", 1)[1] for n in names if "/demo/images/" in n} == pictures


def test_an_installed_wheel_knows_its_tasks(bare: Path, tmp_path: Path) -> None:
    printed = _checked([str(bare), "-m", "wordsight", "tasks"], cwd=tmp_path).split()

    assert "sage_demo" in printed


def test_lmms_eval_runs_a_task_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    # The heavy packages come from this environment; ours comes from the wheel, first on the path.
    site = tmp_path / "site"
    _checked(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "-t", str(site), str(wheel)]
    )
    where = _checked(
        [
            sys.executable,
            "-c",
            "from wordsight.task_paths import task_folder; print(task_folder())",
        ],
        cwd=tmp_path,
        PYTHONPATH=str(site),
    )
    assert where.strip() == str(site / "wordsight" / "_tasks")

    printed = _checked(
        [sys.executable, "-m", "lmms_eval", *_RUN, "--log_samples", "--output_path", "out"],
        cwd=tmp_path,
        PYTHONPATH=str(site),
    )

    assert "|sage_demo|" in printed.replace(" ", "")
    (samples,) = (tmp_path / "out").rglob("*_samples_sage_demo.jsonl")
    assert len(samples.read_text().splitlines()) == 2


def test_the_board_installs_without_torch_and_serves(bare: Path, tmp_path: Path) -> None:
    code = (
        "import importlib.util as u; print([m for m in ('torch', 'lmms_eval', 'transformers', "
        "'datasets', 'tasks', 'tools', 'tests', 'submissions') if u.find_spec(m)])"
    )
    assert _checked([str(bare), "-c", code], cwd=tmp_path).strip() == "[]"

    _checked([sys.executable, "-m", "wordsight", "eval", *_RUN, "--output_path", "out"], tmp_path)
    _checked(
        [str(bare), "-m", "wordsight", "submit", "out", "--partial", "--to", "board"], tmp_path
    )
    printed = _checked(
        [str(bare), "-m", "wordsight", "leaderboard", "rank", "--store", "board"], tmp_path
    )
    assert "conse" in printed

    port = _free_port()
    words = ["-m", "wordsight", "leaderboard", "serve", "--store", "board", "--port", str(port)]
    server = subprocess.Popen([str(bare), *words], cwd=tmp_path, env=_environment())
    try:
        assert b"gradio" in _fetch(f"http://127.0.0.1:{port}/", server).lower()
        assert _fetch(f"http://127.0.0.1:{port}/api/v1/board", server).startswith(b"{")
    finally:
        server.terminate()
        server.wait(timeout=30)


def _fetch(address: str, server: subprocess.Popen[bytes]) -> bytes:
    deadline = time.monotonic() + 120
    while True:
        assert server.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:
                content: bytes = answer.read()
                return content
        except OSError:
            assert time.monotonic() < deadline, "the server did not answer"
            time.sleep(0.5)


def _checked(words: list[str], cwd: Path | None = None, **variables: str) -> str:
    done = subprocess.run(
        words,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={**_environment(), **variables},
    )
    assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def _environment() -> dict[str, str]:
    """This process's, without what would let the new environment see the checkout."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
