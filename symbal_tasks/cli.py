"""Commands of the Symbal suite. Only typer and the standard library load with this module."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="SymbalBench, Symbal and its audit.")


class DomainName(str, Enum):
    """Domains that can be built."""

    natural = "natural"
    medical = "medical"


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


Composed = Annotated[
    str,
    typer.Option(
        "--composition", help="offline, offline_pictures, offline_free, paper_natural, ..."
    ),
]
Parts = Annotated[
    list[str] | None,
    typer.Option("--set", help="Replace a part: scorer=vision:MODEL, captioner=vision:MODEL, ..."),
]
Server = Annotated[
    str, typer.Option(help="Address of an OpenAI-compatible server, e.g. http://localhost:8000/v1")
]
CachePath = Annotated[
    Path, typer.Option("--cache", help="File that keeps every model's answers, to go on later.")
]


class Engine(str, Enum):
    """Where embedding and scoring run."""

    local = "local"
    ray = "ray"


DEFAULT_CACHE = Path(".wordsight-cache/symbal.sqlite")
CAUGHT = 4


@app.command("symbal")
def run_symbal(
    *,
    benchmark: Annotated[Path, typer.Option(help="Folder of a built SymbalBench.")],
    domain: DomainName = DomainName.natural,
    images: Annotated[Path | None, typer.Option(help="Pictures, where the build has none.")] = None,
    methods: Annotated[
        str, typer.Option(help="Of symbal, control, nogroup, direct; the first is compared.")
    ] = "symbal,control,nogroup",
    settings: Annotated[int, typer.Option(help="Settings, stratified; 0 for all.", min=0)] = 36,
    composition: Composed = "offline",
    parts: Parts = None,
    server: Server = "",
    references: Annotated[bool, typer.Option(help="The reference-based variant.")] = True,
    second: Annotated[
        str, typer.Option(help="Stage 2: 'behind' (as the paper) or 'everywhere'.")
    ] = "behind",
    sweep: Annotated[str, typer.Option(help="Numbers of fact clusters tried.")] = "",
    direct_model: Annotated[str, typer.Option(help="Model of the direct prompt.")] = "",
    context_tokens: Annotated[int, typer.Option(help="Context of that model.", min=256)] = 8192,
    judge_model: Annotated[
        str, typer.Option(help="Judge on --server; without it the offline judge.")
    ] = "",
    wordnet: Annotated[
        Path | None, typer.Option(help="Folder with data.noun, for the offline judge.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Answers, JSONL; a second run goes on.")] = Path(
        "symbal.jsonl"
    ),
    traces: Annotated[Path | None, typer.Option(help="Folder for a trace of each run.")] = None,
    seed: int = 0,
    cache: CachePath = DEFAULT_CACHE,
) -> None:
    """Run Symbal and its baselines over settings of SymbalBench; prints Accuracy@1 and @5."""
    from symbal_tasks.bench_command import BenchCommand, bench_lines

    command = BenchCommand(
        benchmark=benchmark,
        domain=domain.value,
        images=images,
        methods=tuple(methods.split(",")),
        settings=settings,
        composition=composition,
        parts=tuple(parts or ()),
        server=server,
        references=references,
        second=second,
        sweep=sweep,
        direct_model=direct_model,
        context_tokens=context_tokens,
        judge_model=judge_model,
        wordnet=wordnet,
        out=out,
        traces=traces,
        seed=seed,
        cache=cache,
    )
    for line in bench_lines(command):
        typer.echo(line)


@app.command("ablate-symbal")
def ablate_symbal(
    *,
    benchmark: Annotated[Path, typer.Option(help="Folder of a built SymbalBench.")],
    domain: DomainName = DomainName.natural,
    images: Annotated[Path | None, typer.Option(help="Pictures, where the build has none.")] = None,
    settings: Annotated[int, typer.Option(help="Settings, stratified; 0 for all.", min=0)] = 36,
    composition: Composed = "offline",
    texts: Annotated[str, typer.Option(help="Text embeddings, separated by commas.")] = "minilm",
    scorers: Annotated[str, typer.Option(help="Scorers of stage 1.")] = "lexical,sentence",
    summaries: Annotated[str, typer.Option(help="Summarisers of stage 1.")] = "counting",
    pictures: Annotated[str, typer.Option(help="Picture embeddings.")] = "references",
    second_scorers: Annotated[str, typer.Option(help="Scorers of stage 2.")] = "lexical,sentence",
    row_summaries: Annotated[str, typer.Option(help="Summarisers of stage 2.")] = "counting",
    server: Server = "",
    references: Annotated[bool, typer.Option(help="The reference-based variant.")] = True,
    second: Annotated[str, typer.Option(help="'behind' or 'everywhere'.")] = "behind",
    seed: int = 0,
    cache: CachePath = DEFAULT_CACHE,
) -> None:
    """Compare compositions: stage 1 first, then stage 2 with the best stage 1 fixed."""
    from symbal_tasks.bench_command import BenchCommand, ablate_lines

    command = BenchCommand(
        benchmark=benchmark,
        domain=domain.value,
        images=images,
        methods=("symbal",),
        settings=settings,
        composition=composition,
        parts=(),
        server=server,
        references=references,
        second=second,
        sweep="",
        direct_model="",
        context_tokens=8192,
        judge_model="",
        wordnet=None,
        out=Path(),
        traces=None,
        seed=seed,
        cache=cache,
    )
    lists = (texts, scorers, summaries, pictures, second_scorers, row_summaries)
    for line in ablate_lines(command, *(tuple(part.split(",")) for part in lists)):
        typer.echo(line)


@app.command("audit")
def audit_captions(
    *,
    captions: Annotated[
        Path | None, typer.Option(help="CSV, JSONL, Parquet, .tar, COCO or ShareGPT4V JSON.")
    ] = None,
    images: Annotated[Path | None, typer.Option(help="Folder of the pictures.")] = None,
    hub: Annotated[str, typer.Option(help="A dataset on the hub, instead of --captions.")] = "",
    split: Annotated[str, typer.Option(help="Split of --hub.")] = "train",
    features: Annotated[
        Path | None, typer.Option(help="Table of features per picture: CSV, or COCO boxes.")
    ] = None,
    detector: Annotated[
        str, typer.Option(help="Open-set detector that marks features, e.g. google/owlv2-...")
    ] = "",
    caption_field: str = "",
    image_field: str = "",
    reference_field: str = "",
    id_field: str = "",
    composition: Composed = "offline",
    parts: Parts = None,
    server: Server = "",
    engine: Annotated[Engine, typer.Option(help="Where embedding and scoring run.")] = Engine.local,
    ray_address: Annotated[
        str, typer.Option(help="Ray cluster to join; without it one starts on this machine.")
    ] = "",
    sample: Annotated[int, typer.Option(help="Pictures audited; 0 for all.", min=0)] = 10_000,
    k: Annotated[int, typer.Option("--k", help="Misalignments looked for.", min=1)] = 10,
    threshold: Annotated[
        float, typer.Option(help="A claim with less agreement counts as erroneous.")
    ] = 0.5,
    labels: Annotated[
        Path | None, typer.Option(help="Labels by hand, CSV row,name,mark: reports kappa.")
    ] = None,
    report: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("audit"),
    fail_above: Annotated[
        float | None, typer.Option(help="Exit with 4 if a finding that stands has a larger ratio.")
    ] = None,
    seed: int = 0,
    cache: CachePath = DEFAULT_CACHE,
) -> None:
    """Find recurring wrong claims in captions and the features they go with; write a report."""
    from symbal_tasks.audit.captions import Columns
    from symbal_tasks.audit.command import AuditCommand, run_audit

    highest = run_audit(
        AuditCommand(
            captions=captions,
            images=images,
            hub=hub,
            split=split,
            features=features,
            detector=detector,
            columns=Columns(caption_field, image_field, reference_field, id_field),
            composition=composition,
            parts=tuple(parts or ()),
            server=server,
            engine=engine.value,
            ray_address=ray_address,
            sample=sample or None,
            findings=k,
            threshold=threshold,
            labels=labels,
            report=report,
            seed=seed,
            cache=cache,
        ),
        typer.echo,
    )
    if fail_above is not None and highest > fail_above:
        typer.echo(
            f"a finding's ratio {highest:.3g} is above --fail-above {fail_above:g}", err=True
        )
        raise typer.Exit(CAUGHT)


@app.command("audit-null")
def audit_null(
    *,
    captions: Annotated[Path, typer.Option(help="Captions, as for audit.")],
    features: Annotated[Path, typer.Option(help="Table of features, as for audit.")],
    sets: Annotated[int, typer.Option(min=1)] = 200,
    k: Annotated[int, typer.Option("--k", min=1)] = 5,
    sample: Annotated[int, typer.Option(min=0)] = 400,
    threshold: float = 0.5,
    seed: int = 0,
    cache: CachePath = DEFAULT_CACHE,
) -> None:
    """Shuffle the features over the pictures and count how often an audit still flags something."""
    from symbal_tasks.audit.command import run_calibration

    for line in run_calibration(
        captions, features, sets, k, sample or None, threshold, seed, cache
    ):
        typer.echo(line)


@app.command("caption")
def make_captions(
    *,
    images: Annotated[Path, typer.Option(help="Folder of pictures.")],
    model: Annotated[str, typer.Option(help="Model whose captions are to be audited.")],
    server: Server,
    out: Annotated[Path, typer.Option(help="JSONL to write.")] = Path("captions.jsonl"),
    prompt: Annotated[str, typer.Option(help="Own prompt instead of the package's.")] = "",
    max_tokens: Annotated[int, typer.Option(min=1)] = 256,
    cache: CachePath = DEFAULT_CACHE,
) -> None:
    """Have a model caption every picture of a folder; a stopped run goes on where it was."""
    from symbal_tasks.audit.command import caption_folder

    count = caption_folder(images, model, server, out, prompt, max_tokens, cache)
    typer.echo(f"{count} captions written to {out}")


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
