"""Who answered and how, as a run's files say it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from leaderboard.schema import is_name

# options of model_args that name the machine or its speed, not what is being measured
_NOT_IDENTITY = frozenset(
    {"pretrained", "model", "model_version", "model_name", "revision", "base", "device"}
    | {"device_map", "batch_size", "max_batch_size", "dtype", "attn_implementation", "workers"}
    | {
        "base_url",
        "api_key",
        "concurrency",
        "num_concurrent",
        "max_retries",
        "timeout",
        "cache_dir",
        "threads",
    }
)
# models that are another model plus a method
_METHODS = frozenset({"gar", "symbal", "symbal_nogroup"})


def described(config: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a header, all but schema and tasks; ``model`` as the run has it, whatever it holds.

    config : of the results file. manifest : of the run, empty where there is none.
    """
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


def model_key(config: Mapping[str, Any]) -> str:
    """What tells the models of one folder apart."""
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
