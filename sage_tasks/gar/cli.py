"""Commands around GAR. Only typer and the standard library load with this module."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Gloss-augmented reasoning: explain and compare.")

Result = Annotated[Path, typer.Argument(help="Output folder of a GAR run, or its samples file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


@app.callback()
def _app() -> None:
    """Gloss-augmented reasoning: explain and compare."""


@app.command()
def explain(
    result: Result,
    item: Annotated[str, typer.Argument(help="Item id, its beginning, or a term.")],
    page: Annotated[
        Path | None, typer.Option(help="HTML file to write; default explain-ITEM.html.")
    ] = None,
) -> None:
    """Show why a candidate won: glosses, definition, questions, P(yes), ranks."""
    from sage_tasks.gar.explain import as_text, write_page
    from sage_tasks.gar.explain import explain as explain_item
    from sage_tasks.gar.results import find_item, read_result

    task, logged = find_item(read_result(result), item)
    explanation = explain_item(task, logged)
    typer.echo(as_text(explanation))
    path = page or Path(f"explain-{logged.item}.html")
    write_page(explanation, task, path)
    typer.echo(f"Page: {path}", err=True)


@app.command()
def errors(
    result: Result,
    margin: Annotated[
        float, typer.Option(help="P(yes) that differ by less say the same.", min=0, max=1)
    ] = 0.1,
    as_json: AsJson = False,
) -> None:
    """List items that the constraints rank wrong, with a first guess at the kind (Table 9)."""
    from dataclasses import asdict

    from sage_tasks.gar.errors import KINDS, failures
    from sage_tasks.gar.results import read_result

    for task in read_result(result):
        found, items = failures(task, margin)
        counts = {kind: sum(failure.kind == kind for failure in found) for kind in KINDS}
        if as_json:
            listed = [asdict(failure) for failure in found]
            typer.echo(
                json.dumps({"task": task.task, "items": items, "kinds": counts, "failures": listed})
            )
            continue
        for f in found:
            typer.echo(f"{f.item}  {f.kind:20} {f.term!r} in {f.context!r}: {f.evidence}")
        typer.echo(f"{task.task}: {len(found)} of {items} items ranked wrong by constraints")
        for kind, count in counts.items():
            share = 100 * count / len(found) if found else 0.0
            typer.echo(f"  {kind:20} {count:4}  {share:3.0f}%")


@app.command()
def ablate(
    tasks: Annotated[str, typer.Option(help="Task names, separated by commas.")],
    output_path: Annotated[
        Path, typer.Option("--output_path", "--output-path", help="Folder for the run.")
    ],
    model_args: Annotated[
        str, typer.Option("--model_args", "--model-args", help="Of gar: base=...,lexicon=...,...")
    ] = "",
    batch_size: Annotated[int, typer.Option("--batch_size", "--batch-size", min=1)] = 1,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:0, ...")] = None,
    limit: Annotated[float | None, typer.Option(help="Queries per task.", min=0)] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an earlier run.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Throw its answers away.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run base, the four methods and the axis subsets on one model; print Tables 5 and 6.

    One run asks every question once; without --model_args the run in --output_path is read.
    """
    from sage_tasks.gar import ablate as tables
    from sage_tasks.gar.results import read_result

    if model_args:
        from wordsight.run.report import evaluate
        from wordsight.run.spec import RunSpec

        spec = RunSpec(
            model="gar",
            tasks=tuple(name.strip() for name in tasks.split(",") if name.strip()),
            model_args=f"{model_args},method=all",
            batch_size=batch_size,
            device=device,
            limit=limit,
        )
        run = evaluate(spec, output_path, resume=resume, restart=restart, quiet=True)
        if run is None:
            return
        run.raise_if_incomplete()
    wanted = {name.strip() for name in tasks.split(",")}
    results = [task for task in read_result(output_path) if task.task in wanted]
    made = [
        make(results) for make in (tables.method_table, tables.axis_table, tables.aggregation_table)
    ]
    if as_json:
        typer.echo(json.dumps([tables.as_json(table) for table in made], indent=2))
    else:
        typer.echo("\n\n".join(tables.render(table) for table in made))


@app.command()
def definitions(
    result: Result,
    out: Annotated[Path, typer.Option(help="File to write, for definitions=FILE.")],
) -> None:
    """Export a run's definitions and constraints, so that others rank with the same words."""
    from sage_tasks.gar.definitions_file import write_definitions
    from sage_tasks.gar.results import read_result

    texts = [
        item.trace.part.text
        for task in read_result(result)
        for item in task.items
        if item.status == "ok"
    ]
    kept, left_out = write_definitions(texts, out)
    typer.echo(f"{out}: {kept} items")
    if left_out:
        typer.echo(f"{left_out} items left out: their words repeat a gloss that may not be shared")


@app.command("lexicons")
def lexicon_report(
    vwsd: Annotated[Path | None, typer.Option(help="Folder with VWSD's text files.")] = None,
    verse: Annotated[Path | None, typer.Option(help="VerSe's annotation file.")] = None,
    lexicon: Annotated[str, typer.Option(help="wordnet, babelnet, ...")] = "wordnet",
    ontonotes: Annotated[Path | None, typer.Option(help="verse_visualness_labels.csv")] = None,
    wikidata: Annotated[Path | None, typer.Option(help="A Wikidata dump.")] = None,
    forms: Annotated[
        bool, typer.Option(help="Ask every form of a target, as GAR does; the paper did not say.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Coverage and ambiguity of a lexicon over test items, as in Table 15."""
    from sage_tasks.lexicons.report import table_15

    lines = table_15(
        lexicon, vwsd=vwsd, verse=verse, ontonotes=ontonotes, wikidata=wikidata, forms=forms
    )
    if as_json:
        typer.echo(json.dumps([line.as_json() for line in lines], indent=2))
        return
    for line in lines:
        typer.echo(line.as_text())
