"""Many processes at once, and kills at random moments: does the store lose or halve anything?

python tools/bench/bench_store.py --processes 50 --each 20 --kills 20
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# by folder: "tests" itself is the name of a package that some libraries install
sys.path.insert(0, str(ROOT / "tests" / "leaderboard"))

PER_KILL = 40

# each submission is acknowledged on a line of its own, after it is on disk
WRITER = """
import sys
from pathlib import Path
from leaderboard.lines import read_submission
from leaderboard.store import create_store
store = create_store(Path(sys.argv[1]))
for path in sys.argv[2:]:
    print(store.add(read_submission(Path(path).read_bytes())).submission, flush=True)
"""


def main() -> None:
    """Run both trials and print what was stored."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=50)
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = {
            "at_once": at_once(Path(scratch) / "a", options.processes, options.each),
            "killed": killed(Path(scratch) / "b", options.kills),
        }
    if options.json:
        print(json.dumps(found))
        return
    for name, numbers in found.items():
        print(name, ", ".join(f"{key} {value}" for key, value in numbers.items()))


def at_once(root: Path, processes: int, each: int) -> dict[str, float]:
    """``processes`` writers with ``each`` submissions of their own, all started together."""
    from leaderboard.store import create_store

    board, files = prepare(root, processes * each)
    started = time.perf_counter()
    writers = [start(board, files[i::processes]) for i in range(processes)]
    acknowledged = [line for writer in writers for line in writer.communicate()[0].split()]
    seconds = time.perf_counter() - started
    store = create_store(board)
    stored = {one.id for one in store.submissions()}
    if any(writer.returncode for writer in writers):
        raise SystemExit("a writer failed")
    return {
        "processes": processes,
        "submissions": len(files),
        "acknowledged": len(set(acknowledged)),
        "stored": len(stored),
        "ledger_lines_verified": len(store.verify()),
        "seconds": round(seconds, 1),
    }


def killed(root: Path, kills: int) -> dict[str, float]:
    """Writers killed at random moments; the board must hold all that they acknowledged, whole."""
    from leaderboard.store import create_store

    rng = random.Random(0)
    board, files = prepare(root, PER_KILL * kills)
    acknowledged: set[str] = set()
    for number in range(kills):
        # fresh ones each time, more than it can finish
        writer = start(board, files[PER_KILL * number : PER_KILL * (number + 1)])
        assert writer.stdout is not None
        first = writer.stdout.readline()  # from here on it is inside its work
        time.sleep(rng.random() * 0.3)
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.communicate()[0]
        acknowledged |= set((first + rest).split())
        store = create_store(board)
        lost = acknowledged - {one.id for one in store.submissions()}
        if lost:
            raise SystemExit(f"lost although acknowledged: {sorted(lost)}")
        store.verify()
    last = start(board, files)
    last.communicate()
    store = create_store(board)
    for one in store.submissions():
        store.scores(one.id, "tiny")
    half = [path for path in (board / "entries").iterdir() if path.suffix != ".parquet"]
    if half:
        raise SystemExit(f"left half: {half}")
    return {
        "kills": kills,
        "acknowledged_before_kills": len(acknowledged),
        "stored_in_the_end": len(store.submissions()),
        "ledger_lines_verified": len(store.verify()),
    }


def prepare(root: Path, count: int) -> tuple[Path, list[Path]]:
    """A board over a tiny dataset, and packed submissions."""
    from bench import make_bench

    from leaderboard.lines import write_submission
    from leaderboard.runs import read_runs

    root.mkdir()
    bench = make_bench(root, items=6)
    files = []
    for number in range(count):
        (submission,) = read_runs(bench.run(f"m{number}", seed=number, tasks=("tiny",)))
        files.append(root / f"{number}.jsonl")
        files[-1].write_bytes(write_submission(submission))
    return bench.board, files


def start(board: Path, files: list[Path]) -> subprocess.Popen[str]:
    """A writer process."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(board), *map(str, files)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


if __name__ == "__main__":
    main()
