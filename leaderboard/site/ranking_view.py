"""Pages of a ranking task: ten pictures, their ranks, who chose what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.gold import Gold
from leaderboard.kinds.ranking_gold import RankingGold
from leaderboard.kinds.ranking_score import RankingScore
from leaderboard.scoring import ItemScore
from leaderboard.site.links import Links
from leaderboard.site.view import ItemAnswer, Texts, View


def page(gold: Gold, item: str, answers: Sequence[ItemAnswer]) -> Mapping[str, Any]:
    """The ten pictures, the gold, what every entry chose."""
    assert isinstance(gold, RankingGold)
    query = gold.query(item)
    choices = [
        (answer.label, answer.score.choice)
        for answer in answers
        if isinstance(answer.score, RankingScore)
    ]
    return {
        "query": query,
        "chosen": [
            [label for label, choice in choices if choice == place]
            for place in range(len(query.candidates))
        ],
        "single": "mrr" in gold.kind.lacking(gold.task.name, ""),
        "credits": [gold.package.images[picture] for picture in query.candidates],
    }


def block(links: Links, gold: Gold, place: int, texts: Texts) -> Mapping[str, Any]:
    """One item of a comparison."""
    assert isinstance(gold, RankingGold)
    query, task = gold.queries[place], gold.task.name
    return {
        "term": query.term,
        "context": query.context,
        "gold": query.gold,
        "href": links.item(task, query.id),
        "pictures": [links.picture(task, picture) for picture in query.candidates],
        "texts": [
            {"label": label, "texts": by_item[query.id]}
            for label, by_item in texts
            if by_item.get(query.id)
        ],
    }


def answer(score: ItemScore) -> Any:
    """The rank that each candidate got."""
    assert isinstance(score, RankingScore)
    return None if score.ranks is None else list(score.ranks)


VIEW = View(
    lead="Each model sees ten pictures and a term in a context, and has to pick the one picture "
    "that shows the meant sense. Guessing is right one time in ten.",
    template="item.html",
    page=page,
    block=block,
    answer=answer,
)
