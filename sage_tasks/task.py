"""The ranking task: one query, ten requests, one picture at a time.

lmms-eval groups the instances of one document and sorts them by ``idx``, so a query owns ten
requests, one per candidate. A model, simple or chat, finds the document of a request at
``task_dict[task][split][doc_id]``; there a flat view over (query, candidate) pairs stands, which
reads a picture only when the model asks for it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lmms_eval.api.instance import Instance
from loguru import logger

from sage_tasks.aggregation import pair_mean
from sage_tasks.package import Package, open_package
from sage_tasks.records import CANDIDATES, Query, pictures_fingerprint
from sage_tasks.scoring import ItemScore, score_item
from sage_tasks.sources import dataset_root
from wordsight.aggregation import exact_mean, total
from wordsight.exit_status import mark_incomplete
from wordsight.harness_task import HarnessTask, KwargsOrCallable, Metrics
from wordsight.prompts import YES_NO, Prompt
from wordsight.shard import SHARD_VARIABLE, Shard

if TYPE_CHECKING:
    from PIL.Image import Image

    from wordsight.models.base import QuestionKind

LOG_KEY = "wordsight"
METRICS: Metrics = {
    "hits1": (exact_mean, True),
    "mrr": (exact_mean, True),
    "spis_hits1": (exact_mean, True),
    "spis_pair": (exact_mean, True),
    "verb_pair": (exact_mean, True),
    "hard_confusion": (pair_mean, False),
    "random_confusion": (pair_mean, False),
    "invalid": (total, False),
    "failed": (total, False),
}


class CandidateView(Sequence[dict[str, Any]]):
    """The documents that models see: element ``10 * query + candidate`` asks about one picture.

    An element holds texts and the picture's content id; :meth:`picture` decodes the picture.
    """

    def __init__(
        self,
        package: Package,
        queries: Sequence[Query],
        prompt: Prompt = YES_NO,
        kind: QuestionKind = "yes_no",
    ) -> None:
        self.package = package
        self.queries = queries
        self.prompt = prompt
        self.kind = kind

    def __len__(self) -> int:
        return len(self.queries) * CANDIDATES

    def __getitem__(self, index: Any) -> Any:
        number, candidate = divmod(int(index), CANDIDATES)
        query = self.queries[number]
        return {
            "item": query.id,
            "candidate": candidate,
            "image_id": query.candidates[candidate],
            "term": query.term,
            "context": query.context,
            "gloss": query.gloss,
            "pos": query.pos,
            "kind": self.kind,
            "question": self.prompt.fill(term=query.term, context=query.context),
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(len(self)))

    def picture(self, image_id: str) -> Image:
        """The picture decoded to upright RGB; DataError names the file when it cannot be."""
        return self.package.picture(image_id)

    def picture_bytes(self, image_id: str) -> bytes:
        """The picture's bytes as they came."""
        return self.package.picture_bytes(image_id)

    def picture_size(self, image_id: str) -> tuple[int, int]:
        """Width and height in pixels, from the record: nothing is decoded."""
        record = self.package.images[image_id]
        return record.width, record.height


