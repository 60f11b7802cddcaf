"""What a run is asked to do; a result can be repeated from it."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class RunSpec:
    """Options of one run, named as lmms-eval names them."""

    model: str
    tasks: tuple[str, ...]
    model_args: str = ""
    batch_size: int = 1
    device: str | None = None
    limit: float | None = None
    gen_kwargs: str | None = None
    shard: str = "1/1"
    seed: int = 0
    force_simple: bool = False
    include_path: str | None = None

    @property
    def key(self) -> str:
        """Identity of the answers: what else may change (batch size, limit, shard) does not
        change what a model answers to a question."""
        asked = {
            name: value
            for name, value in asdict(self).items()
            if name in ("model", "model_args", "gen_kwargs", "seed", "force_simple")
        }
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]

    def command(self, output: Path | str) -> str:
        """The command that repeats this run."""
        words = ["wordsight", "eval", "--model", self.model]
        if self.model_args:
            words += ["--model_args", self.model_args]
        words += ["--tasks", ",".join(self.tasks), "--batch_size", str(self.batch_size)]
        if self.device:
            words += ["--device", self.device]
        if self.limit is not None:
            words += ["--limit", f"{self.limit:g}"]
        if self.gen_kwargs:
            words += ["--gen_kwargs", self.gen_kwargs]
        if self.shard != "1/1":
            words += ["--shard", self.shard]
        if self.seed:
            words += ["--seed", str(self.seed)]
        if self.force_simple:
            words += ["--force_simple"]
        if self.include_path:
            words += ["--include_path", self.include_path]
        return shlex.join([*words, "--output_path", str(output)])
