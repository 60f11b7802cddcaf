"""The candidate manifest: which pictures each item offers, by name and without content.

It may be passed on where pictures and texts may not, and a build that follows it has the same
candidates in the same order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from sage_tasks.build.plan import Choice, Manifest
from sage_tasks.build.text import read_lines
from sage_tasks.records import Query
from wordsight.errors import DataError

FILE = "manifest.jsonl"


def manifest_text(queries: Iterable[tuple[str, str, Query]]) -> str:
    """One line per (config, split, query)."""
    lines = [
        json.dumps(
            {
                "config": config,
                "split": split,
                "source_id": query.source_id,
                "id": query.id,
                "candidates": query.candidate_sources,
                "kinds": query.kinds,
            },
            ensure_ascii=False,
        )
        for config, split, query in queries
    ]
    return "".join(line + "\n" for line in lines)


def read_manifest(path: Path) -> Manifest:
    """Read a manifest file, or the one in a dataset folder. Raises DataError naming the line."""
    file = path / FILE if path.is_dir() else path
    choices: dict[tuple[str, str, str], Choice] = {}
    for number, line in enumerate(read_lines(file), 1):
        try:
            entry = json.loads(line)
            key = (entry["config"], entry["split"], entry["source_id"])
            choice = Choice(tuple(entry["candidates"]), tuple(entry["kinds"]))
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{file}: line {number}: not a manifest entry ({error!r})") from None
        if len(choice.pictures) != len(choice.kinds) or choice.kinds.count("gold") != 1:
            raise DataError(f"{file}: line {number}: candidates and kinds do not fit together")
        choices[key] = choice
    return choices
