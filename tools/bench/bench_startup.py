"""Start-up: ``wordsight --help``, and the time until a model gets its first request.

    python tools/bench/bench_startup.py

The same task and model through lmms-eval's own command and through ``wordsight eval``; a model
registered for this benchmark prints the time at which it is asked. Medians of several runs,
CPU seconds beside them.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Runs a command's main function with a model that stops at its first request.
PROBE = """
import sys, time
sys.path.insert(0, {here!r})
import importlib, wordsight.plugin
wordsight.plugin._MODELS["first_request"] = "bench_startup_model.FirstRequest"
sys.argv = {argv!r}
module, _, name = {entry!r}.partition(":")
getattr(importlib.import_module(module), name)()
"""
MODEL = """
import os, time
from lmms_eval.api.model import lmms

class FirstRequest(lmms):
    is_simple = True
    def __init__(self, **options):
        super().__init__()
    def generate_until(self, requests):
        print("ASKED", time.time(), flush=True)
        os._exit(0)
    def loglikelihood(self, requests):
        raise NotImplementedError
    def generate_until_multi_round(self, requests):
        raise NotImplementedError
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    runs_wanted = parser.parse_args().runs
    wordsight = str(Path(sys.executable).with_name("wordsight"))
    help_times = [_run([wordsight, "--help"]) for _ in range(runs_wanted)]
    _show("wordsight --help", help_times)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "bench_startup_model.py").write_text(MODEL)
        options = ["--model", "first_request", "--tasks", "sage_demo", "--limit", "1"]
        shown = {}
        for label, entry, argv in (
            ("lmms-eval", "lmms_eval.__main__:cli_evaluate", ["lmms-eval", *options]),
            ("wordsight eval", "wordsight.cli:main", ["wordsight", "eval", *options]),
        ):
            runs = []
            for number in range(runs_wanted):
                output = str(Path(folder, f"{label.split()[0]}{number}"))
                code = PROBE.format(here=folder, argv=[*argv, "--output_path", output], entry=entry)
                runs.append(_run([sys.executable, "-c", code], until="ASKED"))
            shown[label] = _show(f"{label}, first request", runs)
    ratio = [a / b for a, b in zip(shown["wordsight eval"], shown["lmms-eval"], strict=True)]
    print(f"wordsight eval takes {ratio[0]:.0%} of lmms-eval's time (CPU time {ratio[1]:.0%})")


def _run(command: list[str], until: str | None = None) -> tuple[float, float]:
    """Wall-clock seconds (to the end, or to the line that starts with ``until``), CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.time()
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    wall = time.time() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if until is not None:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if until in line]
        if not lines:
            sys.exit(f"{command} was never asked:\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
        wall = float(lines[0].split(until)[1]) - started
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu


def _show(label: str, runs: list[tuple[float, float]]) -> tuple[float, float]:
    wall, cpu = (statistics.median(values) for values in zip(*runs, strict=True))
    print(f"{label:30} {wall:6.2f} s, {cpu:6.2f} s CPU")
    return wall, cpu


if __name__ == "__main__":
    main()
