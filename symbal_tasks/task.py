"""SymbalBench as a task of lmms-eval: one document is one setting.

Any model answers the direct prompt, the paper's baseline. ``--model symbal`` takes the rows of the
setting from the view at ``task_dict[task][split]`` and runs the method.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmms_eval.api.instance import Instance

from symbal_tasks.audit.captions import read_captions
from symbal_tasks.backends import Row
from symbal_tasks.bench import rows_of
from symbal_tasks.direct import direct_prompt
from symbal_tasks.evaluate import MEASURES, read_answer, score
from symbal_tasks.judge import OfflineJudge
from symbal_tasks.prompts import DIRECT
from symbal_tasks.records import Setting
from symbal_tasks.sources import benchmark_root
from symbal_tasks.view import Benchmark, open_benchmark
from wordsight.aggregation import exact_mean, total
from wordsight.answers import FAILED_PREFIX
from wordsight.exit_status import mark_incomplete
from wordsight.harness_task import HarnessTask, KwargsOrCallable, Metrics
from wordsight.shard import SHARD_VARIABLE, Shard

LOG_KEY = "wordsight"
# Captions that a captioner made for the pictures: what the direct prompt of the reference-free
# variant shows in place of references (JSONL of ``wordsight caption``).
CAPTIONS_VARIABLE = "WORDSIGHT_SYMBALBENCH_CAPTIONS"
CONTEXT_VARIABLE = "WORDSIGHT_CONTEXT_TOKENS"
DEFAULT_CONTEXT = 8192


class SettingView(Sequence[dict[str, Any]]):
    """The documents that models see, and the rows behind each."""

    def __init__(
        self,
        benchmark: Benchmark,
        settings: Sequence[Setting],
        *,
        references: bool,
        context_tokens: int = DEFAULT_CONTEXT,
        captions: Mapping[str, str] | None = None,
    ) -> None:
        self.benchmark = benchmark
        self.settings = settings
        self.references = references
        self.context_tokens = context_tokens
        self.captions = captions or {}

    def __len__(self) -> int:
        return len(self.settings)

    def __getitem__(self, index: Any) -> Any:
        setting = self.settings[int(index)]
        return {"number": int(index), "item": setting.id}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(len(self)))

    def rows(self, index: int) -> list[Row]:
        """Pictures, captions and, in the reference-based variant, references of a setting."""
        return rows_of(self.benchmark, self.settings[index], references=self.references)

    def question(self, index: int) -> str:
        """The direct prompt over as many rows as the context holds."""
        rows = self.rows(index)
        if self.captions and not self.references:
            rows = [replace(row, reference=self.captions.get(row.id, "")) for row in rows]
        return direct_prompt(rows, context_tokens=self.context_tokens).text


def metric_name(measure: str) -> str:
    """ "both@5" -> "acc5_both": no name is a part of another, as lmms-eval's groups need."""
    what, top = measure.split("@")
    return f"acc{top}_{what}"


METRICS: Metrics = {
    **{metric_name(measure): (exact_mean, True) for measure in MEASURES},
    "invalid": (total, False),
    "failed": (total, False),
}


