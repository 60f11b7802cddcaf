"""From what a run leaves on disk to submissions.

``<out>/<model>/<stamp>_results.json`` beside ``<stamp>_samples_<task>.jsonl``; each samples line
holds the key ``wordsight``. ``<out>/wordsight_manifest.json`` is used where it is there.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from leaderboard.lines import Submission, parse_json
from leaderboard.schema import (
    NAME_RULE,
    SCHEMA,
    AnyItemId,
    Fingerprint,
    Header,
    Item,
    SubmissionError,
    TaskRun,
    is_name,
)
from wordsight.errors import DataError, IncompleteRunError

MANIFEST = "wordsight_manifest.json"
KEY = "wordsight"
_RESULTS = re.compile(r"^(?P<stamp>\d{8}_\d{6})_results\.json$")
# options of model_args that name the machine or its speed, not what is being measured
_NOT_IDENTITY = frozenset(
    {"pretrained", "model", "model_version", "model_name", "revision", "base", "device"}
    | {"device_map", "batch_size", "max_batch_size", "dtype", "attn_implementation", "workers"}
    | {"base_url", "api_key", "concurrency", "max_retries", "timeout", "cache_dir", "threads"}
)
# models that are another model plus a method
_METHODS = frozenset({"gar", "symbal", "symbal_nogroup"})


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
        groups.setdefault(_model_key(run.config), {})[run.task] = run
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
    described = _described(newest.config, manifest)
    told = described["model"]
    model = name or plain_name(told)
    if not model:
        raise DataError(
            f"{newest.results}: the model's name there, {told!r}, has nothing that a name on a "
            f"board may hold; give one with --name. {NAME_RULE[0].upper()}{NAME_RULE[1:]}"
        )
    try:
        header = Header.model_validate(
            {**described, "model": model, "schema": SCHEMA, "tasks": tasks}
        )
    except ValidationError as error:
        raise DataError(f"{newest.results}: {_message(error)}") from None
    renamed = f"{told!r} stands on the board as {model!r}; --name gives it another name"
    return Submission(header, tuple(items), () if model in (name, told) else (renamed,))


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


def _described(config: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    arguments = _arguments(manifest.get("model_args") or config.get("model_args"))
    backend = str(manifest.get("model") or config.get("model") or "unknown")
    named = next(
        (
            arguments[k]
            for k in ("pretrained", "model_version", "model", "model_name")
            if k in arguments
        ),
        backend,
    )
    method = str(manifest.get("method") or (backend if backend in _METHODS else "direct"))
    options = {k: v for k, v in arguments.items() if k not in _NOT_IDENTITY}
    seeds = manifest.get("seeds") or {
        k: config[k]
        for k in ("random_seed", "numpy_seed", "torch_seed")
        if config.get(k) is not None
    }
    return {
        "model": _model_name(named),
        "revision": str(arguments.get("revision", "")),
        "method": method,
        "base": str(arguments.get("base", "")),
        "options": _strings(options),
        "source": "wordsight" if manifest else "lmms-eval",
        "command": _line(manifest.get("command", "")),
        "git": _line(manifest.get("git", ""))[:300],
        "packages": _strings(manifest.get("packages") or {}),
        "hardware": _strings(manifest.get("hardware") or {}),
        "seeds": _strings(seeds),
        "wall_seconds": _seconds(manifest),
    }


def _model_key(config: Mapping[str, Any]) -> str:
    return json.dumps([config.get("model"), _arguments(config.get("model_args"))], sort_keys=True)


def _arguments(value: Any) -> dict[str, str]:
    if isinstance(value, str):
        pairs = (part.partition("=") for part in value.split(",") if part.strip())
        return {key.strip(): text.strip() for key, _, text in pairs}
    if isinstance(value, Mapping):
        return {str(key): str(text) for key, text in value.items()}
    return {}


def _model_name(name: str) -> str:
    """A hub name as it is; of a path on disk only the last part, which says nothing of the disk."""
    if name.count("/") == 1 and not name.startswith((".", "/", "~")):
        return name
    return name.rstrip("/").rsplit("/", 1)[-1] or "unknown"


def plain_name(name: str) -> str:
    """The name with what it may not hold on a board made hyphens; empty when nothing remains.

    >>> plain_name("my model (v2)")
    'my-model-v2'
    """
    if is_name(name):
        return name
    parts = [
        re.sub(r"[^A-Za-z0-9_.-]+", "-", unicodedata.normalize("NFKC", part)).strip("-.")
        for part in name.split("/")[-2:]
    ]
    return "/".join(part for part in parts if part)[:120]


def _seconds(manifest: Mapping[str, Any]) -> float | None:
    value = manifest.get("seconds", manifest.get("wall_seconds"))
    return float(value) if isinstance(value, (int, float)) and value >= 0 else None


def _strings(values: Any) -> dict[str, str]:
    if not isinstance(values, Mapping):
        return {}
    kept = list(values.items())[:64]
    return {re.sub(r"[^A-Za-z0-9_.-]", "_", str(k))[:80]: _line(v)[:300] for k, v in kept}


def _line(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        value = " ".join(str(part) for part in value)
    elif isinstance(value, Mapping):
        value = ", ".join(f"{k}={v}" for k, v in value.items())
    return re.sub(r"\s+", " ", str(value)).strip()[:4000]


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
