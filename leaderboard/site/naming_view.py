"""Pages of a naming task: the setting, some of its captions, what every entry named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.gold import Gold
from leaderboard.kinds.naming_gold import NamingGold
from leaderboard.kinds.naming_score import NamingScore
from leaderboard.scoring import ItemScore
from leaderboard.site.links import Links
from leaderboard.site.view import ItemAnswer, Texts, View
from symbal_tasks.records import Setting
from symbal_tasks.view import Benchmark

SHOWN = 6
# Whose captions may be shown to anyone; the reports of MIMIC-CXR may not.
PUBLIC_DOMAINS = frozenset({"natural"})


def page(gold: Gold, item: str, answers: Sequence[ItemAnswer]) -> Mapping[str, Any]:
    """The setting, some of its captions, what every entry named."""
    assert isinstance(gold, NamingGold)
    setting = gold.setting(item)
    public = setting.domain in PUBLIC_DOMAINS
    return {
        "setting": setting,
        "captions": captions(gold.benchmark, setting) if public else [],
        "named": [
            (one.label, one.score, names(one.score))
            for one in answers
            if isinstance(one.score, NamingScore)
        ],
    }


def captions(benchmark: Benchmark, setting: Setting) -> list[dict[str, Any]]:
    """The first captions with the error, and as many whole ones of pictures without it."""
    spoiled = benchmark.captions(setting)
    put = dict(zip(setting.rows, setting.sentences, strict=True))
    whole = [number for number in range(len(spoiled)) if number not in put][:SHOWN]
    return [
        {
            "text": spoiled[number],
            "error": benchmark.stored.sentences[put[number]] if number in put else "",
            "shows": setting.v in benchmark.stored.rows[number].features,
            "reference": benchmark.stored.rows[number].reference,
        }
        for number in [*setting.rows[:SHOWN], *whole]
    ]


def names(score: NamingScore) -> list[list[tuple[str, bool]]]:
    """Names for the error and for the feature; the first right one is marked."""
    lists = ((score.errors, score.t_at), (score.features, score.v_at))
    return [[(name, at == place) for place, name in enumerate(told, 1)] for told, at in lists]


def block(links: Links, gold: Gold, place: int, texts: Texts) -> Mapping[str, Any]:
    """One setting of a comparison."""
    one = gold.summaries[place]
    return {
        "term": one.term,
        "context": one.context,
        "href": links.item(gold.task.name, one.id),
    }


def answer(score: ItemScore) -> Any:
    """Names with their marks, error first."""
    assert isinstance(score, NamingScore)
    return None if score.status == "missing" else names(score)


VIEW = View(
    lead="Each model gets a set of pictures with captions. Into some captions one wrong sentence "
    "about t was put, mostly where the picture shows v. It has to name the error t and the "
    "feature v, five names each at most.",
    template="setting.html",
    page=page,
    block=block,
    answer=answer,
)
