"""What several commands share: options, opening the board, printing records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from leaderboard.records import Board
    from leaderboard.store import Store

StoreOption = Annotated[
    Path,
    typer.Option("--store", "-s", envvar="WORDSIGHT_BOARD", help="Folder of the board."),
]
BaseOption = Annotated[
    str, typer.Option(help="Test every entry against this one too (label or id).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
PartialOption = Annotated[
    bool,
    typer.Option(
        "--partial",
        help="Accept runs that leave more than a few items unanswered or have failed requests; "
        "these items score 0.",
    ),
]
ReplaceOption = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Take the row also where an earlier attempt answered more items; recorded and shown.",
    ),
]
DEFAULT_STORE = Path("board")


def opened(store: Path) -> Store:
    """The board in the folder that ``--store`` names."""
    from leaderboard.store import open_store

    return open_store(store)


def computed(store: Path, *, base: str = "", tracks: Sequence[str] = ()) -> tuple[Store, Board]:
    """The board in that folder, and its numbers."""
    from leaderboard.board import build_board

    found = opened(store)
    return found, build_board(found, base=base, tracks=tracks)


def print_json(records: Sequence[BaseModel]) -> None:
    """Print records as one JSON list."""
    import json

    typer.echo(json.dumps([one.model_dump(mode="json") for one in records], indent=1))
