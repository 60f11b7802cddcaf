"""Commands that run Symbal over the benchmark. Only typer and the standard library load here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from symbal_tasks.cli_options import (
    DEFAULT_CACHE,
    CachePath,
    Composed,
    DomainName,
    Parts,
    Server,
    cluster_counts,
    distinct,
)

Built = Annotated[Path, typer.Option(help="Folder of a built SymbalBench.")]
OwnPictures = Annotated[Path | None, typer.Option(help="Pictures, where the build has none.")]
SettingCount = Annotated[int, typer.Option(help="Settings, stratified; 0 for all.", min=0)]
LeastShown = Annotated[
    int, typer.Option(help="Leave out settings whose feature fewer pictures show.", min=0)
]

Margin = Annotated[
    float,
    typer.Option(help="Standard errors added before groups are ranked; 0 as the paper.", min=0),
]


def run_symbal(
    *,
    benchmark: Built,
    domain: DomainName = DomainName.natural,
    images: OwnPictures = None,
    methods: Annotated[
        str,
        typer.Option(
            help="Of symbal, control, nogroup, direct, words; the first is compared.",
            callback=distinct,
        ),
    ] = "symbal,control,nogroup",
    settings: SettingCount = 36,
    least_shown: LeastShown = 0,
    composition: Composed = "offline",
    parts: Parts = None,
    server: Server = "",
    references: Annotated[bool, typer.Option(help="The reference-based variant.")] = True,
    second: Annotated[
        str, typer.Option(help="Stage 2: 'behind' (as the paper) or 'everywhere'.")
    ] = "behind",
    sweep: Annotated[
        str, typer.Option(help="Numbers of fact clusters tried.", callback=cluster_counts)
    ] = "",
    margin: Margin = 2.0,
    direct_model: Annotated[str, typer.Option(help="Model of the direct prompt.")] = "",
    direct_form: Annotated[
        str, typer.Option(help="Its answer: 'text', or 'json' held to a schema by the server.")
    ] = "text",
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
        least_shown=least_shown,
        composition=composition,
        parts=tuple(parts or ()),
        server=server,
        references=references,
        second=second,
        sweep=sweep,
        margin=margin,
        direct_model=direct_model,
        direct_form=direct_form,
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


def ablate_symbal(
    *,
    benchmark: Built,
    domain: DomainName = DomainName.natural,
    images: OwnPictures = None,
    settings: SettingCount = 36,
    least_shown: LeastShown = 0,
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
    margin: Margin = 2.0,
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
        least_shown=least_shown,
        composition=composition,
        parts=(),
        server=server,
        references=references,
        second=second,
        sweep="",
        margin=margin,
        direct_model="",
        direct_form="text",
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
