"""Short runs of stock adapters on a checkpoint's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.wordsight.helpers import Finished, read_run
from wordsight.run.harness import run
from wordsight.run.spec import RunSpec


def run_adapter(
    output: Path,
    name: str,
    folder: Path,
    *,
    simple: bool,
    items: int,
    batch_size: int = 1,
    more: str = "",
    gen_kwargs: str | None = None,
    model: Any = None,
) -> Finished:
    """The demo task on a CPU; ``more`` are further arguments of the adapter."""
    spec = RunSpec(
        model=name,
        model_args=f"pretrained={folder},device_map=cpu{more}",
        tasks=("sage_demo",),
        batch_size=batch_size,
        device="cpu",
        limit=items,
        force_simple=simple,
        gen_kwargs=gen_kwargs,
    )
    run(spec, output, model=model, quiet=True)
    return read_run(output)
