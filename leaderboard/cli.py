"""The commands of the board. Only typer and the standard library are loaded before one runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

app = typer.Typer(
    name="leaderboard",
    help="Rank, compare and show submitted results.",
    no_args_is_help=True,
    add_completion=False,
)

StoreOption = Annotated[
    Path,
    typer.Option("--store", "-s", envvar="WORDSIGHT_BOARD", help="Folder of the board."),
]
BaseOption = Annotated[
    str, typer.Option(help="Test every entry against this one too (label or id).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
DEFAULT_STORE = Path("board")


@app.command()
def rank(
    store: StoreOption = DEFAULT_STORE,
    base: BaseOption = "",
    track: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads it at run time on Python 3.10
        typer.Option(help="Show only this track (may be given again)."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the ranked table: intervals, tests against the best and a base, rank ranges."""
    from leaderboard.board import build_board
    from leaderboard.store import open_store

    board = build_board(open_store(store), base=base, tracks=track or ())
    if as_json:
        typer.echo(board.model_dump_json(indent=1))
    else:
        from leaderboard.table import print_board

        print_board(board)


@app.command()
def export(
    out: Annotated[Path, typer.Argument(help="Folder to write the site into.")],
    store: StoreOption = DEFAULT_STORE,
    base: BaseOption = "",
) -> None:
    """Write the board as pages that open from disk, with the ten pictures of every item."""
    from leaderboard.site.export import export_site
    from leaderboard.store import open_store

    typer.echo(export_site(open_store(store), out, base=base))


@app.command()
def serve(
    store: StoreOption = DEFAULT_STORE,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 7860,
    allowed_host: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads it at run time on Python 3.10
        typer.Option(help="Host name that the service is reached by (may be given again)."),
    ] = None,
) -> None:
    """Serve the board: pages at /, the API at /api/v1."""
    from leaderboard.server.run import run

    run(store, host=host, port=port, allowed_hosts=allowed_host or ())


def submit_command(
    run_dir: Annotated[Path, typer.Argument(help="What --output_path named in the run.")],
    to: Annotated[
        str,
        typer.Option(help="Board folder, address of a running board, or hf://datasets/ORG/REPO."),
    ],
    partial: Annotated[
        bool, typer.Option(help="Accept a run with failed requests; their items count as missing.")
    ] = False,
    other_pictures: Annotated[
        bool, typer.Option(help="Accept answers on other copies of the same pictures; marked.")
    ] = False,
    cost: Annotated[
        Optional[float],  # noqa: UP045 - typer reads it at run time on Python 3.10
        typer.Option(min=0, help="What the run cost, in US dollars."),
    ] = None,
    contact: Annotated[str, typer.Option(help="Whom to ask about this row; shown.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Submit what a run left on disk to a board, which scores it itself."""
    import json

    from leaderboard.submit import submit

    receipts = submit(
        run_dir, to, partial=partial, other_pictures=other_pictures, cost=cost, contact=contact
    )
    if as_json:
        typer.echo(json.dumps([receipt.model_dump() for receipt in receipts], indent=1))
        return
    for receipt in receipts:
        what = receipt.state if receipt.new else "was submitted before"
        typer.echo(f"{receipt.label}: {what} as {receipt.submission}, attempt {receipt.attempts}")
        for task in receipt.tasks:
            missing = f", {task.missing} missing" if task.missing else ""
            other = f", {task.other_pictures} on other pictures" if task.other_pictures else ""
            typer.echo(f"  {task.task}: {task.items} items{missing}{other}")
