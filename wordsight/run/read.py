"""Reading what a finished run left: its manifest and the lines of its samples files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wordsight.errors import DataError

_FIELDS = frozenset({"item", "task", "responses", "status"})


def read_json(path: Path) -> dict[str, Any]:
    """One JSON object of a run folder. Raises DataError when it is not there or cut."""
    try:
        value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path} is missing: this is no finished run") from None
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error})") from None
    return value


def read_samples(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place ("FILE: line 3") and content of each line that a task of this package logged.

    Raises DataError naming the line that is not one.
    """
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            where = f"{path}: line {number}"
            try:
                sample = json.loads(line)
                missing = _FIELDS - sample["wordsight"].keys()
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise DataError(f"{where}: not a sample of a ranking task ({error!r})") from None
            if missing:
                raise DataError(f"{where}: the sample has no {', '.join(sorted(missing))}")
            yield where, sample
