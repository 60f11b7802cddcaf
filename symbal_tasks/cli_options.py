"""Options that several commands of the suite share."""

from __future__ import annotations

import math
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class DomainName(str, Enum):
    """Domains that can be built."""

    natural = "natural"
    medical = "medical"


Composed = Annotated[
    str,
    typer.Option(
        "--composition", help="offline, offline_pictures, offline_free, paper_natural, ..."
    ),
]
Parts = Annotated[
    list[str] | None,
    typer.Option("--set", help="Replace a part: scorer=vision:MODEL, captioner=vision:MODEL, ..."),
]
Server = Annotated[
    str, typer.Option(help="Address of an OpenAI-compatible server, e.g. http://localhost:8000/v1")
]
CachePath = Annotated[
    Path, typer.Option("--cache", help="File that keeps every model's answers, to go on later.")
]


def share(value: float) -> float:
    """An option between 0 and 1. A range of click would let "nan" through."""
    if not 0 <= value <= 1:
        raise typer.BadParameter(f"{value:g} is not between 0 and 1")
    return value


def positive(value: float | None) -> float | None:
    """An option that is a finite number above 0, or not given."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise typer.BadParameter(f"{value:g} is not a finite number above 0")
    return value


def distinct(value: str) -> str:
    """Names separated by commas, none of them twice."""
    names = value.split(",")
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise typer.BadParameter(f"{twice[0]!r} stands twice")
    return value


def cluster_counts(value: str) -> str:
    """Whole numbers from 2, separated by commas, or nothing."""
    try:
        counts = [int(part) for part in value.split(",")] if value else []
    except ValueError:
        raise typer.BadParameter(f"{value!r}: write numbers separated by commas") from None
    if any(count < 2 for count in counts):
        raise typer.BadParameter(f"{value!r}: fewer than 2 clusters cannot be told apart")
    return value


class Engine(str, Enum):
    """Where embedding and scoring run."""

    local = "local"
    ray = "ray"


DEFAULT_CACHE = Path(".wordsight-cache/symbal.sqlite")
Threshold = Annotated[
    float,
    typer.Option(help="A claim with less agreement counts as erroneous.", callback=share),
]
CAUGHT = 4
