"""Signs that a ranking entry deserves a look; each is one small function and one line in SIGNS."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leaderboard.gold import Gold
from leaderboard.kinds.ranking_gold import RankingGold
from leaderboard.kinds.ranking_score import RankingScore
from leaderboard.scoring import ItemScore
from leaderboard.site.formats import counted

CHANCE = 0.1
ALPHA = 0.001


@dataclass(frozen=True)
class Answers:
    """One entry's scores on one task, with the place of the gold of each item."""

    scores: Sequence[RankingScore]
    golds: Sequence[int]


def signs(gold: Gold, scores: Sequence[ItemScore]) -> list[str]:
    """What stands out in one entry's answers to one task."""
    assert isinstance(gold, RankingGold)
    mine = [score for score in scores if isinstance(score, RankingScore)]
    answers = Answers(mine, [query.gold for query in gold.queries])
    return [text for sign in SIGNS if (text := sign(answers))]


def constant(answers: Answers) -> str:
    """Nearly all items tie all their candidates: the entry says the same to everything."""
    valid = [s for s in answers.scores if s.ranks]
    tied = sum(1 for s in valid if s.ranks and len(set(s.ranks)) == 1)
    if not valid or tied < 0.9 * len(valid):
        return ""
    return f"gives all candidates the same score on {tied} of {len(valid)} items"


def positional(answers: Answers) -> str:
    """First choices pile up on one place, more than the golds do (exact binomial test)."""
    from scipy import stats

    choices = [s.choice for s in answers.scores if s.choice is not None]
    if len(choices) < 20:
        return ""
    places = max(len(answers.scores[0].ranks or ()), 10)
    counts = [choices.count(place) for place in range(places)]
    top = max(counts)
    place = counts.index(top)
    share = max(1 / places, answers.golds.count(place) / len(answers.golds))
    p = stats.binomtest(top, len(choices), share, alternative="greater").pvalue * places
    if p >= ALPHA or top < 0.3 * len(choices):
        return ""
    return f"puts candidate {place + 1} first on {top} of {len(choices)} items"


def chance_level(answers: Answers) -> str:
    """Hits@1 on the answered items is what guessing gives."""
    from scipy import stats

    answered = [s for s in answers.scores if s.status != "missing"]
    n, hits = len(answered), math.fsum(s.hits1 for s in answered)
    low = stats.binom.ppf(0.025, n, CHANCE)
    high = stats.binom.ppf(0.975, n, CHANCE)
    if not n or not low <= hits <= high:
        return ""
    where = f" on the {counted(n, 'item')} it answered" if n < len(answers.scores) else ""
    return f"does not differ from guessing{where}"


def hard_gold(answers: Answers) -> str:
    """Certainty that looks copied: the gold alone gets a score, on nearly every item."""
    ok = [
        (s.scores, gold)
        for s, gold in zip(answers.scores, answers.golds, strict=True)
        # one letter is always as hard as this
        if s.scores is not None and s.interface != "choice"
    ]
    if len(ok) < 20:
        return ""
    exact = sum(
        1
        for scores, gold in ok
        if scores[gold] == max(scores) and len({v for i, v in enumerate(scores) if i != gold}) == 1
    )
    if exact < 0.95 * len(ok):
        return ""
    return f"gives the gold one score and all others another on {exact} of {len(ok)} items"


def fixed_gold(answers: Answers) -> str:
    """The gold has one and the same score again and again, which no other candidate gets.

    Where scores are likelihoods or similarities two are hardly ever equal; answers with few values
    (Yes and No, a letter) are left out.
    """
    golds: list[float] = []
    others: list[float] = []
    for score, gold in zip(answers.scores, answers.golds, strict=True):
        if score.scores is not None:
            golds.append(score.scores[gold])
            others += [value for place, value in enumerate(score.scores) if place != gold]
    if len(golds) < 20 or len(set(others)) < 0.5 * len(others):
        return ""
    value, times = Counter(golds).most_common(1)[0]
    if times < max(10, 0.1 * len(golds)) or others.count(value) > 0.02 * times:
        return ""
    return (
        f"gives the gold the very same score, {value:.6g}, on {times} of {len(golds)} items, and "
        f"another candidate on {others.count(value)}"
    )


SIGNS: tuple[Callable[[Answers], str], ...] = (
    constant,
    positional,
    chance_level,
    hard_gold,
    fixed_gold,
)


def raised(gold: Gold, before: Sequence[ItemScore], now: Sequence[ItemScore]) -> str:
    """Between two attempts the gold's score jumped where the others' hardly moved."""
    assert isinstance(gold, RankingGold)
    items = jumped = 0
    for query, old, new in zip(gold.queries, before, now, strict=True):
        assert isinstance(old, RankingScore)
        assert isinstance(new, RankingScore)
        if old.scores is None or new.scores is None:
            continue
        items += 1
        changes = [b - a for a, b in zip(old.scores, new.scores, strict=True)]
        most = max(abs(change) for place, change in enumerate(changes) if place != query.gold)
        jumped += changes[query.gold] > 0 and most <= 0.1 * changes[query.gold]
    if jumped < max(5, 0.02 * items):
        return ""
    return f"only the gold's score rose on {jumped} of {items} items"
