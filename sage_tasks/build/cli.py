"""``wordsight build vwsd | verse | wikidiverse | spis``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sage_tasks.build.pipeline import Options, PictureSource
    from sage_tasks.build.plan import Manifest

app = typer.Typer(
    help="Build a dataset from the official downloads.", no_args_is_help=True, add_completion=False
)

Out = Annotated[
    Path | None, typer.Option(help="Folder for the dataset. Not needed with --dry-run.")
]
DryRun = Annotated[bool, typer.Option(help="Read the texts only and print the counts.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")]
Seed = Annotated[int, typer.Option(help="Seed of every random choice.")]
Follow = Annotated[
    Path | None,
    typer.Option(help="Take the candidates from this manifest (a file or a dataset folder)."),
]
ShardMb = Annotated[int, typer.Option(min=1, help="Largest size of one file of pictures, in MiB.")]
Thorough = Annotated[bool, typer.Option(help="Decode every picture once; slower.")]
Neutral = Annotated[
    str, typer.Option(help="Verb that stands in for the target in neutral variants.")
]
Annotations = Annotated[Path, typer.Option(help="3.5k_verse_gold_image_sense_annotations.csv")]
CocoImages = Annotated[
    Path | None, typer.Option(help="Folder with COCO pictures (train2014 and val2014 below it).")
]
CaptionFiles = Annotated[
    list[Path] | None,
    typer.Option(help="captions_train2014.json and captions_val2014.json; give the option twice."),
]
Senses = Annotated[
    Path | None,
    typer.Option(help="verse_visualness_labels.csv; found by itself beside the annotations."),
]


@app.command()
def vwsd(
    source: Annotated[Path, typer.Option(help="Folder with the unpacked official download.")],
    out: Out = None,
    language: Annotated[str, typer.Option(help="Language of the test split: en, fa or it.")] = "en",
    dry_run: DryRun = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    shard_mb: ShardMb = 256,
    thorough: Thorough = False,
) -> None:
    """VWSD: train, trial and test of SemEval-2023 task 1, with the source's own candidates."""
    from sage_tasks.build.vwsd import LANGUAGES, read_vwsd

    if language not in LANGUAGES:
        raise typer.BadParameter(f"{language!r} is none of {', '.join(LANGUAGES)}")
    read = read_vwsd(source, language, pictures=not dry_run)
    _run(read, out, dry_run, as_json, _options(seed, shard_mb, thorough))


@app.command()
def verse(
    annotations: Annotations,
    coco_images: CocoImages = None,
    captions: CaptionFiles = None,
    senses: Senses = None,
    out: Out = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    follow: Follow = None,
    shard_mb: ShardMb = 256,
    thorough: Thorough = False,
) -> None:
    """VerSe: captions with a verb; the gold is another picture of the same verb sense."""
    from sage_tasks.build.verse import SWAPPED_ONLY

    source = _verse(annotations, coco_images, captions, senses, dry_run)
    read = source(SWAPPED_ONLY, seed=seed, manifest=_manifest(follow))
    _run(read, out, dry_run, as_json, _options(seed, shard_mb, thorough))


@app.command()
def spis(
    annotations: Annotations,
    coco_images: CocoImages = None,
    captions: CaptionFiles = None,
    senses: Senses = None,
    out: Out = None,
    neutral_verb: Neutral = "do",
    dry_run: DryRun = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    follow: Follow = None,
    shard_mb: ShardMb = 256,
    thorough: Thorough = False,
) -> None:
    """VerSe with all four SPIS variants: gold original or swapped, verb kept or neutral."""
    from sage_tasks.build.verse import SPIS_VARIANTS

    source = _verse(annotations, coco_images, captions, senses, dry_run)
    read = source(SPIS_VARIANTS, neutral_verb, seed=seed, manifest=_manifest(follow))
    notes = [f'neutral verb: "{neutral_verb}"']
    _run(read, out, dry_run, as_json, _options(seed, shard_mb, thorough, notes))


@app.command()
def wikidiverse(
    source: Annotated[
        Path, typer.Option(help="Folder with *_w_10cands.json and wikipedia_entity2imgs.tsv.")
    ],
    images: Annotated[Path | None, typer.Option(help="Folder with the entity pictures.")] = None,
    out: Out = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    follow: Follow = None,
    shard_mb: ShardMb = 256,
    thorough: Thorough = False,
) -> None:
    """WikiDiverse: mentions in news captions; negatives are the source's other candidates."""
    from sage_tasks.build.wiki_labels import label_report
    from sage_tasks.build.wikidiverse import read_wikidiverse

    if dry_run and (labels := label_report(source, seed)) is not None:
        _show(labels, as_json)
        return
    if not dry_run and images is None:
        raise typer.BadParameter("--images is needed, or --dry-run")
    read = read_wikidiverse(source, None if dry_run else images, seed, _manifest(follow))
    _run(read, out, dry_run, as_json, _options(seed, shard_mb, thorough))


def _verse(
    annotations: Path,
    coco_images: Path | None,
    captions: list[Path] | None,
    senses: Path | None,
    dry: bool,
) -> Callable[..., PictureSource]:
    """Reader of VerSe's files; what is left to say is the variants."""
    from sage_tasks.build.verse import read_verse

    if not dry and (coco_images is None or not captions):
        raise typer.BadParameter("--coco-images and --captions are needed, or --dry-run")
    return partial(read_verse, annotations, captions or (), None if dry else coco_images, senses)


def _manifest(path: Path | None) -> Manifest | None:
    from sage_tasks.build.manifest import read_manifest

    return read_manifest(path) if path else None


def _options(seed: int, shard_mb: int, thorough: bool, notes: list[str] | None = None) -> Options:
    from sage_tasks.build.pipeline import Options
    from sage_tasks.build.report import SenseCounter
    from sage_tasks.lexicons.wordnet import find_wordnet
    from wordsight.errors import DataError

    notes = notes or []
    counters = []
    tagger = None
    try:
        wordnet = find_wordnet()
    except DataError as error:
        # The dataset does not depend on it, only two tables of the report do.
        notes = [*notes, f"no lexicon figures: {error}"]
    else:
        tagger = wordnet.coarse_tag
        counters.append(
            SenseCounter("wordnet", wordnet.version, lambda term: len(wordnet.lookup(term)))
        )
    if os.environ.get("BABELNET_API_KEY"):
        from sage_tasks.lexicons.babelnet import BabelNet

        babelnet = BabelNet()
        counters.append(
            SenseCounter("babelnet", "", lambda t: len(babelnet.synset_ids(t)), splits=("test",))
        )
    return Options(
        seed,
        shard_mb * 2**20,
        thorough,
        lexicons=counters,
        tagger=tagger,
        notes=notes,
        progress=_progress,
    )


def _progress(stage: str, done: int) -> None:
    if done % 2000 == 0:
        typer.echo(f"{stage}: {done}", err=True)


def _run(
    source: PictureSource, out: Path | None, dry: bool, as_json: bool, options: Options
) -> None:
    from sage_tasks.build.pipeline import build, dry_run

    if dry:
        _show(dry_run(source, options), as_json)
        return
    if out is None:
        raise typer.BadParameter("--out is needed, or --dry-run")
    _show(build(source, out, options), as_json)


def _show(report: dict[str, Any], as_json: bool) -> None:
    from sage_tasks.build.report import readable

    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False))
    else:
        typer.echo(readable(report))
