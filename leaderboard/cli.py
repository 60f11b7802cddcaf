"""The commands of the board. Only typer and the standard library are loaded before one runs."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

app = typer.Typer(
    name="leaderboard",
    help="Rank, compare and show submitted results.",
    no_args_is_help=True,
    add_completion=False,
)

ledger_app = typer.Typer(
    name="ledger",
    help="The list of all submissions, which anyone can verify.",
    no_args_is_help=True,
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
    published: Annotated[
        bool, typer.Option("--published", help="Add the papers' figures (aggregates only).")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the ranked table: intervals, tests against the best and a base, rank ranges."""
    from leaderboard.board import build_board
    from leaderboard.store import open_store

    board = build_board(open_store(store), base=base, tracks=track or ())
    if as_json:
        typer.echo(board.model_dump_json(indent=1))
    else:
        from leaderboard.table import print_board, print_published

        print_board(board)
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


@app.command()
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


@app.command("app")
def space(
    out: Annotated[Path, typer.Argument(help="Folder to write.")],
    repo: Annotated[str, typer.Option(help="Dataset repository that keeps the board: ORG/NAME.")],
    title: Annotated[str, typer.Option(help="Title of the Space.")] = "Wordsight leaderboard",
) -> None:
    """Write a folder ready to push as a Space; its state lies on a dataset repository."""
    from leaderboard.space import write_space

    for path in write_space(out, title=title, repository=repo):
        typer.echo(path)


@app.command()
def take(
    folder: Annotated[Path, typer.Argument(help="Folder of packed submissions (*.jsonl).")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Add packed submissions, as merged pull requests leave them in incoming/."""
    from leaderboard.hub_store import take_in
    from leaderboard.store import create_store

    for receipt in take_in(create_store(store), folder):
        typer.echo(f"{receipt.label}: {receipt.submission}, attempt {receipt.attempts}")


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
    items = disagreeing(board, found)[:limit]
    if as_json:
        import json

        payload = {**found.model_dump(), "disagreements": [one.model_dump() for one in items]}
        typer.echo(json.dumps(payload, indent=1, ensure_ascii=False))
    else:
        from leaderboard.table import print_duel

        print_duel(found, items)


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


class Decision(str, Enum):
    """What a maintainer may decide about a submission."""

    approve = "approved"
    verify = "verified"
    withdraw = "withdrawn"


@app.command()
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
