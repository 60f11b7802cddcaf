"""Commands of the Symbal suite. Only typer and the standard library load with this module."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from symbal_tasks.cli_audit import audit_captions, audit_null, make_captions
from symbal_tasks.cli_bench import ablate_symbal, run_symbal
from symbal_tasks.cli_options import DomainName

app = typer.Typer(no_args_is_help=True, help="SymbalBench, Symbal and its audit.")


class EligibleRule(str, Enum):
    """When an error counts as already present in a picture or its caption."""

    boxes = "boxes"
    words = "boxes+words"
    strict = "strict"


class Place(str, Enum):
    """Where in its caption an injected sentence stands."""

    last = "last"
    random = "random"


@app.callback()
def _app() -> None:
    """SymbalBench, Symbal and its audit."""


@app.command("symbalbench")
def build_symbalbench(
    *,
    domain: Annotated[DomainName, typer.Option(help="Which base to build on.")],
    out: Annotated[Path, typer.Option(help="Folder for the benchmark.")] = Path("symbalbench"),
    instances: Annotated[Path | None, typer.Option(help="natural: instances_val2017.json")] = None,
    captions: Annotated[Path | None, typer.Option(help="natural: captions_val2017.json")] = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of the pictures, to store them too.")
    ] = None,
    train_instances: Annotated[
        Path | None,
        typer.Option(help="natural: instances_train2017.json, for how pairs were sampled."),
    ] = None,
    eligible: Annotated[
        EligibleRule, typer.Option(help="natural: when t counts as present already.")
    ] = EligibleRule.boxes,
    pairs: Annotated[
        str, typer.Option(help="'paper', 'sample' (natural, needs --train-instances) or a CSV t,v.")
    ] = "paper",
    mimic: Annotated[Path | None, typer.Option(help="medical: MIMIC-CXR-JPG folder.")] = None,
    reports: Annotated[
        Path | None, typer.Option(help="medical: folder of the reports' files tree, if another.")
    ] = None,
    devices: Annotated[
        Path | None,
        typer.Option(help="medical: CSV dicom_id x 5 devices; without it reports are searched."),
    ] = None,
    radgraph: Annotated[
        Path | None,
        typer.Option(help="medical: RadGraph-XL output; without it word lists stand in."),
    ] = None,
    write_sentences: Annotated[
        Path | None,
        typer.Option(help="medical: only write the sentences RadGraph-XL has to be run on."),
    ] = None,
    tolerance: Annotated[float, typer.Option(min=0.0, max=0.3)] = 0.02,
    seed: int = 0,
    place: Annotated[Place, typer.Option(help="Where the injected sentence goes.")] = Place.last,
    compare_size: Annotated[
        bool, typer.Option(help="Also measure the settings written out in full.")
    ] = False,
) -> None:
    """Build SymbalBench from the source files; prints counts and writes a report."""
    from symbal_tasks.build import NaturalSources, Sources, build
    from symbal_tasks.medical import MedicalSources, needed_sentences

    sources: Sources
    if domain is DomainName.medical:
        sources = MedicalSources(mimic, reports, devices, radgraph)
        if write_sentences:
            found = needed_sentences(sources)
            write_sentences.write_text("\n".join(found) + "\n", encoding="utf-8")
            typer.echo(f"{len(found)} sentences written to {write_sentences}")
            return
    else:
        sources = NaturalSources(instances, captions, train_instances, eligible.value)
    for line in build(
        sources,
        out,
        images=images,
        pairs=pairs,
        tolerance=tolerance,
        seed=seed,
        place=place.value,
        compare_size=compare_size,
    ):
        typer.echo(line)


app.command("symbal")(run_symbal)
app.command("ablate")(ablate_symbal)
app.command("audit")(audit_captions)
app.command("audit-null")(audit_null)
app.command("caption")(make_captions)


def main() -> None:
    """Run the suite's commands on their own: ``python -m symbal_tasks.cli``."""
    from wordsight.errors import WordsightError

    try:
        app()
    except WordsightError as error:
        typer.echo(f"error: {error}", err=True)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
