"""Commands for whoever runs a board; :mod:`leaderboard.cli` adds them to its own."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from leaderboard.cli_options import DEFAULT_STORE, StoreOption

ledger_app = typer.Typer(
    name="ledger",
    help="The list of all submissions, which anyone can verify.",
    no_args_is_help=True,
)


def serve(
    store: StoreOption = DEFAULT_STORE,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 7860,
    allowed_host: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads it at run time on Python 3.10
        typer.Option(help="Host name that the service is reached by (may be given again)."),
    ] = None,
    approve: Annotated[
        bool, typer.Option("--approve", help="Submissions wait until a maintainer approves them.")
    ] = False,
) -> None:
    """Serve the board: pages at /, the API at /api/v1."""
    from leaderboard.server.run import run

    run(store, host=host, port=port, allowed_hosts=allowed_host or (), approve=approve)


def space(
    out: Annotated[Path, typer.Argument(help="Folder to write.")],
    repo: Annotated[str, typer.Option(help="Dataset repository that keeps the board: ORG/NAME.")],
    title: Annotated[str, typer.Option(help="Title of the Space.")] = "Wordsight leaderboard",
) -> None:
    """Write a folder ready to push as a Space; its state lies on a dataset repository."""
    from leaderboard.space import write_space

    for path in write_space(out, title=title, repository=repo):
        typer.echo(path)


def take(
    folder: Annotated[Path, typer.Argument(help="Folder of packed submissions (*.jsonl).")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Add packed submissions, as merged pull requests leave them in incoming/."""
    from leaderboard.hub_store import take_in
    from leaderboard.store import create_store

    for receipt in take_in(create_store(store), folder):
        typer.echo(f"{receipt.label}: {receipt.submission}, attempt {receipt.attempts}")


def rebuild(
    store: StoreOption = DEFAULT_STORE,
    check: Annotated[
        bool, typer.Option("--check", help="Compare with the stored snapshot, write nothing.")
    ] = False,
) -> None:
    """Compute the whole board anew from the raw responses."""
    from leaderboard.snapshot import rebuild as rebuild_board
    from leaderboard.store import open_store

    path = rebuild_board(open_store(store), check=check)
    typer.echo(f"{path}: {'equal, byte for byte' if check else 'written'}")


class Decision(str, Enum):
    """What a maintainer may decide about a submission."""

    approve = "approved"
    verify = "verified"
    withdraw = "withdrawn"


def decide(
    submission: Annotated[str, typer.Argument(help="Id of the submission.")],
    decision: Annotated[Decision, typer.Argument(help="approved, verified (rerun) or withdrawn.")],
    reason: Annotated[str, typer.Option(help="Shown on the board.")] = "",
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Approve, verify or withdraw a submission; recorded in the ledger for good."""
    from leaderboard.store import open_store
    from wordsight.errors import WordsightError

    if decision is Decision.withdraw and not reason:
        raise WordsightError("a withdrawal needs --reason: it stays visible on the board")
    event = open_store(store).decide(submission, decision.value, reason)
    typer.echo(f"line {event.number}: {event.submission} {event.kind}")


@ledger_app.callback()
def _ledger() -> None:
    """Keeps ``verify`` a command of its own although it is the only one."""


@ledger_app.command("verify")
def verify_ledger(store: StoreOption = DEFAULT_STORE) -> None:
    """Check every line's hash and link, and every stored file against its line."""
    from leaderboard.store import open_store

    events = open_store(store).verify()
    last = events[-1].hash if events else "none"
    typer.echo(f"{len(events)} lines, every link and file fits; last hash {last}")
