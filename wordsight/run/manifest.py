"""The run manifest: what produced a result, in enough detail to produce it again."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import wordsight
from wordsight.run.harness import RunResult
from wordsight.run.spec import RunSpec

MANIFEST_NAME = "wordsight_manifest.json"
_PACKAGES = ("wordsight", "lmms-eval", "torch", "torchvision", "transformers", "datasets", "numpy")


def build_manifest(
    spec: RunSpec, output: Path, result: RunResult, seconds: float
) -> dict[str, Any]:
    """Describe a finished run whose files lie in ``output``."""
    results = result.results
    metadata = {task: config.get("metadata") or {} for task, config in results["configs"].items()}
    # lmms-eval has replaced keys and tokens in its copy of the arguments
    secret_free = results["config"].get("model_args", "")
    return {
        "schema": 1,
        **asdict(spec),
        "model_args": secret_free,
        "task_versions": {task: str(meta.get("version", "")) for task, meta in metadata.items()},
        "prompts": {task: meta.get("prompt", "") for task, meta in metadata.items()},
        "dataset_fingerprints": {
            task: meta.get("dataset_fingerprint", "") for task, meta in metadata.items()
        },
        "model_backend": results["config"].get("model_backend", ""),
        "seeds": {"python": spec.seed, "numpy": spec.seed, "torch": spec.seed},
        "seconds": round(seconds, 3),
        "processes": int(os.environ.get("WORLD_SIZE", "1")),
        "packages": _versions(),
        "hardware": _hardware(),
        "git": git_state(Path(wordsight.__file__).parent),
        "results_file": str(result.results_file.relative_to(output)),
        "sample_files": [str(path.relative_to(output)) for path in result.sample_files],
        "failed": result.failed,
        "invalid": result.invalid,
        "command": spec_command(spec, secret_free, output),
    }


def write_manifest(manifest: dict[str, Any], output: Path) -> Path:
    """Write the manifest into the run folder, whole or not at all."""
    path = output / MANIFEST_NAME
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    draft.replace(path)
    return path


def spec_command(spec: RunSpec, model_args: str, output: Path) -> str:
    """The repeating command, with secrets in model_args left out."""
    return RunSpec(**{**asdict(spec), "model_args": model_args}).command(output)


def git_state(folder: Path) -> dict[str, Any] | None:
    """Commit of the checkout that ``folder`` belongs to and whether it has changes, or None."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    try:
        # a package inside somebody's virtual environment is not part of their repository
        if not git("ls-files", "--", str(folder / "__init__.py")):
            return None
        return {"commit": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain"))}
    except (OSError, subprocess.CalledProcessError):
        return None


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _hardware() -> dict[str, Any]:
    import torch

    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {"machine": platform.machine(), "cpu_count": os.cpu_count(), "gpus": gpus}
