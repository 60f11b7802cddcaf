"""Pages that people can use by keyboard and screen reader: axe finds nothing serious."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from leaderboard.submit import submit
from tests.leaderboard.bench import make_bench
from tests.leaderboard.browser import CHROMIUM, Browser
from tests.leaderboard.service import free_port, start
from tests.leaderboard.settings import TASK, demo, right, told, write_run

ROOT = Path(__file__).resolve().parents[2]
AXE = Path(os.environ.get("WORDSIGHT_AXE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))

RUN = (
    "axe.run(document, {resultTypes: ['violations']}).then(r => JSON.stringify("
    "r.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.html.slice(0, 120))])))"
)


def rankings(root: Path) -> tuple[Path, list[str]]:
    """A board of two ranking entries, and its pages."""
    bench = make_bench(root)
    for name, accuracy in (("good", 0.9), ("bad", 0.2)):
        submit(bench.run(name, accuracy=accuracy), str(bench.board))
    item = bench.packages["tiny"].queries[0].id
    pages = ["/table", "/about", "/published", "/submit", "/signs", "/compare", "/tasks/tiny"]
    return bench.board, [*pages, f"/tasks/tiny/{item}"]


def settings(root: Path) -> tuple[Path, list[str]]:
    """A board of two SymbalBench entries, and its pages."""
    for name, answer in (("right", right), ("wrong", lambda setting: told("x", setting.v))):
        submit(write_run(root / "runs", name, answer), str(root / "board"))
    task = f"/tasks/{TASK}"
    pages = ["/table", f"/compare?task={TASK}", task, f"/parts/{TASK}"]
    return root / "board", [*pages, f"{task}/{demo().settings[0].id}"]


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core: npm install axe-core, or WORDSIGHT_AXE")
@pytest.mark.parametrize("board", [rankings, settings])
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_no_serious_violation(
    tmp_path: Path, board: Callable[[Path], tuple[Path, list[str]]], width: int, dark: bool
) -> None:
    folder, paths = board(tmp_path)
    port = free_port()
    process = start(folder, port)
    found = {}
    try:
        with Browser(width, dark=dark) as browser:
            for path in (*paths, "/"):
                browser.open(f"http://127.0.0.1:{port}{path}")
                if path == "/":
                    browser.wait("document.querySelectorAll('.virtual-row').length > 0")
                assert browser.run("document.documentElement.scrollWidth") <= width, path
                browser.run(AXE.read_text(encoding="utf-8") + ";0")
                violations = json.loads(browser.run(RUN))
                serious = [v for v in violations if v[0] in ("serious", "critical")]
                if serious:
                    found[path] = serious
    finally:
        process.terminate()
        process.wait(20)
    assert found == {}


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_every_control_is_reached_by_keyboard(tmp_path: Path) -> None:
    from leaderboard.site.export import export_site

    bench = make_bench(tmp_path)
    for name in ("one", "two"):
        submit(bench.run(name, seed=len(name), accuracy=0.4), str(bench.board))
    submit(bench.run("three", accuracy=0.9), str(bench.board))
    page = export_site(bench.store, tmp_path / "site").parent / "tasks" / "tiny" / "compare.html"
    reached = set()
    with Browser() as browser:
        browser.open(page.as_uri())
        for _ in range(12):
            for kind in ("keyDown", "keyUp"):
                browser.call(
                    "Input.dispatchKeyEvent",
                    type=kind,
                    key="Tab",
                    code="Tab",
                    windowsVirtualKeyCode=9,
                )
            active = "document.activeElement"
            reached.add(browser.run(f"{active}.textContent.trim().slice(0, 20) || {active}.name"))
            reached.add(browser.run(f"{active}.name || ''"))
    assert {"Skip to content", "Tiny items", "a", "b"} <= reached
