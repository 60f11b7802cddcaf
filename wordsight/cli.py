"""The ``wordsight`` command. Heavy imports wait until a command needs them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from leaderboard.cli import app as leaderboard_app
from leaderboard.cli import ledger_app, submit_command
from sage_tasks.build.cli import app as build_app
from sage_tasks.gar.cli import definitions, errors, explain, lexicon_report
from sage_tasks.hub_cli import pull, push
from sage_tasks.sample_cli import agreement, sample
from symbal_tasks.cli import build_symbalbench
from symbal_tasks.cli_audit import audit_captions, audit_null, make_captions
from symbal_tasks.cli_bench import run_symbal
from wordsight import __version__
from wordsight.cli_ablate import app as ablate_app

ERROR, INCOMPLETE, INTERRUPTED = 1, 3, 130

app = typer.Typer(
    help="Measure whether a vision-language model's words match what it sees.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

OutputPath = Annotated[
    Path, typer.Option("--output_path", "--output-path", help="Folder for results and samples.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command("eval")
def evaluate(
    model: Annotated[str, typer.Option(help="A model name of `lmms-eval models` or of Wordsight.")],
    tasks: Annotated[str, typer.Option(help="Task or group names, separated by commas.")],
    output_path: OutputPath,
    model_args: Annotated[
        str, typer.Option("--model_args", "--model-args", help="name=value,name=value,...")
    ] = "",
    batch_size: Annotated[int, typer.Option("--batch_size", "--batch-size", min=1)] = 1,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:0, ...")] = None,
    limit: Annotated[
        float | None, typer.Option(help="Queries per task; below 1, a share of them.", min=0)
    ] = None,
    gen_kwargs: Annotated[str | None, typer.Option("--gen_kwargs", "--gen-kwargs")] = None,
    shard: Annotated[str, typer.Option(help="Part i of n, for cluster jobs: i/n.")] = "1/1",
    seed: Annotated[int, typer.Option()] = 0,
    force_simple: Annotated[bool, typer.Option("--force_simple", "--force-simple")] = False,
    include_path: Annotated[
        str | None, typer.Option("--include_path", "--include-path", help="More task YAML.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an earlier run.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Throw its answers away.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run lmms-eval with a true exit status, resume and a run manifest.

    Exit status: 0 complete, 1 error, 3 incomplete (requests failed; --resume asks them again).
    """
    from wordsight.errors import WordsightError
    from wordsight.run.report import evaluate_and_report
    from wordsight.run.spec import RunSpec
    from wordsight.shard import Shard

    if resume and restart:
        raise typer.BadParameter("--resume keeps the answers, --restart throws them away: choose")
    if limit == 0:
        raise typer.BadParameter("--limit 0 leaves no queries")
    if not tasks.strip(" ,"):
        raise typer.BadParameter("--tasks names no task; `wordsight tasks` lists them")
    try:
        Shard.parse(shard)
    except WordsightError as error:
        raise typer.BadParameter(str(error)) from None
    if limit is not None and shard != "1/1":
        raise typer.BadParameter("--limit and --shard exclude each other: shards are merged whole")
    spec = RunSpec(
        model=model,
        tasks=tuple(name.strip() for name in tasks.split(",") if name.strip()),
        model_args=model_args,
        batch_size=batch_size,
        device=device,
        limit=limit,
        gen_kwargs=gen_kwargs,
        shard=shard,
        seed=seed,
        force_simple=force_simple,
        include_path=include_path,
    )
    evaluate_and_report(spec, output_path, resume=resume, restart=restart, as_json=as_json)


@app.command()
def merge(
    parts: Annotated[list[Path], typer.Argument(help="Output folders of the shards.")],
    output_path: OutputPath,
    as_json: AsJson = False,
) -> None:
    """Put the shards of one run (--shard i/n) together and score them as one run."""
    from wordsight.run.report import merge_and_report

    merge_and_report(parts, output_path, as_json=as_json)


@app.command()
def demo(
    output_path: OutputPath = Path("demo-out"),
    as_json: AsJson = False,
) -> None:
    """Evaluate four models on the demo set, submit them to a local board and rank them.

    Real pictures, a CPU, no network: about a minute.
    """
    from wordsight.demo import demo_and_report

    demo_and_report(output_path, as_json=as_json)


@app.command("tasks")
def list_tasks() -> None:
    """List the tasks of this package."""
    from wordsight.task_paths import task_names

    for name in task_names():
        typer.echo(name)


# The parts bring their own commands; none of these modules loads anything heavy. What most people
# type comes first in the help.
_PARTS: dict[str, Callable[..., None]] = {
    "submit": submit_command,
    "push": push,
    "pull": pull,
    "explain": explain,
    "errors": errors,
    "definitions": definitions,
    "lexicons": lexicon_report,
    "audit": audit_captions,
    "audit-null": audit_null,
    "caption": make_captions,
    "symbal": run_symbal,
    "sample": sample,
    "agreement": agreement,
}
for _name, _command in _PARTS.items():
    app.command(_name)(_command)
build_app.command("symbalbench")(build_symbalbench)
app.add_typer(ablate_app, name="ablate")
app.add_typer(build_app, name="build")
app.add_typer(leaderboard_app, name="leaderboard")
app.add_typer(ledger_app, name="ledger")


def main() -> None:
    """Entry point: errors that a user can act on are one line on stderr, not a traceback."""
    from wordsight.errors import IncompleteRunError, WordsightError

    try:
        app()
    except IncompleteRunError as error:
        _fail(error, INCOMPLETE)
    except (WordsightError, OSError) as error:
        # OSError: a folder that cannot be written, a file where a folder should be, a full disk
        _fail(error, ERROR)
    except SystemExit as end:
        # typer ends in silence when Ctrl-C is pressed
        if end.code == INTERRUPTED:
            kept = "; answers that had come are kept, add --resume to go on" * (
                sys.argv[1:2] == ["eval"]
            )
            typer.echo(f"wordsight: interrupted{kept}", err=True)
        raise


def _fail(error: Exception, status: int) -> None:
    typer.echo(f"wordsight: {error}", err=True)
    sys.exit(status)
