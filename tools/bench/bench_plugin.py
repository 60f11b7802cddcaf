"""What the plug-in costs people who run other tasks: import time of ``lmms_eval.models``.

Usage: python tools/bench/bench_plugin.py [--pairs 9]

Runs pairs of fresh interpreters, one with this package's entry point, one with it hidden, and
prints the medians, their difference and ratio. The entry point also puts a hook before the import
of ``lmms_eval.tasks``; its own time is printed too.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

_CHILD = """
import importlib.metadata as metadata, sys, time
if sys.argv[1] == "hidden":
    seen = metadata.entry_points
    def entry_points(**query):
        return [e for e in seen(**query) if not e.value.startswith("wordsight.")]
    metadata.entry_points = entry_points
start = time.perf_counter()
import lmms_eval.models
print(time.perf_counter() - start)
"""
_HOOK = """
import time, types
from wordsight.plugin import _extend
class TaskManager:
    def initialize_tasks(self, include_path=None, include_defaults=True):
        return include_path
module = types.SimpleNamespace(TaskManager=TaskManager)
start = time.perf_counter()
_extend(module)
TaskManager().initialize_tasks()
print(time.perf_counter() - start)
"""


def _seconds(code: str, *words: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    return float(done.stdout.strip().splitlines()[-1])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=9)
    pairs = parser.parse_args().pairs
    _seconds(_CHILD, "with")  # warm the disk cache
    shown, hidden = [], []
    for _ in range(pairs):
        shown.append(_seconds(_CHILD, "with"))
        hidden.append(_seconds(_CHILD, "hidden"))
    difference = statistics.median(a - b for a, b in zip(shown, hidden, strict=True))
    hook = statistics.median(_seconds(_HOOK) for _ in range(pairs))
    print(f"import lmms_eval.models with the plug-in:    {statistics.median(shown) * 1e3:7.1f} ms")
    print(f"import lmms_eval.models without it:          {statistics.median(hidden) * 1e3:7.1f} ms")
    print(f"added, median over {pairs} pairs:                  {difference * 1e3:7.1f} ms")
    print(f"hook when lmms_eval.tasks is imported:       {hook * 1e3:7.1f} ms")
    ratio = statistics.median(shown) / statistics.median(hidden)
    print(f"ratio with / without: {ratio:.2f}")


if __name__ == "__main__":
    main()