class SettingTask(HarnessTask):
    """Name the systematic error and the feature it goes with.

    Task YAML: ``metadata.dataset`` (a name or a folder), ``metadata.domain``,
    ``metadata.references`` and ``metadata.version``. Judged offline; ``wordsight symbal`` judges
    the same answers with a language model.
    """

    metrics = METRICS

    def download(self, dataset_kwargs: dict[str, Any] | None = None) -> None:
        """Open the benchmark; called by lmms-eval before anything else."""
        import datasets

        meta = self.config.metadata
        split = self.config.test_split
        benchmark = open_benchmark(benchmark_root(meta["dataset"]), meta["domain"])
        shard = Shard.parse(os.environ.get(SHARD_VARIABLE, "1/1"))
        settings = shard.of(list(benchmark.settings))
        context = int(os.environ.get(CONTEXT_VARIABLE, DEFAULT_CONTEXT))
        self._view = SettingView(
            benchmark,
            settings,
            references=bool(meta["references"]),
            context_tokens=context,
            captions=_made_captions(benchmark),
        )
        self._judge = OfflineJudge()
        # Enters results.json and the cache key. A fresh dict: lmms-eval shares the parsed YAML.
        self._config.metadata = {
            **meta,
            "dataset_fingerprint": benchmark.stored.manifest["fingerprint"],
            "prompt": DIRECT.version,
            "context_tokens": context,
            "judge": self._judge.name,
            "shard": str(shard),
        }
        self._documents = datasets.Dataset.from_list(list(self._view))
        self.dataset = {split: self._view}
        self.dataset_no_image = {split: self._documents}

    def test_docs(self) -> Any:
        """One document per setting; ``--limit`` therefore counts settings."""
        return self._documents

    def test_docs_no_media(self) -> Any:
        """The same documents: they hold no pictures."""
        return self._documents

    def doc_to_text(self, doc: dict[str, Any]) -> str:
        """The direct prompt."""
        return self._view.question(doc["number"])

    def doc_to_target(self, doc: dict[str, Any]) -> str:
        """The true pair, for the samples log."""
        setting = self._view.settings[doc["number"]]
        return f"Textual Error: {setting.t}\nVisual Feature: {setting.v}"

    def doc_to_visual(self, doc: dict[str, Any]) -> list[Any]:
        """No picture goes with the direct prompt."""
        return []

    def doc_to_messages(self, doc: dict[str, Any], **_: Any) -> list[dict[str, Any]]:
        """Chat form of the direct prompt."""
        text = self.doc_to_text(doc)
        return [{"role": "user", "content": [{"type": "text", "text": text}]}]

    def construct_requests(self, doc_id: int, ctx: str, **kwargs: Any) -> Instance:
        """One request per setting."""
        metadata = kwargs["metadata"]
        options = dict(self.config.generation_kwargs)
        messages = KwargsOrCallable(options, self.doc_to_messages)
        visual = KwargsOrCallable(options, self.doc_to_visual)
        return Instance(
            request_type="generate_until",
            arguments=(ctx, messages, visual, doc_id, self.config.task, metadata["split"]),
            idx=0,
            metadata=dict(metadata),
        )

    def process_results(
        self, doc: dict[str, Any], results: list[str], full_docs: Any = None
    ) -> dict[str, Any]:
        """Accuracy of one answer; an answer that cannot be read is wrong and counted as invalid."""
        setting = self._view.settings[doc["number"]]
        response = results[0]
        failed = response.strip().startswith(FAILED_PREFIX)
        answer = read_answer(response)
        right = score([setting], [answer], self._judge)[0].right
        if failed:
            mark_incomplete()
        values: dict[str, Any] = {
            metric_name(measure): math.nan if failed else float(right[measure])
            for measure in MEASURES
        }
        return {
            **values,
            "invalid": float(not failed and not (answer.errors and answer.features)),
            "failed": float(failed),
            LOG_KEY: {
                "item": setting.id,
                "task": self.config.task,
                "task_version": str(self.config.metadata["version"]),
                "prompt": DIRECT.version,
                "setting": setting.id,
                **setting.facts(),
                "errors": list(answer.errors),
                "features": list(answer.features),
                "responses": [response],
                "status": "failed" if failed else "ok",
            },
        }


def _made_captions(benchmark: Benchmark) -> dict[str, str]:
    named = os.environ.get(CAPTIONS_VARIABLE)
    if not named:
        return {}
    held = read_captions(Path(named).expanduser())
    # of several captions of a picture the first counts
    by_file = {Path(held.picture_of[row.id]).name: row.caption for row in reversed(held.rows)}
    return {
        row.id: by_file[Path(row.file).name]
        for row in benchmark.stored.rows
        if Path(row.file).name in by_file
    }
