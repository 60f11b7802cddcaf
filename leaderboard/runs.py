"""From what a run leaves on disk to submissions.

``<out>/<model>/<stamp>_results.json`` beside ``<stamp>_samples_<task>.jsonl``; each samples line
holds the key ``wordsight``. ``<out>/wordsight_manifest.json`` is used where it is there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from leaderboard.lines import Submission, parse_json
from leaderboard.run_header import described, model_key, plain_name
from leaderboard.schema import (
    NAME_RULE,
    SCHEMA,
    AnyItemId,
    Fingerprint,
    Header,
    Item,
    SubmissionError,
    TaskRun,
)
from wordsight.errors import DataError, IncompleteRunError

MANIFEST = "wordsight_manifest.json"
KEY = "wordsight"
_RESULTS = re.compile(r"^(?P<stamp>\d{8}_\d{6})_results\.json$")


class Sample(BaseModel):
    """The ``wordsight`` key of one samples line."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)

    item: AnyItemId
    responses: list[str]
    status: Literal["ok", "invalid", "failed"]
    reason: str = ""
    prompt: str = ""
    task: str
    task_version: str
    images: Fingerprint | Literal[""] = ""


@dataclass(frozen=True)
class RunFile:
    """One task of one run: where its samples lie and what the results file says about it."""

    task: str
    samples: Path
    results: Path
    config: Mapping[str, Any]
    dataset: str


def read_runs(run_dir: Path, *, partial: bool = False, name: str = "") -> list[Submission]:
    """One submission per model (with its options) found under ``run_dir``.

    Where a task was run several times, the newest run counts. ``partial`` lets a run with failed
    requests through; its failed items then count as missing. ``name`` is the model's on the board;
    without, it is the run's, with every character that a name may not hold made a hyphen.

    Raises DataError for files that are missing, cut or not of this form, IncompleteRunError for
    failed requests; both name file, line and item.
    """
    if not run_dir.is_dir():
        raise DataError(f"no run at {run_dir}: the folder does not exist")
    groups: dict[str, dict[str, RunFile]] = {}
    for run in _run_files(run_dir):
        groups.setdefault(model_key(run.config), {})[run.task] = run
    if not groups:
        raise DataError(
            f"{run_dir}: no <stamp>_results.json with <stamp>_samples_<task>.jsonl beside it; run "
            "with --log_samples and --output_path, and give that folder"
        )
    manifests = _manifests(run_dir)
    return [
        _submission(list(by_task.values()), manifests, partial=partial, name=name)
        for by_task in groups.values()
    ]


def _run_files(run_dir: Path) -> Iterator[RunFile]:
    """Oldest first, so that a later run of a task replaces an earlier one."""
    found = [
        (m["stamp"], p) for p in run_dir.rglob("*_results.json") if (m := _RESULTS.match(p.name))
    ]
    for stamp, path in sorted(found):
        results = _read_json(path)
        configs = results.get("configs") or {}
        prefix = f"{stamp}_samples_"
        for samples in sorted(path.parent.glob(f"{prefix}*.jsonl")):
            task = samples.name.removeprefix(prefix).removesuffix(".jsonl")
            metadata = (configs.get(task) or {}).get("metadata") or {}
            dataset = str(metadata.get("dataset_fingerprint") or "")
            yield RunFile(task, samples, path, results.get("config") or {}, dataset)


def _submission(
    runs: list[RunFile],
    manifests: Mapping[Path, Mapping[str, Any]],
    *,
    partial: bool,
    name: str,
) -> Submission:
    items: list[Item] = []
    tasks: list[TaskRun] = []
    for run in runs:
        samples = list(read_samples(run.samples, run.task, partial=partial))
        items += [
            Item(task=run.task, item=s.item, images=s.images, responses=s.responses)
            for s in samples
        ]
        first = samples[0]
        try:
            tasks.append(
                TaskRun(
                    name=run.task,
                    version=first.task_version,
                    prompt=first.prompt,
                    dataset=run.dataset,
                )
            )
        except ValidationError as error:
            raise DataError(f"{run.samples}: {_message(error)}") from None
    newest = runs[-1]
    manifest = _manifest_of(newest.results, manifests)
    told = described(newest.config, manifest)
    named = told["model"]
    model = name or plain_name(named)
    if not model:
        raise DataError(
            f"{newest.results}: the model's name there, {named!r}, has nothing that a name on a "
            f"board may hold; give one with --name. {NAME_RULE[0].upper()}{NAME_RULE[1:]}"
        )
    try:
        header = Header.model_validate({**told, "model": model, "schema": SCHEMA, "tasks": tasks})
    except ValidationError as error:
        raise DataError(f"{newest.results}: {_message(error)}") from None
    renamed = f"{named!r} stands on the board as {model!r}; --name gives it another name"
    notes = () if model in (name, named) else (renamed,)
    return Submission(header, tuple(items), notes, str(newest.results))


def read_samples(path: Path, task: str, *, partial: bool = False) -> Iterator[Sample]:
    """Yield a samples file's records.

    Raises DataError naming file and line for a cut or foreign file, an item that stands twice, a
    line of another task; IncompleteRunError for failed requests unless ``partial``.
    """
    seen: dict[str, int] = {}
    content = path.read_bytes()
    if not content:
        raise DataError(f"{path}: empty; was the run interrupted? Run it again with --resume")
    for number, line in enumerate(content.splitlines(), 1):
        where = f"{path}: line {number}"
        try:
            payload = parse_json(line, where)
        except SubmissionError as error:
            raise DataError(f"{error}; was the file cut? Run again with --resume") from None
        sample = _sample(payload, where)
        if sample.item in seen:
            raise DataError(
                f"{where}: item {sample.item} stood on line {seen[sample.item]} already; two runs "
                "were written into one file"
            )
        if sample.task != task:
            raise DataError(f"{where}: item {sample.item} is of task {sample.task}, not {task}")
        seen[sample.item] = number
        if sample.status == "failed" and not partial:
            raise IncompleteRunError(
                f"{where}: item {sample.item} has requests that failed ({sample.reason[:120]}); "
                "run again with --resume to complete it"
            )
        yield sample


def _sample(payload: Any, where: str) -> Sample:
    record = payload.get(KEY) if isinstance(payload, dict) else None
    if not isinstance(record, dict):
        raise DataError(f'{where}: no key "{KEY}"; this is not a task of Wordsight')
    try:
        sample = Sample.model_validate(record)
        # the stricter record of the submission, so that what breaks it is named by its line here
        Item(task=sample.task, item=sample.item, images=sample.images, responses=sample.responses)
    except ValidationError as error:
        raise DataError(f"{where}: item {record.get('item', '?')}: {_message(error)}") from None
    return sample


def _manifests(run_dir: Path) -> dict[Path, Mapping[str, Any]]:
    return {path.parent: _read_json(path) for path in run_dir.rglob(MANIFEST)}


def _manifest_of(results: Path, manifests: Mapping[Path, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The manifest of the run that wrote ``results``; a folder may hold runs of several models."""
    for folder in results.parents:
        if folder in manifests:
            named = manifests[folder].get("results_file")
            if named is None or (folder / str(named)).resolve() == results.resolve():
                return manifests[folder]
    return {}


def _read_json(path: Path) -> dict[str, Any]:
    try:
        payload = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error}); was the file cut?") from None
    if not isinstance(payload, dict):
        raise DataError(f"{path}: not a JSON object")
    return payload


def _message(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"{field + ': ' if field else ''}{first['msg'].removeprefix('Value error, ')}"
