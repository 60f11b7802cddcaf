"""``wordsight push`` and ``wordsight pull``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def push(
    folder: Annotated[Path, typer.Argument(help="A dataset folder as built.")],
    repo: Annotated[str, typer.Option(help="Dataset repository on the Hub, as ORG/NAME.")],
    private: Annotated[
        bool, typer.Option("--private", help="Make a new repository private.")
    ] = False,
    revision: Annotated[str | None, typer.Option(help="Branch to push to.")] = None,
    queries_only: Annotated[
        bool, typer.Option("--queries-only", help="Leave the pictures out.")
    ] = False,
    i_have_the_rights: Annotated[
        bool,
        typer.Option("--i-have-the-rights", help="Push pictures or glosses of unclear licence."),
    ] = False,
    name: Annotated[
        str | None, typer.Option(help="Dataset name to pin; by default as in its report.")
    ] = None,
    revisions: Annotated[
        Path | None, typer.Option(help="File of pinned revisions to update.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Publish a dataset folder in one commit and pin that commit for the tasks."""
    from wordsight.errors import DataError
    from wordsight.hub import push as push_dataset
    from wordsight.hub import write_pin
    from wordsight.hub_rights import check_rights

    if not i_have_the_rights:
        check_rights(folder, queries_only)
    report = folder / "report.json"
    if name is None:
        if not report.is_file():
            raise DataError(f"{folder}: no report.json to take the dataset's name from; use --name")
        name = json.loads(report.read_text(encoding="utf-8"))["dataset"]
    pin = push_dataset(folder, repo, private, revision, queries_only)
    file = write_pin(name, pin, revisions)
    result = {"dataset": name, "repo": pin.repo, "revision": pin.revision, "pinned_in": str(file)}
    if as_json:
        typer.echo(json.dumps(result))
    else:
        typer.echo(f"{name}: {pin.repo} at {pin.revision}, pinned in {file}")


def pull(
    name: Annotated[str | None, typer.Argument(help="Dataset name with a pinned revision.")] = None,
    repo: Annotated[str | None, typer.Option(help="A repository instead of a name.")] = None,
    revision: Annotated[
        str | None, typer.Option(help="Commit or branch; with --repo, main by default.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the dataset; by default the Hub's cache.")
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(help="Your own pictures, joined by name with queries that came without."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Fetch a dataset from the Hub by its pinned revision."""
    from wordsight.errors import DataError
    from wordsight.hub import Pin, download, read_pins, revisions_file

    if (name is None) == (repo is None):
        raise typer.BadParameter("give either a dataset name or --repo")
    if images is not None and out is None:
        raise typer.BadParameter("--images needs --out")
    if repo is not None:
        pin = Pin(repo, revision or "main")
    else:
        pins = read_pins()
        if name not in pins:
            raise DataError(f"{revisions_file()} pins no dataset {name!r}; it has {sorted(pins)}")
        pin = Pin(pins[name].repo, revision or pins[name].revision)
    if images is None or out is None:
        result: dict[str, object] = {"folder": str(download(pin, out))}
    else:
        from sage_tasks.build.join import join_pictures
        from sage_tasks.build.pipeline import Options

        report = join_pictures(download(pin), images, out, Options())
        result = {
            "folder": str(out),
            "queries": {
                f"{config}/{split}": entry["items"]
                for config, splits in report["configs"].items()
                for split, entry in splits.items()
            },
            "left_out": report["skipped"]["by_reason"],
            "same_pictures_as_published": report["same_pictures"],
        }
    typer.echo(json.dumps(result) if as_json else "\n".join(f"{k}: {v}" for k, v in result.items()))
