"""Commands that audit captions. Only typer and the standard library load with this module."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from symbal_tasks.cli_options import (
    CAUGHT,
    DEFAULT_CACHE,
    CachePath,
    Composed,
    Engine,
    Parts,
    Server,
    Threshold,
    positive,
)


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
    threshold: Threshold = 0.5,
    labels: Annotated[
        Path | None, typer.Option(help="Labels by hand, CSV id,name,mark: reports kappa.")
    ] = None,
    report: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("audit"),
    fail_above: Annotated[
        float | None,
        typer.Option(
            help="Exit with 4 if a finding that stands has a larger ratio.", callback=positive
        ),
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


def audit_null(
    *,
    captions: Annotated[Path, typer.Option(help="Captions, as for audit.")],
    features: Annotated[Path, typer.Option(help="Table of features, as for audit.")],
    sets: Annotated[int, typer.Option(min=1)] = 200,
    k: Annotated[int, typer.Option("--k", min=1)] = 5,
    sample: Annotated[int, typer.Option(min=0)] = 400,
    threshold: Threshold = 0.5,
    seed: int = 0,
    cache: CachePath = DEFAULT_CACHE,
) -> None:
    """Shuffle the features over the pictures and count how often an audit still flags something."""
    from symbal_tasks.audit.command import run_calibration

    for line in run_calibration(
        captions, features, sets, k, sample or None, threshold, seed, cache
    ):
        typer.echo(line)


def make_captions(
    *,
    images: Annotated[Path, typer.Option(help="Folder of pictures.")],
    model: Annotated[
        str, typer.Option(help="Model whose captions are to be audited; hf:ID loads it here.")
    ],
    server: Server = "",
    out: Annotated[Path, typer.Option(help="JSONL to write.")] = Path("captions.jsonl"),
    prompt: Annotated[str, typer.Option(help="Own prompt instead of the package's.")] = "",
    max_tokens: Annotated[int, typer.Option(min=1)] = 256,
    cache: CachePath = DEFAULT_CACHE,
) -> None:
    """Have a model caption every picture of a folder; a stopped run goes on where it was."""
    from symbal_tasks.audit.command import caption_folder
    from symbal_tasks.audit.usable import names_left_out

    count, skipped = caption_folder(images, model, server, out, prompt, max_tokens, cache)
    for line in names_left_out(skipped):
        typer.echo(line)
    typer.echo(f"{count} captions written to {out}")
