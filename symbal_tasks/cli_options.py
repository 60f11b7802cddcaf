"""Options that several commands of the suite share."""

from __future__ import annotations

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


class Engine(str, Enum):
    """Where embedding and scoring run."""

    local = "local"
    ray = "ray"


DEFAULT_CACHE = Path(".wordsight-cache/symbal.sqlite")
CAUGHT = 4
