"""Results that other tools logged, as submissions: each reader is one function and one line below.

Whatever a log says about scores is left aside: only raw responses are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from leaderboard.lines import MAX_BYTES, MAX_LINE_BYTES, Submission, parse_json, read_submission
from leaderboard.runs import KEY
from leaderboard.schema import SCHEMA, Header, Item, SubmissionError
from wordsight.errors import DataError

# logs of other tools nest deeper than a submission may
_LOG_DEPTH = 64


def read_every_eval_ever(path: Path, name: str = "") -> Submission:
    """An aggregate file of "Every Eval Ever", with the file of items that it names beside it.

    name : the model's, instead of the file's.

    Raises DataError naming file, line and field.
    """
    record = _json(path)
    try:
        info = record["model_info"]
        details = dict(info.get("additional_details") or {})
        result = record["evaluation_results"][0]
        task = str(result["evaluation_name"]).split(" ")[0]
        source = dict(result["source_data"].get("additional_details") or {})
        named = Path(record["detailed_evaluation_results"]["file_path"]).name
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: not a record with items ({error!r} is missing)") from None
    for key in ("deployment_type", "model_availability", "interface"):
        details.pop(key, None)
    header = {
        "model": name or info.get("id"),
        "method": details.pop("method", "direct"),
        "revision": details.pop("revision", ""),
        "options": details,
        "packages": {record["eval_library"]["name"]: record["eval_library"]["version"]},
        "tasks": [
            {
                "name": task,
                "version": source.get("version", "1"),
                "dataset": source.get("fingerprint", ""),
            }
        ],
    }
    items = []
    samples = path.parent / named
    if not samples.is_file():
        raise DataError(f"{path}: its file of items, {named}, is not beside it")
    for number, line in enumerate(_text(samples).splitlines(), 1):
        where = f"{samples}: line {number}"
        payload = _parse(line, where)
        try:
            items.append(
                {
                    "task": task,
                    "item": payload["sample_id"],
                    "responses": payload["output"]["raw"],
                }
            )
        except (KeyError, TypeError) as error:
            raise DataError(f"{where}: no {error}") from None
    return _submission(header, items, path)


def read_inspect(path: Path, name: str = "") -> Submission:
    """A log of inspect_ai in its JSON form (``inspect log convert --to json``).

    The samples' metadata must hold the record ``wordsight`` with item, task, task_version, images
    and the ten responses, as the lmms-eval tasks log it. name : the model's, instead of the log's.

    Raises DataError naming file, sample and field.
    """
    log = _json(path)
    described, samples = log.get("eval"), log.get("samples")
    if not isinstance(described, dict) or not isinstance(samples, list) or not samples:
        raise DataError(f'{path}: not an inspect_ai log with samples (keys "eval", "samples")')
    items, tasks = [], {}
    for number, sample in enumerate(samples):
        metadata = sample.get("metadata") if isinstance(sample, dict) else None
        record = metadata.get(KEY) if isinstance(metadata, dict) else None
        if not isinstance(record, dict):
            raise DataError(f'{path}: sample {number}: its metadata has no record "{KEY}"')
        task = str(record.get("task", ""))
        tasks[task] = {
            "name": task,
            "version": str(record.get("task_version", "1")),
            "prompt": str(record.get("prompt", "")),
            "dataset": str(record.get("dataset_fingerprint", "")),
        }
        items.append({key: record.get(key) for key in ("task", "item", "images", "responses")})
    model = str(described.get("model", ""))
    # inspect_ai puts the provider first: hf/organisation/name
    header = {
        "model": name or "/".join(model.split("/")[-2:]),
        "options": {},
        "tasks": list(tasks.values()),
        "packages": {k: str(v) for k, v in dict(described.get("packages") or {}).items()},
    }
    return _submission(header, items, path)


def read_packed(path: Path, name: str = "") -> Submission:
    """A submission packed earlier (JSON Lines); ``name`` plays no part. Raises SubmissionError."""
    return read_submission(_text(path).encode(), str(path))


def recognise(path: Path) -> str:
    """The name of the reader of a file, as far as it can be told; empty for a folder.

    Raises DataError, saying what to type, for a file that is no packed submission.
    """
    if not path.is_file():
        return ""
    if is_packed(path):
        return "packed"
    if path.suffix == ".jsonl" and f'"{KEY}"' in _beginning(path):
        raise DataError(f"{path}: is a part of a run; give the folder that --output_path named")
    raise DataError(
        f"{path}: is a file and no packed submission; give the folder that --output_path named, or "
        "say which tool wrote the file: --from every_eval_ever or --from inspect"
    )


def is_packed(path: Path) -> bool:
    """Whether a file begins as a packed submission does."""
    return f'"{SCHEMA}"' in _beginning(path)


def _beginning(path: Path) -> str:
    with path.open("rb") as stream:
        return stream.readline(MAX_LINE_BYTES).decode("utf-8", errors="replace")


READERS: Mapping[str, Callable[[Path, str], Submission]] = {
    "every_eval_ever": read_every_eval_ever,
    "inspect": read_inspect,
    "packed": read_packed,
}


def _submission(header: dict[str, Any], items: list[dict[str, Any]], path: Path) -> Submission:
    try:
        parsed = Header.model_validate({**header, "schema": SCHEMA, "source": "import"})
    except ValidationError as error:
        raise DataError(f"{path}: {_first(error)}") from None
    found = []
    for number, item in enumerate(items, 1):
        try:
            found.append(Item.model_validate({k: v for k, v in item.items() if v is not None}))
        except ValidationError as error:
            raise DataError(
                f"{path}: sample {number}: item {item.get('item')}: {_first(error)}"
            ) from None
    return Submission(parsed, tuple(found))


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


def _json(path: Path) -> dict[str, Any]:
    payload = _parse(_text(path), str(path))
    if not isinstance(payload, dict):
        raise DataError(f"{path}: not a JSON object")
    return payload


def _parse(text: str, where: str) -> Any:
    try:
        return parse_json(text, where, depth=_LOG_DEPTH)
    except SubmissionError as error:
        raise DataError(str(error)) from None


def _text(path: Path) -> str:
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    if path.stat().st_size > MAX_BYTES:
        raise DataError(f"{path}: larger than {MAX_BYTES} bytes")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start}; archives are not read") from None
