"""A board with many submissions: time to compute, to start, to the first row, to filter; memory.

    python tools/bench/bench_board.py --submissions 1000

Scores are synthetic and written straight into the store's files; the browser is a real Chromium.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# by folder: "tests" itself is the name of a package that some libraries install
sys.path.insert(0, str(ROOT / "tests" / "leaderboard"))

SIZES = {"sage_vwsd": 463, "sage_verse": 1264, "sage_wikidiverse": 1243}


def main() -> None:
    """Build the store, then measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--keep", type=Path, help="build the store here, or use it if it is there")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = (options.keep or Path(scratch)).resolve()
        if not (root / "board" / "ledger.jsonl").is_file():
            build(root, options.submissions)
        found = {"submissions": options.submissions, "items": sum(SIZES.values())}
        found |= compute(root / "board") | serve(root / "board", options.submissions)
    if options.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{key}: {value}" for key, value in found.items()))


def build(root: Path, count: int) -> None:
    """A dataset of SAGE's sizes and a store full of synthetic scores."""
    import numpy as np
    from bench import make_pictures, make_query, write_lines

    from leaderboard import files, ledger
    from leaderboard.kinds import RANKING
    from leaderboard.kinds.ranking_score import RankingScore
    from leaderboard.lines import Submission
    from leaderboard.schema import Header, Item, TaskRun
    from leaderboard.store import create_store

    rng = random.Random(0)
    pictures = make_pictures(root / "data")
    tasks = []
    for task, size in SIZES.items():
        queries = [
            make_query(task, i, rng.sample(pictures, 10), rng.randrange(10)) for i in range(size)
        ]
        write_lines(root / "data" / task / "test.jsonl", queries)
        label = task.removeprefix("sage_")
        tasks.append({"name": task, "label": label, "dataset": "../data", "config": task})
    board = root / "board"
    board.mkdir()
    track = {"name": "sage", "label": "SAGE", "tasks": tasks}
    (board / "board.json").write_text(json.dumps({"title": "Benchmark", "tracks": [track]}))
    store = create_store(board)
    numbers = np.random.default_rng(0)
    difficulty = {task: numbers.normal(0, 1, size) for task, size in SIZES.items()}
    for number in range(count):
        skill = numbers.normal(0, 1)
        runs = [
            TaskRun(name=task, dataset=store.gold(task).fingerprint, version="1") for task in SIZES
        ]
        header = Header.model_validate(
            {
                "schema": "wordsight-submission/1",
                "model": f"org{number % 40}/model-{number}",
                "tasks": runs,
            }
        )
        # one item each: the header is what the board reads here, scores lie beside
        items = tuple(
            Item(task=task, item=store.gold(task).summaries[0].id, responses=["No"] * 10)
            for task in SIZES
        )
        submission = Submission(header, items)
        for task, size in SIZES.items():
            right = numbers.random(size) < 1 / (1 + np.exp(difficulty[task] - skill))
            rank = np.where(right, 1, numbers.integers(2, 11, size))
            scores = [
                RankingScore(one.id, "ok", float(r == 1), float(1 / r), interface="likelihood")
                for one, r in zip(store.gold(task).summaries, rank.tolist(), strict=True)
            ]
            files.write_atomic(
                store.root / "scores" / store.score_name(task, submission.id),
                files.score_bytes(RANKING, scores),
                sync=False,
            )
        content = files.entry_bytes(submission)
        files.write_atomic(board / "entries" / f"{submission.id}.parquet", content, sync=False)
        ledger.append(
            store.ledger_path,
            "submitted",
            submission=submission.id,
            entry=header.entry,
            content="0" * 64,
        )


def compute(board: Path) -> dict[str, Any]:
    """Seconds and peak memory of computing the whole board, in a process of its own."""
    script = (
        "import resource, sys, time; from pathlib import Path; t = time.perf_counter()\n"
        "from leaderboard.snapshot import current_board\n"
        "from leaderboard.store import open_store\n"
        "b = current_board(open_store(Path(sys.argv[1])))\n"
        "print(time.perf_counter() - t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    for snapshot in (board / "snapshots").glob("*.json"):
        snapshot.unlink()
    done = subprocess.run(
        [sys.executable, "-c", script, str(board)], stdout=subprocess.PIPE, text=True, check=True
    )
    seconds, memory = done.stdout.split()
    return {
        "compute_seconds": round(float(seconds), 1),
        "compute_peak_mib": int(memory) // 1024,
    }


def serve(board: Path, count: int) -> dict[str, Any]:
    """Start the service and look at it with a browser."""
    from browser import CHROMIUM, Browser

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = "from leaderboard.cli import app; app()"
    started = time.perf_counter()
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", command, "serve"),
            *("--store", str(board), "--port", str(port)),
        ],
        cwd=ROOT,
    )
    try:
        while True:
            try:
                urllib.request.urlopen(f"{url}/api/v1/tasks").read()
                break
            except OSError:
                if process.poll() is not None:
                    raise SystemExit("the service ended") from None
                time.sleep(0.02)
        found: dict[str, Any] = {"ready_seconds": round(time.perf_counter() - started, 2)}
        if CHROMIUM is not None:
            with Browser() as browser:
                found |= _look(browser, url, count)
        status = Path(f"/proc/{process.pid}/status")
        if status.is_file():
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
            found["serve_memory_mib"] = int(lines["VmRSS"].split()[0]) // 1024
    finally:
        process.terminate()
        process.wait(20)
    return found


def _look(browser: Any, url: str, count: int) -> dict[str, float]:
    row = "document.querySelectorAll('.virtual-row').length > 3"
    found = {}
    for name in ("first_row_cold_seconds", "first_row_warm_seconds"):
        started = time.perf_counter()
        browser.call("Page.navigate", url=url)
        browser.wait(row)
        found[name] = round(time.perf_counter() - started, 2)
    times = []
    for number in (7, count // 2, count - 1, count // 3, count // 5):
        text = f"model-{number}"
        typed = (
            "(() => {const i = document.querySelector('input[placeholder], textarea[placeholder]');"
            f"i.value = '{text}'; i.dispatchEvent(new Event('input', {{bubbles: true}}));}})()"
        )
        started = time.perf_counter()
        browser.run(typed)
        first = "document.querySelector('.virtual-row')"
        browser.wait(f"{first} && {first}.innerText.includes('{text}')")
        times.append(time.perf_counter() - started)
    found["filter_seconds_median"] = round(sorted(times)[len(times) // 2], 2)
    found["filter_seconds_worst"] = round(max(times), 2)
    started = time.perf_counter()
    browser.run("document.querySelectorAll('button[role=tab]')[1].click()")
    browser.wait("document.querySelectorAll('.js-plotly-plot .point').length > 0")
    found["plot_tab_seconds"] = round(time.perf_counter() - started, 2)
    return found


if __name__ == "__main__":
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    main()