class RankingTask(HarnessTask):
    """Pick the picture that shows the meant sense (SAGE, section 3).

    Task YAML: ``metadata.dataset`` (a name or a folder), ``metadata.config``, ``metadata.version``
    and, for SPIS pairs, ``metadata.paired_with`` (another config with the same source ids).
    """

    prompt: Prompt = YES_NO
    metrics: Metrics = METRICS

    def download(self, dataset_kwargs: dict[str, Any] | None = None) -> None:
        """Open the dataset folder; called by lmms-eval before anything else."""
        import datasets

        meta = self.config.metadata
        split = self.config.test_split
        root = dataset_root(meta["dataset"])
        self.package = open_package(root, meta["config"], split)
        shard = Shard.parse(os.environ.get(SHARD_VARIABLE, "1/1"))
        numbered = shard.of(list(enumerate(self.package.queries)))
        self._queries = [query for _, query in numbered]
        self._paired = self._paired_sources(root, split)
        # Enters results.json and the cache key, so runs over other pictures are never mixed up.
        # A fresh dict: lmms-eval shares the parsed YAML between tasks.
        self._config.metadata = {
            **meta,
            "dataset_fingerprint": self.package.fingerprint,
            "prompt": self.prompt.version,
            "shard": str(shard),
        }
        documents = datasets.Dataset.from_list(
            [
                {
                    "number": local,
                    "index": index,
                    "item": query.id,
                    "term": query.term,
                    "context": query.context,
                    "gold": query.gold,
                }
                for local, (index, query) in enumerate(numbered)
            ]
        )
        self._documents = documents
        self.dataset = {split: self.view(self.package, self._queries)}
        self.dataset_no_image = {split: documents}

    def view(self, package: Package, queries: Sequence[Query]) -> CandidateView:
        """What models see of the documents."""
        return CandidateView(package, queries, self.prompt)

    def _paired_sources(self, root: Any, split: str) -> frozenset[str]:
        twin = self.config.metadata.get("paired_with")
        if twin is None:
            return frozenset()
        return frozenset(query.source_id for query in open_package(root, twin, split).queries)

    def test_docs(self) -> Any:
        """One document per query; ``--limit`` therefore counts queries."""
        return self._documents

    def test_docs_no_media(self) -> Any:
        """The same documents: they hold no pictures to begin with."""
        return self._documents

    def doc_to_text(self, doc: dict[str, Any]) -> str:
        """The question, the same for all ten candidates."""
        return self.prompt.fill(term=doc["term"], context=doc["context"])

    def doc_to_target(self, doc: dict[str, Any]) -> str:
        """Index of the gold candidate, for the samples log."""
        return str(doc["gold"])

    def doc_to_visual(self, doc: dict[str, Any]) -> list[Image]:
        """The picture of one (query, candidate) document."""
        return [self.package.picture(doc["image_id"])]

    def doc_to_messages(self, doc: dict[str, Any], **_: Any) -> list[dict[str, Any]]:
        """Chat form of one (query, candidate) document; picture first, so prefixes can be kept."""
        return [
            {
                "role": "user",
                "content": [
                    {"type": "image", "url": self.package.picture(doc["image_id"])},
                    {"type": "text", "text": doc["question"]},
                ],
            }
        ]

    def construct_requests(self, doc_id: int, ctx: str, **kwargs: Any) -> list[Instance]:
        """Ten instances of one query; ``doc_id`` counts queries, the arguments count pairs."""
        metadata = kwargs["metadata"]
        options = dict(self.config.generation_kwargs)
        messages = KwargsOrCallable(options, self.doc_to_messages)
        visual = KwargsOrCallable(options, self.doc_to_visual)
        task, split = self.config.task, metadata["split"]
        return [
            Instance(
                request_type="generate_until",
                arguments=(ctx, messages, visual, doc_id * CANDIDATES + candidate, task, split),
                idx=candidate,
                metadata=dict(metadata),
            )
            for candidate in range(CANDIDATES)
        ]

    def process_results(
        self, doc: dict[str, Any], results: list[str], full_docs: Any = None
    ) -> dict[str, Any]:
        """Metrics of one query and, under the key "wordsight", all that a rescoring needs."""
        query = self._queries[doc["number"]]
        responses = self.responses(query, results)
        score = score_item(responses, query.gold, query.kinds)
        if score.status != "ok":
            logger.warning(f"{self.config.task}: item {query.id} is {score.status}: {score.reason}")
        if score.status == "failed":
            mark_incomplete()
        return {
            **self._metrics(query, score),
            LOG_KEY: {
                "item": query.id,
                "index": doc["index"],
                "task": self.config.task,
                "task_version": str(self.VERSION),
                "prompt": self.prompt.version,
                "interface": score.interface,
                "images": pictures_fingerprint(query),
                "status": score.status,
                "reason": score.reason,
                "responses": responses,
                "scores": list(score.scores),
            },
        }

    def responses(self, query: Query, results: Sequence[str]) -> list[str]:
        """One response per candidate, in candidate order, from what the model returned."""
        return list(results)

    def _metrics(self, query: Query, score: ItemScore) -> dict[str, Any]:
        metrics = score.metrics
        # NaN for a failed item: the task then has no Hits@1, rather than one over fewer items.
        values: dict[str, Any] = {
            "hits1": metrics.hits1 if metrics else math.nan,
            "mrr": metrics.mrr if metrics else math.nan,
            "invalid": float(score.status == "invalid"),
            "failed": float(score.status == "failed"),
        }
        if query.source_id in self._paired:
            values["spis_hits1"] = values["hits1"]
        # A task can be in one group only, and a group shows one difference per metric name: tasks
        # that take part in several differences repeat their Hits@1 under a name for each.
        for name in self.config.metadata.get("also_as", ()):
            values[name] = values["hits1"]
        if metrics and metrics.hard is not None:
            values["hard_confusion"] = {"score": metrics.hard, "pairs": metrics.hard_pairs}
        if metrics and metrics.random is not None:
            values["random_confusion"] = {"score": metrics.random, "pairs": metrics.random_pairs}
        return values
