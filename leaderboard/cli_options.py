"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StoreOption = Annotated[
    Path,
    typer.Option("--store", "-s", envvar="WORDSIGHT_BOARD", help="Folder of the board."),
]
BaseOption = Annotated[
    str, typer.Option(help="Test every entry against this one too (label or id).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
DEFAULT_STORE = Path("board")
