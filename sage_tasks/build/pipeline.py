"""From a source to a dataset folder: scan, plan, write, report."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from sage_tasks.build import report as reporting
from sage_tasks.build.card import card_text
from sage_tasks.build.manifest import FILE as MANIFEST_FILE
from sage_tasks.build.manifest import manifest_text
from sage_tasks.build.plan import Planned, Skipped, Source
from sage_tasks.build.scan import Scan, scan_pictures
from sage_tasks.build.writer import (
    SHARD_BYTES,
    Stored,
    picture_record,
    write_images,
    write_queries,
    write_text,
)
from sage_tasks.records import Query, fingerprint, item_id
from wordsight.errors import DataError, WordsightError

WORK_FOLDER = ".build"
REPORT = "report.json"


class PictureSource(Source, Protocol):
    """A source that also knows where its pictures lie."""

    def find(self, name: str) -> Path | None:
        """The picture's file, or None."""
        ...


@dataclass(frozen=True)
class Options:
    """How to build. ``thorough`` decodes every picture once to prove that it can be decoded."""

    seed: int = 0
    shard_bytes: int = SHARD_BYTES
    thorough: bool = False
    lexicons: Sequence[reporting.SenseCounter] = ()
    tagger: Callable[[str], str] | None = None
    notes: Sequence[str] = ()
    progress: Callable[[str, int], None] = field(default=lambda stage, done: None)


def dry_run(source: Source, options: Options) -> dict[str, Any]:
    """Report on a source from its texts alone: each picture name stands for its picture."""
    planned, skipped = _split(source.plan(lambda name: name))
    return _report(source, planned, [*source.dropped, *skipped], options, dry=True)


def build(source: PictureSource, out: Path, options: Options) -> dict[str, Any]:
    """Build the dataset folder ``out`` and return its report.

    Interrupted, it goes on where it stopped when run again. Raises DataError when ``out`` holds
    something else, or when no item could be built.
    """
    _check_target(out)
    work = out / WORK_FOLDER
    work.mkdir(parents=True, exist_ok=True)
    scan = scan_pictures(
        source.picture_names(),
        source.find,
        work / "scan.jsonl",
        options.thorough,
        lambda done: options.progress("pictures looked at", done),
    )
    planned, skipped = _split(source.plan(scan.content))
    queries, invalid = _queries(planned, scan)
    skipped = [*source.dropped, *scan.skipped(), *skipped, *invalid]
    if not queries:
        reasons = reporting.skipped_summary(skipped)["by_reason"]
        raise DataError(f"{out}: no item could be built; left out: {reasons}")
    stored = _used_pictures(source, [query for _, _, query in queries], scan)
    written, kept = write_images(
        out / "images",
        stored,
        options.shard_bytes,
        lambda done: options.progress("pictures stored", done),
    )
    _write_configs(out, queries)
    write_text(out / MANIFEST_FILE, manifest_text(queries))
    built = {(query.source_id, config) for config, _, query in queries}
    planned = [p for p in planned if (p.item.source_id, p.item.config) in built]
    report = _report(source, planned, skipped, options, dry=False)
    report["pictures"] = {
        "named": len(scan.pictures),
        "usable": sum(bool(p.id) for p in scan.pictures.values()),
        "stored": len(stored),
        "stored_bytes": sum(p.scanned.stored_bytes for p in stored),
        "shards": written + kept,
    }
    report["fingerprints"] = {
        f"{config}/{split}": fingerprint(q for c, s, q in queries if (c, s) == (config, split))
        for config, split in dict.fromkeys((c, s) for c, s, _ in queries)
    }
    write_text(out / "README.md", card_text(report))
    write_text(out / "report.md", reporting.readable(report) + "\n")
    write_text(out / REPORT, json.dumps(report, ensure_ascii=False, indent=1) + "\n")
    shutil.rmtree(work)
    return report | {"shards_written": written, "shards_kept": kept}


def _check_target(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: is a file; name a folder for the dataset")
    ours = (out / WORK_FOLDER).is_dir() or (out / REPORT).is_file()
    if out.is_dir() and any(out.iterdir()) and not ours:
        raise DataError(f"{out}: not empty and not a dataset built before; name another folder")


def _split(plans: Iterable[Planned | Skipped]) -> tuple[list[Planned], list[Skipped]]:
    planned: list[Planned] = []
    skipped: list[Skipped] = []
    for plan in plans:
        if isinstance(plan, Planned):
            planned.append(plan)
        else:
            skipped.append(plan)
    return planned, skipped


def _queries(
    planned: Iterable[Planned], scan: Scan
) -> tuple[list[tuple[str, str, Query]], list[Skipped]]:
    queries: list[tuple[str, str, Query]] = []
    skipped: list[Skipped] = []
    for plan in planned:
        item = plan.item
        task = f"sage_{item.config}"
        try:
            query = Query(
                id=item_id(task, item.term, item.context, plan.pictures),
                task=task,
                term=item.term,
                context=item.context,
                pos=item.pos,
                candidates=tuple(scan.content(name) or "" for name in plan.pictures),
                candidate_sources=plan.pictures,
                kinds=plan.kinds,
                gold=plan.gold,
                sense=item.sense,
                gloss=item.gloss,
                source_id=item.source_id,
            )
        except ValidationError as error:
            reason = error.errors()[0]["msg"].removeprefix("Value error, ")
            skipped.append(Skipped("item", reason, item.where, item.source_id))
        else:
            queries.append((item.config, item.split, query))
    return queries, skipped


def _used_pictures(source: Source, queries: Iterable[Query], scan: Scan) -> list[Stored]:
    """Each distinct picture once, in the order of first use: a query's ten lie close together."""
    stored: dict[str, Stored] = {}
    for query in queries:
        for name, identity in zip(query.candidate_sources, query.candidates, strict=True):
            if identity not in stored:
                info = source.picture_info(name)
                scanned = scan.pictures[name]
                record = picture_record(scanned, info.source, info.licence, info.credit)
                stored[identity] = Stored(record, scanned)
    return list(stored.values())


def _write_configs(out: Path, queries: Iterable[tuple[str, str, Query]]) -> None:
    groups: dict[tuple[str, str], list[Query]] = defaultdict(list)
    for config, split, query in queries:
        groups[config, split].append(query)
    for path in out.glob("*/*.parquet"):
        if path.parent.name != "images":
            path.unlink()
    for (config, split), members in groups.items():
        write_queries(out / config, split, members)
    for folder in out.iterdir():
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _report(
    source: Source,
    planned: Sequence[Planned],
    skipped: Sequence[Skipped],
    options: Options,
    dry: bool,
) -> dict[str, Any]:
    lexicons: dict[str, Any] = {}
    notes = list(options.notes)
    for counter in options.lexicons:
        try:
            figures = reporting.lexicon_figures(planned, counter)
        except WordsightError as error:  # a lexicon on the network is no reason to lose a build
            notes.append(f"no figures for {counter.name}: {error}")
        else:
            lexicons[counter.name] = {"version": counter.version, "splits": figures}
    return {
        "dataset": source.name,
        "dry_run": dry,
        "seed": options.seed,
        "configs": reporting.split_counts(planned),
        "negatives": reporting.overall_negatives(planned),
        "lexicons": lexicons,
        "tags": (
            {"wordnet": tags}
            if options.tagger and (tags := reporting.tag_counts(planned, options.tagger))
            else {}
        ),
        "facts": dict(source.facts),
        "notes": notes,
        "skipped": reporting.skipped_summary(skipped),
    }
