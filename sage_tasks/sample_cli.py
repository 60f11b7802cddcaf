"""``wordsight sample`` and ``wordsight agreement``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sage_tasks.agreement import Agreement

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def sample(
    dataset: Annotated[str, typer.Argument(help="Dataset name or folder.")],
    out: Annotated[Path, typer.Option(help="New folder for page, sheets, pictures and key.")],
    config: Annotated[
        str | None, typer.Option(help="Config; by default the dataset's name.")
    ] = None,
    split: Annotated[str, typer.Option()] = "test",
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="Items to draw.")] = 50,
    kind: Annotated[
        str,
        typer.Option(help="choice: pick the picture; plausible: judge a text; errors: categorise."),
    ] = "choice",
    texts: Annotated[
        Path | None, typer.Option(help='JSON Lines {"item": id, "text": ...} to be judged.')
    ] = None,
    items: Annotated[
        Path | None, typer.Option(help="File of item ids to draw from, one a line.")
    ] = None,
    annotators: Annotated[int, typer.Option(min=2, max=3)] = 3,
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Draw items for human annotators (Tables 9, 11 and 16)."""
    from sage_tasks.build.text import read_lines
    from sage_tasks.package import open_package
    from sage_tasks.sample import Sheet, draw, write_sample
    from sage_tasks.sources import dataset_root

    if kind not in ("choice", "plausible", "errors"):
        raise typer.BadParameter(
            f"{kind!r} is none of choice, plausible, errors", param_hint="--kind"
        )
    if (kind == "plausible") != (texts is not None):
        raise typer.BadParameter("--texts goes with --kind plausible, and only with it")
    root = dataset_root(dataset)
    config = config or Path(dataset).name
    package = open_package(root, config, split)
    judged = {}
    if texts is not None:
        lines = [json.loads(line) for line in read_lines(texts)]
        judged = {line["item"]: line["text"] for line in lines}
    among = judged.keys() if judged else read_lines(items) if items else None
    queries = draw(package.queries, number, seed, among)
    sheet = Sheet(kind, config.split("_")[0], queries, judged)  # type: ignore[arg-type]
    write_sample(package, sheet, out, annotators)
    typer.echo(f"{len(queries)} items in {out}: page.html or annotator_*.csv to fill in, key.json")


def agreement(
    key: Annotated[Path, typer.Argument(help="Sample folder or its key.json.")],
    sheets: Annotated[list[Path], typer.Argument(help="Two or three filled-in CSV files.")],
    as_json: AsJson = False,
) -> None:
    """Agreement between annotators, mismatches with the gold, category counts."""
    from sage_tasks.agreement import agreement as measure
    from sage_tasks.agreement import category_counts, mismatches
    from sage_tasks.build.text import read_json
    from sage_tasks.sample import KEY, check_answers, read_sheet

    known = read_json(key / KEY if key.is_dir() else key)
    tables = [read_sheet(path, known["items"]) for path in sheets]
    for path, rows in zip(sheets, tables, strict=True):
        check_answers(rows, known["answers"], path)
    answers = [{row["item"]: row["answer"].lower() for row in rows} for rows in tables]
    categories = [{row["item"]: row["category"] for row in rows} for rows in tables]
    result: dict[str, Any] = {"kind": known["kind"], "subset": known["subset"]}
    if known["kind"] == "errors":
        named = sorted({c for given in categories for c in given.values() if c})
        result["agreement"] = _described(measure(categories, max(len(named), 2)))
        result["categories"] = category_counts(categories, known["items"])
    else:
        result["agreement"] = _described(measure(answers, known["answers"]))
        if known["kind"] == "choice":
            wrong = mismatches(answers, known["gold"])
            result["gold_mismatches"] = wrong
            result["categories"] = category_counts(categories, wrong)
        else:
            result["yes"] = {
                path.stem: sum(answer == "yes" for answer in given.values())
                for path, given in zip(sheets, answers, strict=True)
            }
    typer.echo(json.dumps(result) if as_json else _readable(result))


def _described(measured: Agreement) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(measured) | {"percent": measured.percent}


def _readable(result: dict[str, Any]) -> str:
    agreed = result["agreement"]
    items = agreed["items"]
    value = "not defined" if agreed["value"] is None else f"{agreed['value']:.3f}"
    lines = [f"{result['subset']}, {agreed['annotators']} annotators, {items} items"]
    if agreed["unanswered"]:
        lines.append(f"left out, not answered by all: {agreed['unanswered']}")
    for name in ("unanimous", "two_of_three", "all_different"):
        if agreed[name] is not None and items:
            share = 100 * agreed[name] / items
            lines.append(f"{name.replace('_', ' ')}: {agreed[name]}/{items} ({share:.1f}%)")
    lines.append(f"{agreed['coefficient']}: {value}")
    for annotator, number in result.get("yes", {}).items():
        lines.append(f"{annotator}: {number}/{items} yes")
    if "gold_mismatches" in result:
        lines.append(f"majority differs from the gold: {len(result['gold_mismatches'])}")
    total = sum(result.get("categories", {}).values())
    for category, number in result.get("categories", {}).items():
        lines.append(f"  {category}: {number}/{total} ({100 * number / total:.1f}%)")
    return "\n".join(lines)
