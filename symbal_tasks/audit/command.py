"""What the audit commands do: read, compose, run, write."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from symbal_tasks.audit.audit import AuditOptions, audit, drawn
from symbal_tasks.audit.calibrate import calibrate
from symbal_tasks.audit.captions import (
    PICTURES,
    CaptionSet,
    Columns,
    read_captions,
    read_hub,
)
from symbal_tasks.audit.features import (
    DetectorFeatures,
    FeatureSource,
    ReferenceFeatures,
    read_features,
)
from symbal_tasks.audit.report import compare_labels, highest_ratio, lines, write_audit
from symbal_tasks.audit.usable import names_left_out, pictures_in, usable
from symbal_tasks.backends import CachedChat, Request
from symbal_tasks.cache import ContentCache
from symbal_tasks.compositions import chat_model, compose, needs, spec
from symbal_tasks.prompts import CAPTION
from symbal_tasks.server import Endpoint
from wordsight.errors import DataError, WordsightError

KEY_VARIABLE = "WORDSIGHT_API_KEY"


@dataclass(frozen=True)
class AuditCommand:
    """Options of ``wordsight audit``."""

    captions: Path | None
    images: Path | None
    hub: str
    split: str
    features: Path | None
    detector: str
    columns: Columns
    composition: str
    parts: tuple[str, ...]
    server: str
    engine: Literal["local", "ray"]
    ray_address: str
    sample: int | None
    findings: int
    threshold: float
    labels: Path | None
    report: Path
    seed: int
    cache: Path


def run_audit(command: AuditCommand, say: Callable[[str], None]) -> float:
    """Run an audit, write its report, say its findings; returns the largest ratio that stands.

    Raises WordsightError for contradictory options and unusable input.
    """
    if command.engine == "ray":
        from symbal_tasks.audit.ray_engine import start

        start(command.ray_address)
    captions = _read(command)
    cache = ContentCache(command.cache)
    features = _features(command, captions, cache)
    has_references = any(row.reference for row in captions.rows)
    parts = spec(command.composition, **read_parts(command.parts))
    composition = compose(
        parts,
        cache,
        endpoint(command.server),
        references=has_references,
        engine=command.engine,
    )
    options = AuditOptions(
        findings=command.findings,
        sample=command.sample,
        threshold=command.threshold,
        seed=command.seed,
    )
    needed = needs(parts)
    if isinstance(features, DetectorFeatures):
        needed = replace(needed, pictures=True)
    # only what is audited is decoded; labels may be about any row
    chosen = usable(drawn(captions, options), needed, cache, show_progress)
    result = audit(chosen, composition, features, options, show_progress)
    labelled = compare_labels(command.labels, result, captions, features) if command.labels else ()
    page = write_audit(result, captions, command.report, labelled)
    for line in lines(result):
        say(line)
    for one in labelled:
        kappa = "undefined" if one.agreement.kappa is None else f"{one.agreement.kappa:.2f}"
        say(
            f"{one.name!r} ({one.kind}): {one.agreement.n} labels by hand, "
            f"{100 * one.agreement.share:.1f}% agree, kappa {kappa}"
        )
    say(f"report: {page}")
    return highest_ratio(result)


def run_calibration(
    captions: Path,
    features: Path,
    sets: int,
    findings: int,
    sample: int | None,
    threshold: float,
    seed: int,
    cache: Path,
) -> Iterator[str]:
    """Audit shuffled copies and yield lines about how many flagged something."""
    table = read_features(features)
    kept, parts = ContentCache(cache), spec("offline")
    found = calibrate(
        usable(read_captions(captions), needs(parts), kept),
        compose(parts, kept),
        table,
        AuditOptions(findings=findings, sample=sample, threshold=threshold, seed=seed),
        sets=sets,
        progress=show_progress,
    )
    yield (
        f"{found.alarms} of {found.sets} null sets had a finding that stood: "
        f"{100 * found.alarms / found.sets:.1f}% [{100 * found.low:.1f}, {100 * found.high:.1f}]; "
        f"{found.tested} findings were tested"
    )


def caption_folder(
    images: Path,
    model: str,
    server: str,
    out: Path,
    prompt: str,
    max_tokens: int,
    cache: Path,
) -> tuple[int, dict[str, list[str]]]:
    """Caption every picture below a folder.

    Returns how many, and by reason the names of files that are none. Raises DataError for a folder
    without pictures.
    """
    kept = ContentCache(cache)
    chat = CachedChat(chat_model(model, endpoint(server)), kept)
    files, skipped = pictures_in(images, kept, show_progress)
    if not files:
        told = "".join(f"; {line}" for line in names_left_out(skipped))
        raise DataError(f"{images}: no pictures ({', '.join(PICTURES)}) in it{told}")
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(out.name + ".part")
    with partial.open("w", encoding="utf-8") as stream:
        for start in range(0, len(files), chat.batch):
            batch = files[start : start + chat.batch]
            requests = [Request(prompt or CAPTION.template, path.read_bytes()) for path in batch]
            for path, reply in zip(batch, chat.reply(requests, max_tokens=max_tokens), strict=True):
                row = {"image": path.relative_to(images).as_posix(), "caption": reply.text.strip()}
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            show_progress("caption", start + len(batch), len(files))
    partial.replace(out)
    return len(files), skipped


def endpoint(server: str) -> Endpoint | None:
    """The server at an address, with the key of WORDSIGHT_API_KEY; None for no address."""
    return Endpoint(server, os.environ.get(KEY_VARIABLE, "")) if server else None


def read_parts(parts: Sequence[str]) -> dict[str, str]:
    """Read ``name=value`` options. Raises WordsightError for one without "="."""
    pairs = [part.partition("=") for part in parts]
    for name, mark, value in pairs:
        if not (name and mark):
            raise WordsightError(f"--set {name}{mark}{value}: write part=value")
    return {name: value for name, _, value in pairs}


def show_progress(stage: str, done: int, total: int) -> None:
    """One line per stage on the terminal's error stream."""
    if sys.stderr.isatty():
        counted = f" {done}/{total}" if total else ""
        sys.stderr.write(f"\r\033[K{stage}{counted}")
        sys.stderr.flush()


def _read(command: AuditCommand) -> CaptionSet:
    if bool(command.captions) == bool(command.hub):
        raise WordsightError("give either --captions FILE or --hub ORG/DATASET")
    if command.captions:
        return read_captions(command.captions, command.images, command.columns)
    return read_hub(command.hub, command.split, command.columns)


def _features(
    command: AuditCommand, captions: CaptionSet, cache: ContentCache
) -> FeatureSource | None:
    if command.features and command.detector:
        raise WordsightError("give either --features or --detector, not both")
    if command.features:
        return read_features(command.features)
    if command.detector:
        return DetectorFeatures(command.detector, cache=cache)
    return ReferenceFeatures() if any(row.reference for row in captions.rows) else None
