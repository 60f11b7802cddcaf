"""Commands for whoever runs a board; :mod:`leaderboard.cli` adds them to its own."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from leaderboard.cli_options import (
    DEFAULT_STORE,
    JsonOption,
    StoreOption,
    counts_of,
    opened,
    print_json,
)

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


def rebuild(
    store: StoreOption = DEFAULT_STORE,
    check: Annotated[
        bool, typer.Option("--check", help="Compare with the stored snapshot, write nothing.")
    ] = False,
) -> None:
    """Compute the whole board anew from the raw responses."""
    from leaderboard.snapshot import rebuild as rebuild_board

    path = rebuild_board(opened(store), check=check)
    typer.echo(f"{path}: {'equal, byte for byte' if check else 'written'}")


def pending(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the submissions that wait for approval: id, label, time (UTC), counts."""
    from leaderboard.waiting import waiting

    found = waiting(opened(store))
    if as_json:
        print_json(found)
        return
    for one in found:
        typer.echo(f"{one.submission} {one.label}, submitted {one.submitted}")
        for task in one.tasks:
            typer.echo(f"  {counts_of(task)}")
    if not found:
        typer.echo("Nothing waits.")


class Decision(str, Enum):
    """What a maintainer may decide about a submission."""

    approve = "approved"
    verify = "verified"
    prefer = "preferred"
    withdraw = "withdrawn"


def decide(
    submission: Annotated[str, typer.Argument(help="Id of the submission.")],
    decision: Annotated[
        Decision,
        typer.Argument(
            help="approved, verified (rerun), preferred (takes its row although an earlier attempt "
            "answered more items) or withdrawn."
        ),
    ],
    reason: Annotated[str, typer.Option(help="Shown on the board.")] = "",
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Approve, verify, prefer or withdraw a submission; recorded in the ledger for good."""
    from wordsight.errors import WordsightError

    if decision is Decision.withdraw and not reason:
        raise WordsightError("a withdrawal needs --reason: it stays visible on the board")
    event = opened(store).decide(submission, decision.value, reason)
    typer.echo(f"line {event.number}: {event.submission} {event.kind}")


@ledger_app.callback()
def _ledger() -> None:
    """Keeps ``verify`` a command of its own although it is the only one."""


@ledger_app.command("verify")
def verify_ledger(
    store: StoreOption = DEFAULT_STORE,
    head: Annotated[
        str,
        typer.Option(
            help="Hash that `submit` or an earlier check printed: its line must still be there."
        ),
    ] = "",
) -> None:
    """Check every line's hash and link, every stored file against its line, and what is left."""
    from leaderboard import audit, ledger

    board = opened(store)
    ledger.check_ending(board.ledger_path)
    events = board.verify(head=head)
    audit.check_snapshots(board.root, events)
    for path in audit.orphans(board.root, events):
        typer.echo(
            f"{path}: has no line in the ledger, so it does not count: its writer was stopped, or "
            "the line was removed",
            err=True,
        )
    for event in events:
        if head and event.hash.startswith(head):
            typer.echo(f"the hash {head} is that of line {event.number}")
    last = events[-1].hash if events else "none"
    typer.echo(f"{len(events)} lines, every link and file fits; last hash {last}")
