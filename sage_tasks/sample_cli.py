"""``wordsight sample`` and ``wordsight agreement``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sage_tasks.agreement import Agreement

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def sample(
    datasets: Annotated[list[str], typer.Argument(help="Dataset names or folders.")],
    out: Annotated[Path, typer.Option(help="New folder for page, sheets, pictures and key.")],
    config: Annotated[
        str | None, typer.Option(help="Config of a single dataset; by default its name.")
    ] = None,
    split: Annotated[str, typer.Option()] = "test",
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="Items per dataset.")] = 50,
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
    from sage_tasks.sample import Part, Sheet, draw, write_sample
    from sage_tasks.sources import dataset_root

    if kind not in ("choice", "plausible", "errors"):
        raise typer.BadParameter(f"{kind!r} is none of choice, plausible, errors")
    if (kind == "plausible") != (texts is not None):
        raise typer.BadParameter("--texts goes with --kind plausible, and only with it")
    if config is not None and len(datasets) > 1:
        raise typer.BadParameter("--config goes with one dataset")
    judged = {}
    if texts is not None:
        lines = [json.loads(line) for line in read_lines(texts)]
        judged = {line["item"]: line["text"] for line in lines}
    among = judged.keys() if judged else read_lines(items) if items else None
    parts = []
    for dataset in datasets:
        name = config or Path(dataset).name
        package = open_package(dataset_root(dataset), name, split)
        queries = draw(package.queries, number, seed, among)
        parts.append(Part(name, package, queries))
    sheet = Sheet(kind, tuple(parts), judged)  # type: ignore[arg-type]
    write_sample(sheet, out, annotators)
    total = len(sheet.items)
    typer.echo(f"{total} items in {out}: page.html or annotator_*.csv to fill in, key.json")


def agreement(
    key: Annotated[Path, typer.Argument(help="Sample folder or its key.json.")],
    sheets: Annotated[list[Path], typer.Argument(help="Two or three filled-in CSV files.")],
    as_json: AsJson = False,
) -> None:
    """Agreement between annotators, mismatches with the gold, category counts."""
    from sage_tasks.build.text import read_json
    from sage_tasks.sample import KEY, check_answers, read_sheet

    known = read_json(key / KEY if key.is_dir() else key)
    subsets: dict[str, list[str]] = known["items"]
    everything = [item for items in subsets.values() for item in items]
    tables = [read_sheet(path, everything) for path in sheets]
    for path, rows in zip(sheets, tables, strict=True):
        check_answers(rows, known["answers"], path)
    names = [path.stem for path in sheets]
    parts = {name: _measured(known, tables, names, items) for name, items in subsets.items()}
    if len(parts) > 1:
        parts["overall"] = _measured(known, tables, names, everything)
    result = {"kind": known["kind"], "subsets": parts}
    if as_json:
        typer.echo(json.dumps(result))
    else:
        typer.echo("\n\n".join(_readable(name, part) for name, part in parts.items()))


def _measured(
    known: dict[str, Any],
    tables: Sequence[Sequence[Mapping[str, str]]],
    names: Sequence[str],
    items: Sequence[str],
) -> dict[str, Any]:
    from sage_tasks.agreement import agreement as measure
    from sage_tasks.agreement import category_counts, mismatches

    wanted = set(items)
    rows = [[row for row in table if row["item"] in wanted] for table in tables]
    answers = [{row["item"]: row["answer"].lower() for row in table} for table in rows]
    categories = [{row["item"]: row["category"] for row in table} for table in rows]
    if known["kind"] == "errors":
        used = {category for given in categories for category in given.values() if category}
        return {
            "agreement": _described(measure(categories, max(len(used), 2))),
            "categories": category_counts(categories, items),
        }
    agreed = {"agreement": _described(measure(answers, known["answers"]))}
    if known["kind"] == "choice":
        gold = {item: known["gold"][item] for item in items}
        wrong = mismatches(answers, gold)
        counts = category_counts(categories, wrong)
        return {**agreed, "gold_mismatches": wrong, "categories": counts}
    yes = [sum(answer == "yes" for answer in given.values()) for given in answers]
    return {**agreed, "yes": dict(zip(names, yes, strict=True))}


def _described(measured: Agreement) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(measured) | {"percent": measured.percent}


def _readable(subset: str, result: dict[str, Any]) -> str:
    agreed = result["agreement"]
    items = agreed["items"]
    value = "not defined" if agreed["value"] is None else f"{agreed['value']:.3f}"
    lines = [f"{subset}: {agreed['annotators']} annotators, {items} items"]
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
