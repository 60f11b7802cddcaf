"""Signs that a naming entry deserves a look; each is one small function and one line in SIGNS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from leaderboard.gold import Gold
from leaderboard.kinds.naming_gold import NamingGold
from leaderboard.kinds.naming_score import NamingScore
from leaderboard.scoring import ItemScore

Sign = Callable[[NamingGold, Sequence[NamingScore]], str]


def signs(gold: Gold, scores: Sequence[ItemScore]) -> list[str]:
    """What stands out in one entry's answers to one task."""
    assert isinstance(gold, NamingGold)
    mine = [score for score in scores if isinstance(score, NamingScore)]
    return [text for sign in SIGNS if (text := sign(gold, mine))]


def same_name(gold: NamingGold, scores: Sequence[NamingScore]) -> str:
    """One error is named first nearly throughout, whatever the setting holds."""
    named = Counter(score.errors[0].casefold() for score in scores if score.errors)
    if not named or named.total() < 10:
        return ""
    name, times = named.most_common(1)[0]
    commonest = Counter(setting.t for setting in gold.settings).most_common(1)[0][1]
    if times < 0.8 * named.total() or times <= commonest:
        return ""
    return f"names {name[:40]!r} first in {times} of {named.total()} settings"


def only_gold(gold: NamingGold, scores: Sequence[NamingScore]) -> str:
    """Answers that look copied: nothing but the gold's own words, on nearly every setting."""
    copied = sum(
        score.errors == (setting.t,) and score.features == (setting.v,)
        for setting, score in zip(gold.settings, scores, strict=True)
    )
    answered = sum(score.status != "missing" for score in scores)
    if answered < 10 or copied < 0.95 * answered:
        return ""
    return f"answers the gold's two names and nothing else in {copied} of {answered} settings"


SIGNS: tuple[Sign, ...] = (same_name, only_gold)
