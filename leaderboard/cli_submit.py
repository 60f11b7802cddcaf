"""The commands that add submissions to a board."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from leaderboard.cli_options import (
    DEFAULT_STORE,
    JsonOption,
    PartialOption,
    ReplaceOption,
    StoreOption,
    counts_of,
    print_json,
)

if TYPE_CHECKING:
    from leaderboard.records import Receipt


class Source(str, Enum):
    """Files that can be submitted besides run folders."""

    every_eval_ever = "every_eval_ever"
    inspect = "inspect"
    packed = "packed"


def submit_command(
    run_dir: Annotated[
        Path, typer.Argument(help="What --output_path named in the run, or a packed file.")
    ],
    to: Annotated[
        str,
        typer.Option(
            help="Board folder, address of a running board, hf://datasets/ORG/REPO, or FILE.jsonl "
            "to send later."
        ),
    ],
    partial: PartialOption = False,
    replace: ReplaceOption = False,
    other_pictures: Annotated[
        bool, typer.Option(help="Accept answers on other copies of the same pictures; marked.")
    ] = False,
    name: Annotated[
        Optional[str],  # noqa: UP045 - typer reads it at run time on Python 3.10
        typer.Option(
            "--name", "--model-name", help="Name of the model on the board; by default the run's."
        ),
    ] = None,
    cost: Annotated[
        Optional[float],  # noqa: UP045 - typer reads it at run time on Python 3.10
        typer.Option(min=0, help="What the run cost, in US dollars."),
    ] = None,
    contact: Annotated[str, typer.Option(help="Whom to ask about this row; shown.")] = "",
    source: Annotated[
        Optional[Source],  # noqa: UP045 - typer reads it at run time on Python 3.10
        typer.Option("--from", help="RUN_DIR is a file that another tool wrote."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Submit what a run left on disk to a board, which scores it itself."""
    from leaderboard.submit import submit
    from wordsight.errors import WordsightError

    if name is not None and not name.strip():
        raise WordsightError("--name '': is empty; give a name, or leave the option out")
    receipts = submit(
        run_dir,
        to,
        partial=partial,
        replace=replace,
        other_pictures=other_pictures,
        name=name or "",
        cost=cost,
        contact=contact,
        source=source.value if source else "",
    )
    _print(receipts, as_json=as_json)


def take(
    folder: Annotated[Path, typer.Argument(help="Folder of packed submissions (*.jsonl).")],
    store: StoreOption = DEFAULT_STORE,
    partial: PartialOption = False,
    replace: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add packed submissions, as merged pull requests leave them in incoming/."""
    from leaderboard.hub_store import take_in
    from leaderboard.store import create_store
    from wordsight.errors import DataError

    receipts, refused = take_in(create_store(store), folder, partial=partial, replace=replace)
    _print(receipts, as_json=as_json)
    if refused:
        raise DataError("\n".join([f"{folder}: {len(refused)} not added:", *refused]))


def _print(receipts: Sequence[Receipt], *, as_json: bool) -> None:
    """The receipts on standard output; what deserves attention on standard error."""
    if as_json:
        print_json(receipts)
        return
    for receipt in receipts:
        what = receipt.state if receipt.new else "was submitted before"
        which = "attempt" if receipt.new else "attempts at its row until now:"
        attempt = f", {which} {receipt.attempts}" if receipt.attempts else ""
        typer.echo(f"{receipt.label}: {what} as {receipt.submission}{attempt}")
        for task in receipt.tasks:
            typer.echo(f"  {counts_of(task)}")
        for note in receipt.notes:
            typer.echo(f"{receipt.label}: {note}", err=True)
    if receipts and receipts[-1].head:
        last = receipts[-1]
        typer.echo(f"recorded on line {last.number} of the ledger, whose last hash is {last.head}")
