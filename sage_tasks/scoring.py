"""From the raw responses of one query to its scores and metrics; the board uses the same code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sage_tasks.metrics import INVALID_METRICS, ItemMetrics, item_metrics
from wordsight.answers import Answer, Interface, Status, read_answer


@dataclass(frozen=True)
class ItemScore:
    """Scores of one query, one per candidate, and its metrics.

    ``scores`` holds what is shown per candidate (P(yes), similarity), None where an answer could
    not be read. Metrics of an invalid item are zero; those of a failed one are not defined.
    """

    status: Status
    reason: str
    interface: Interface | None
    scores: tuple[float | None, ...]
    metrics: ItemMetrics | None


def score_item(responses: Sequence[str], gold: int, kinds: Sequence[str]) -> ItemScore:
    """Score one query from the raw responses to its candidates, in candidate order.

    A failed request makes the item "failed", an unreadable answer makes it "invalid", and so do
    answers of different interfaces: a likelihood and a bare Yes cannot be ranked together.
    """
    answers = [read_answer(response) for response in responses]
    scores = tuple(answer.score for answer in answers)
    for status in ("failed", "invalid"):
        worst = [(i, a) for i, a in enumerate(answers) if a.status == status]
        if worst:
            position, answer = worst[0]
            reason = f"candidate {position}: {answer.reason}"
            metrics = None if status == "failed" else INVALID_METRICS
            return ItemScore(answer.status, reason, None, scores, metrics)
    interfaces = {answer.interface for answer in answers}
    if len(responses) != len(kinds) or len(interfaces) != 1:
        reason = (
            f"answers of several interfaces: {sorted(str(i) for i in interfaces)}"
            if len(responses) == len(kinds)
            else f"{len(responses)} responses for {len(kinds)} candidates"
        )
        return ItemScore("invalid", reason, None, scores, INVALID_METRICS)
    metrics = item_metrics([_key(answer) for answer in answers], gold, kinds)
    return ItemScore("ok", "", interfaces.pop(), scores, metrics)


def _key(answer: Answer) -> float:
    assert answer.rank_key is not None
    return answer.rank_key
