"""From the ten raw responses to an item to its score, by the board itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.scoring import ItemStatus
from sage_tasks.records import Query
from sage_tasks.scoring import score_item
from wordsight.answers import read_answer


@dataclass(frozen=True)
class RankingScore:
    """One item. Missing and invalid items have Hits@1 0 and MRR 0.

    choice : the candidate ranked first, None when several share that place.
    scores : P(yes) or similarity per candidate; ranks : from 1, ties share their mean rank.
    Both are None unless ``status`` is "ok". hard, random : confusion with negatives of that kind;
    None where a single choice says nothing about the other candidates.
    """

    item: str
    status: ItemStatus
    hits1: float
    mrr: float
    choice: int | None = None
    interface: str = ""
    reason: str = ""
    scores: tuple[float, ...] | None = None
    ranks: tuple[float, ...] | None = None
    hard: float | None = None
    random: float | None = None


def missing_score(item: str) -> RankingScore:
    """An item without responses."""
    return RankingScore(item, "missing", 0.0, 0.0, reason="no responses were submitted")


def score_query(query: Query, responses: Sequence[str]) -> RankingScore:
    """Score one item from its raw responses (the response contract of ``wordsight.answers``)."""
    score = score_item(responses, query.gold, query.kinds)
    if score.status != "ok" or score.metrics is None:
        # a request that failed says nothing about the model: the item counts as missing
        status: ItemStatus = "missing" if score.status == "failed" else "invalid"
        return RankingScore(query.id, status, 0.0, 0.0, reason=score.reason[:300])
    # ranked by the key, not the score: probabilities that round to 1 can still be told apart
    ranks = mid_ranks([float(read_answer(text).rank_key or 0.0) for text in responses])
    first = [place for place, rank in enumerate(ranks) if rank == min(ranks)]
    single = score.interface == "choice"
    return RankingScore(
        query.id,
        "ok",
        score.metrics.hits1,
        score.metrics.mrr,
        choice=first[0] if len(first) == 1 else None,
        interface=str(score.interface),
        scores=tuple(float(value or 0.0) for value in score.scores),
        ranks=tuple(ranks),
        hard=None if single else score.metrics.hard,
        random=None if single else score.metrics.random,
    )


def mid_ranks(keys: Sequence[float]) -> list[float]:
    """Rank of each candidate from 1 (best); candidates that tie share their mean rank."""
    above = [sum(other > key for other in keys) for key in keys]
    level = [sum(other == key for other in keys) for key in keys]
    return [a + (n + 1) / 2 for a, n in zip(above, level, strict=True)]
