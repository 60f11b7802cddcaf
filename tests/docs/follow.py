"""Doing what a page says, in an empty folder, from its first command to its last."""

from __future__ import annotations

import doctest
import json
import math
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.docs.not_run import is_left_out
from tests.docs.pages import blocks, read_page
from tests.leaderboard.service import free_port


@dataclass(frozen=True)
class Scene:
    """What stands in for things that cannot be had in a test.

    ``stand_ins`` replace words of commands (a checkpoint of the Hub by a tiny folder, a board's
    address by one on loopback). ``before`` is what a person does before a command that begins so:
    annotators fill in their sheets, a maintainer looks up the id of a submission; what it returns
    replaces further words.
    """

    stand_ins: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, Callable[[Path], Mapping[str, str] | None]] = field(default_factory=dict)


def follow(page: str, folder: Path, scene: Scene | None = None, *, examples: bool = True) -> None:
    """Run all commands and Python examples of the page in ``folder``; each must succeed."""
    scene = scene or Scene()
    environment = {**_environment(folder), **scene.environment}
    stand_ins = dict(scene.stand_ins)
    for block in blocks(read_page(page)):
        if block.language == "python" and examples:
            where = f"{page}, line {block.line}"
            _examples(_with(stand_ins, block.text), where, folder, environment)
        for command in block.commands:
            if is_left_out(command):
                continue
            for start, action in scene.before.items():
                if command.startswith(start):
                    stand_ins |= action(folder) or {}
            line = _with(stand_ins, command)
            if exported := re.fullmatch(r"export (\w+)=(.*)", line):
                environment[exported[1]] = exported[2]
            elif "leaderboard serve" in line:
                _serve(line, folder, environment)
            else:
                _run(line, folder, environment)


def _with(stand_ins: Mapping[str, str], text: str) -> str:
    for words, stand_in in stand_ins.items():
        text = text.replace(words, stand_in)
    return text


def _environment(folder: Path) -> dict[str, str]:
    """The user's, with nothing of Wordsight or the Hub set, and on one thread."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "WORDSIGHT_"))}
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder / ".hub"),
        "WORDSIGHT_CACHE": str(folder / ".cache"),
    }


def _run(line: str, folder: Path, environment: Mapping[str, str]) -> None:
    known = set(folder.rglob("*_results.json"))
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    said = f"$ {line}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert done.returncode == 0, said
    if line.startswith("lmms-eval"):
        # it ends with status 0 when it failed: look at the numbers
        assert "--output_path" in line, f"$ {line}: no --output_path, so nothing to look at"
        assert set(folder.rglob("*_results.json")) - known, f"no results\n{said}"
    for path in set(folder.rglob("*_results.json")) - known:
        figures = list(_figures(path))
        assert figures, f"{path} has no figures\n{said}"
        assert all(math.isfinite(figure) for figure in figures), f"{path}\n{said}"


def _figures(path: Path) -> Iterator[float]:
    """All metrics of a results file, without standard errors."""
    for row in json.loads(path.read_text(encoding="utf-8"))["results"].values():
        for name, value in row.items():
            if "_stderr" not in name and isinstance(value, float):
                yield value


def _serve(line: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Start a board, fetch its first page and its API, stop it."""
    port = free_port()
    words = shlex.split(line)
    assert "--port" not in words
    with (folder / "serve.log").open("w+") as log:
        process = subprocess.Popen(
            [*words, "--port", str(port)], cwd=folder, env=environment, stdout=log, stderr=log
        )
        try:
            answers = [
                _fetch(f"http://127.0.0.1:{port}{p}", process) for p in ("/", "/api/v1/tasks")
            ]
        finally:
            process.terminate()
            process.wait(timeout=60)
        log.seek(0)
        assert all(answer.is_success for answer in answers), f"$ {line}\n{log.read()[-4000:]}"


def _fetch(address: str, process: subprocess.Popen[bytes]) -> httpx.Response:
    for _ in range(1200):
        try:
            return httpx.get(address, follow_redirects=True)
        except httpx.HTTPError:
            if process.poll() is not None:
                break
            time.sleep(0.1)
    raise AssertionError(f"nothing answers at {address}")


def _examples(text: str, where: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Python examples see the folder and the variables that the commands see."""
    here, variables = Path.cwd(), dict(os.environ)
    test = doctest.DocTestParser().get_doctest(text, {}, where, None, 0)
    try:
        os.chdir(folder)
        os.environ.update(environment)
        failed, tried = doctest.DocTestRunner().run(test)
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(variables)
    assert tried, f"{where}: no example"
    assert failed == 0, f"{where}: see the output above"
