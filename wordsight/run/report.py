"""What a run tells the user: a table or one JSON object, and the manifest on disk."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wordsight.run.harness import RunResult, run
from wordsight.run.manifest import build_manifest, write_manifest
from wordsight.run.spec import RunSpec


def evaluate(
    spec: RunSpec,
    output: Path,
    *,
    resume: bool = False,
    restart: bool = False,
    quiet: bool = False,
) -> RunResult | None:
    """Run and write the manifest; None in processes other than the first."""
    started = time.perf_counter()
    result = run(spec, output, resume=resume, restart=restart, quiet=quiet)
    if result is not None:
        seconds = result.seconds_before + time.perf_counter() - started
        write_manifest(build_manifest(spec, output, result, seconds), output)
    return result


def evaluate_and_report(
    spec: RunSpec, output: Path, *, resume: bool, restart: bool, as_json: bool
) -> None:
    """The ``eval`` command. Raises IncompleteRunError after printing what there is."""
    result = evaluate(spec, output, resume=resume, restart=restart)
    if result is not None:
        _print(result, output, as_json=as_json)
        result.raise_if_incomplete()


def merge_and_report(parts: Sequence[Path], output: Path, *, as_json: bool) -> None:
    """The ``merge`` command."""
    from wordsight.run.replay import merge

    result, spec, seconds = merge(parts, output)
    manifest = build_manifest(spec, output, result, seconds)
    first = json.loads((parts[0] / "wordsight_manifest.json").read_text(encoding="utf-8"))
    kept = {name: first[name] for name in ("model_backend", "hardware", "packages", "git")}
    write_manifest({**manifest, **kept, "parts": len(parts)}, output)
    _print(result, output, as_json=as_json)
    result.raise_if_incomplete()


def metric_table(results: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    """Task -> metric -> value, with ``<metric>_stderr``; None where a value is not defined."""
    table: dict[str, dict[str, float | None]] = {}
    for task, row in results["results"].items():
        values: dict[str, float | None] = {}
        for key, value in row.items():
            name, _, _ = key.partition(",")
            if not isinstance(value, (int, float)) or name.endswith(("_stderr", "_clustered")):
                continue
            values[name.replace("_stderr_clt", "_stderr")] = value if math.isfinite(value) else None
        table[task] = values
    return table


def _print(result: RunResult, output: Path, *, as_json: bool) -> None:
    if as_json:
        answer = {
            "results": metric_table(result.results),
            "results_file": str(result.results_file),
            "sample_files": [str(path) for path in result.sample_files],
            "manifest": str(output / "wordsight_manifest.json"),
            "failed": result.failed,
            "invalid": result.invalid,
        }
        print(json.dumps(answer, indent=2))
        return
    from lmms_eval.utils import make_table

    print(make_table(result.results))
    if "groups" in result.results:
        print(make_table(result.results, "groups"))
    if result.invalid:
        print(f"{result.invalid} item(s) had an answer that could not be read; they score 0.")
    print(f"Results: {result.results_file}", file=sys.stderr)
