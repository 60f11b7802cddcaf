"""The commands of the board. Only typer and the standard library are loaded before one runs."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from leaderboard import cli_maintain
from leaderboard.cli_maintain import ledger_app
from leaderboard.cli_options import DEFAULT_STORE, BaseOption, JsonOption, StoreOption

app = typer.Typer(
    name="leaderboard",
    help="Rank, compare and show submitted results.",
    no_args_is_help=True,
    add_completion=False,
)


class Interval(str, Enum):
    """Which limits a table shows."""

    usual = "usual"
    bca = "bca"


@app.command()
def rank(
    store: StoreOption = DEFAULT_STORE,
    base: BaseOption = "",
    track: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads it at run time on Python 3.10
        typer.Option(
            help="Show only this track, or those that begin with it: sage, symbalbench, ... (may "
            "be given again)."
        ),
    ] = None,
    interval: Annotated[
        Interval, typer.Option(help="Limits to show; bca where the usual ones are percentiles.")
    ] = Interval.usual,
    parts: Annotated[
        bool, typer.Option("--parts", help="Add SymbalBench by strength, feature size and kind.")
    ] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Add the papers' figures (aggregates only).")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the ranked table: intervals, tests against the best and a base, rank ranges."""
    from leaderboard.board import build_board, with_bca
    from leaderboard.store import open_store

    board = build_board(open_store(store), base=base, tracks=track or ())
    if interval is Interval.bca:
        board = with_bca(board)
    if as_json:
        typer.echo(board.model_dump_json(indent=1))
    else:
        from leaderboard.table import print_board, print_published

        print_board(board, parts=parts)
        if published:
            print_published()


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


TaskOption = Annotated[str, typer.Option(help="Task to compare on (sage_verse, ...).")]


@app.command()
def compare(
    a: Annotated[str, typer.Argument(help="Label or id of an entry.")],
    b: Annotated[str, typer.Argument(help="Label or id of the other.")],
    task: TaskOption,
    store: StoreOption = DEFAULT_STORE,
    limit: Annotated[int, typer.Option(min=0, help="How many items to list.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Two entries on the same items: the difference, and where they disagree."""
    from leaderboard.comparison import disagreeing, duel
    from leaderboard.store import open_store

    board = open_store(store)
    found = duel(board, task, a, b)
    items = disagreeing(board, found)
    if as_json:
        import json

        listed = [one.model_dump() for one in items[:limit]]
        payload = {**found.model_dump(), "disagreeing": len(items), "disagreements": listed}
        typer.echo(json.dumps(payload, indent=1, ensure_ascii=False))
    else:
        from leaderboard.table import print_duel

        print_duel(found, items, board.gold(task).kind.headings, limit)


@app.command()
def verdict(
    a: Annotated[str, typer.Argument(help="Label or id of an entry.")],
    b: Annotated[str, typer.Argument(help="Label or id of the other.")],
    task: TaskOption,
    store: StoreOption = DEFAULT_STORE,
    badge: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it at run time on Python 3.10
        typer.Option(help="Write the answer as an SVG badge."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Is A better than B: yes, no, or the items cannot tell."""
    from leaderboard.comparison import badge_svg, duel, sentence
    from leaderboard.store import open_store

    found = duel(open_store(store), task, a, b)
    if badge is not None:
        badge.write_text(badge_svg(found), encoding="utf-8")
    typer.echo(found.model_dump_json(indent=1) if as_json else sentence(found))


@app.command()
def signs(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List entries whose answers deserve a look: constant, positional, copied, at chance."""
    import json

    from leaderboard.board import build_board
    from leaderboard.examine import examine
    from leaderboard.store import open_store

    opened = open_store(store)
    found = examine(opened, build_board(opened))
    if as_json:
        typer.echo(json.dumps([one.model_dump() for one in found], indent=1))
        return
    for one in found:
        typer.echo("\n  ".join([one.label, *one.signs]))
    if not found:
        typer.echo("Nothing stands out.")


class Format(str, Enum):
    """Formats that the board can be written in."""

    csv = "csv"
    parquet = "parquet"
    latex = "latex"
    every_eval_ever = "every_eval_ever"
    hub = "hub"


@app.command()
def dump(
    out: Annotated[Path, typer.Argument(help="File, or folder for every_eval_ever and hub.")],
    form: Annotated[Format, typer.Option("--format", "-f", help="Format to write.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Write the board's numbers for other programs: CSV, Parquet, LaTeX, shared schemas."""
    from leaderboard.board import build_board
    from leaderboard.exporters import WRITERS
    from leaderboard.store import open_store

    opened = open_store(store)
    for path in WRITERS[form.value](opened, build_board(opened), out):
        typer.echo(path)


class Source(str, Enum):
    """Files that can be submitted besides run folders."""

    every_eval_ever = "every_eval_ever"
    inspect = "inspect"
    packed = "packed"


def submit_command(
    run_dir: Annotated[Path, typer.Argument(help="What --output_path named in the run.")],
    to: Annotated[
        str,
        typer.Option(
            help="Board folder, address of a running board, hf://datasets/ORG/REPO, or FILE.jsonl "
            "to send later."
        ),
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
    source: Annotated[
        Optional[Source],  # noqa: UP045 - typer reads it at run time on Python 3.10
        typer.Option("--from", help="RUN_DIR is a file that another tool wrote."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Submit what a run left on disk to a board, which scores it itself."""
    import json

    from leaderboard.submit import submit

    receipts = submit(
        run_dir,
        to,
        partial=partial,
        other_pictures=other_pictures,
        cost=cost,
        contact=contact,
        source=source.value if source else "",
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
    if any(task.missing for receipt in receipts for task in receipt.tasks):
        typer.echo(
            "Missing items score 0. Was this a run with --limit or one shard? Then run the rest, "
            "or merge the shards, and submit again.",
            err=True,
        )


for _command in (cli_maintain.serve, cli_maintain.take, cli_maintain.rebuild, cli_maintain.decide):
    app.command()(_command)
app.command("app")(cli_maintain.space)

__all__ = ["app", "ledger_app", "submit_command"]
