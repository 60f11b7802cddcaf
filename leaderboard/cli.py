"""The commands of the board. Only typer and the standard library are loaded before one runs."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from leaderboard import cli_maintain, cli_submit
from leaderboard.cli_maintain import ledger_app
from leaderboard.cli_options import (
    DEFAULT_STORE,
    BaseOption,
    JsonOption,
    StoreOption,
    computed,
    folder,
    new_file,
    opened,
    print_json,
)
from leaderboard.cli_submit import submit_command

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
    opened, board = computed(store, base=base, tracks=track or ())
    if interval is Interval.bca:
        from leaderboard.board import with_bca

        board = with_bca(board)
    if as_json:
        typer.echo(board.model_dump_json(indent=1))
    else:
        from leaderboard.table import print_board, print_published

        print_board(board, parts=parts)
        if published:
            chosen = opened.catalog.chosen(track) if track else ()
            print_published([one.printed.track for one in chosen if one.printed])


@app.command()
def export(
    out: Annotated[Path, typer.Argument(help="Folder to write the site into.")],
    store: StoreOption = DEFAULT_STORE,
    base: BaseOption = "",
) -> None:
    """Write the board as pages that open from disk, with the ten pictures of every item."""
    from leaderboard.site.export import export_site

    typer.echo(export_site(opened(store), out, base=base))


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

    board = opened(store)
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
    """Is A better than B: yes, no, the items cannot tell, or no verdict."""
    from leaderboard.comparison import badge_svg, duel, sentence

    if badge is not None:
        new_file(badge)
    found = duel(opened(store), task, a, b)
    if badge is not None:
        badge.write_text(badge_svg(found), encoding="utf-8")
    typer.echo(found.model_dump_json(indent=1) if as_json else sentence(found))


@app.command()
def signs(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List entries whose answers deserve a look: constant, positional, copied, at chance."""
    from leaderboard.examine import examine

    found = examine(*computed(store))
    if as_json:
        print_json(found)
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
    from leaderboard.exporters import WRITERS

    place = folder if form in (Format.every_eval_ever, Format.hub) else new_file
    place(out)
    for path in WRITERS[form.value](*computed(store), out):
        typer.echo(path)


_OTHERS: dict[str, Callable[..., None]] = {
    "take": cli_submit.take,
    "serve": cli_maintain.serve,
    "app": cli_maintain.space,
    "rebuild": cli_maintain.rebuild,
    "pending": cli_maintain.pending,
    "decide": cli_maintain.decide,
}
for _name, _command in _OTHERS.items():
    app.command(_name)(_command)

__all__ = ["app", "ledger_app", "submit_command"]
