"""The ranking task by one choice: ten pictures at once, one letter.

Models prefer some places to others, so pictures are shown in an order drawn for each item, and
the share of choices that this preference explains is reported (``position_bias``).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lmms_eval.api.instance import Instance

from sage_tasks.aggregation import position_bias
from sage_tasks.package import Package
from sage_tasks.records import CANDIDATES, Query
from sage_tasks.scoring import ItemScore
from sage_tasks.task import CandidateView, RankingTask
from wordsight.aggregation import exact_mean, total
from wordsight.answer_text import LETTERS
from wordsight.answers import choice_answer
from wordsight.harness_task import Metrics
from wordsight.prompts import CHOICE, Prompt

if TYPE_CHECKING:
    from PIL.Image import Image

# No ranking stands behind a choice, so it has no reciprocal rank and no confusion per pair.
METRICS: Metrics = {
    "hits1": (exact_mean, True),
    "spis_hits1": (exact_mean, True),
    "position_bias": (position_bias, False),
    "invalid": (total, False),
    "failed": (total, False),
}


def shown_order(item: str, seed: int) -> list[int]:
    """Candidates of an item in the order in which they are shown."""
    return random.Random(f"{seed} {item}").sample(range(CANDIDATES), CANDIDATES)


class ChoiceView(CandidateView):
    """The documents that models see: element ``query`` asks about ten pictures."""

    def __init__(
        self, package: Package, queries: Sequence[Query], prompt: Prompt, seed: int
    ) -> None:
        super().__init__(package, queries, prompt, "choice")
        self._seed = seed

    def __len__(self) -> int:
        return len(self.queries)

    def __getitem__(self, index: Any) -> Any:
        document = super().__getitem__(int(index) * CANDIDATES)
        query = self.queries[int(index)]
        shown = [query.candidates[k] for k in shown_order(query.id, self._seed)]
        return {**document, "image_id": shown[0], "image_ids": shown}


class ChoiceTask(RankingTask):
    """One question per query. Task YAML: ``metadata.order_seed`` draws the places."""

    prompt = CHOICE
    metrics = METRICS

    @property
    def _seed(self) -> int:
        return int(self.config.metadata.get("order_seed", 0))

    def view(self, package: Package, queries: Sequence[Query]) -> CandidateView:
        """Documents with ten pictures."""
        return ChoiceView(package, queries, self.prompt, self._seed)

    def doc_to_visual(self, doc: dict[str, Any]) -> list[Image]:
        """The ten pictures in the order in which they are shown."""
        return [self.package.picture(image_id) for image_id in doc["image_ids"]]

    def doc_to_messages(self, doc: dict[str, Any], **_: Any) -> list[dict[str, Any]]:
        """Chat form: ten pictures, then the question."""
        pictures = [{"type": "image", "url": picture} for picture in self.doc_to_visual(doc)]
        return [{"role": "user", "content": [*pictures, {"type": "text", "text": doc["question"]}]}]

    def construct_requests(self, doc_id: int, ctx: str, **kwargs: Any) -> list[Instance]:
        """One instance per query."""
        first = super().construct_requests(doc_id, ctx, **kwargs)[0]
        text, messages, visual, _, task, split = first.arguments
        first.arguments = (text, messages, visual, doc_id, task, split)
        return [first]

    def responses(self, query: Query, results: Sequence[str]) -> list[str]:
        """The same text for each candidate, with the letter under which it was shown."""
        order = shown_order(query.id, self._seed)
        return [
            choice_answer(results[0], LETTERS[order.index(candidate)])
            for candidate in range(CANDIDATES)
        ]

    def _metrics(self, query: Query, score: ItemScore) -> dict[str, Any]:
        values = {k: v for k, v in super()._metrics(query, score).items() if k in self.metrics}
        if score.status == "ok":
            order = shown_order(query.id, self._seed)
            chosen = max(range(CANDIDATES), key=lambda candidate: score.scores[candidate] or 0.0)
            values["position_bias"] = {
                "chosen": order.index(chosen),
                "gold": order.index(query.gold),
            }
        return values
