"""What several commands share: options, opening the board, printing records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from leaderboard.records import Board, TaskReport
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


def new_file(path: Path) -> Path:
    """The path, where a file can be written. Raises WordsightError for any other."""
    from wordsight.errors import WordsightError

    if path.is_dir():
        raise WordsightError(f"{path}: is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise WordsightError(f"{path}: there is no folder {path.parent}; make it, or give another")
    return path


def folder(path: Path) -> Path:
    """The path, where a folder is or can be made. Raises WordsightError for a file."""
    from wordsight.errors import WordsightError

    if path.exists() and not path.is_dir():
        raise WordsightError(f"{path}: is a file; give a folder")
    return path


def counts_of(task: TaskReport) -> str:
    """The counts of one task of a submission, in words."""
    other = f", {task.other_pictures} on other pictures" if task.other_pictures else ""
    return (
        f"{task.task}: {task.total - task.missing} of {task.total} items answered, "
        f"{task.missing} missing, {task.invalid} unreadable{other}"
    )


def print_json(records: Sequence[BaseModel]) -> None:
    """Print records as one JSON list."""
    import json

    typer.echo(json.dumps([one.model_dump(mode="json") for one in records], indent=1))
