"""From the raw answer to a setting to its score, by the board itself with the offline judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from leaderboard.scoring import ItemStatus
from symbal_tasks.evaluate import TOP, read_answer
from symbal_tasks.judge import OfflineJudge
from symbal_tasks.records import Setting
from wordsight.answers import FAILED_PREFIX


@dataclass(frozen=True)
class NamingScore:
    """One setting: whether the error t, the feature v and both are named first or among five.

    t_at, v_at : place of the first right name, from 1; None where none is right.

    An answer without one of its two lines is "invalid"; the line that is there is still judged, as
    the lmms-eval task does.
    """

    item: str
    status: ItemStatus
    acc1_both: float = 0.0
    acc5_both: float = 0.0
    acc1_t: float = 0.0
    acc5_t: float = 0.0
    acc1_v: float = 0.0
    acc5_v: float = 0.0
    errors: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    t_at: int | None = None
    v_at: int | None = None
    interface: str = ""
    reason: str = ""


def missing_score(item: str, reason: str) -> NamingScore:
    """A setting without an answer."""
    return NamingScore(item, "missing", reason=reason[:300])


def score_setting(setting: Setting, responses: Sequence[str]) -> NamingScore:
    """Score the one response to a setting."""
    (response,) = responses
    if response.strip().startswith(FAILED_PREFIX):
        return missing_score(setting.id, response)
    answer = read_answer(response)
    t_at, v_at = (_first_right(answer.errors, setting.t), _first_right(answer.features, setting.v))
    lines = [("Textual Error", answer.errors), ("Visual Feature", answer.features)]
    lacking = [name for name, names in lines if not names]
    return NamingScore(
        setting.id,
        "invalid" if lacking else "ok",
        **{
            f"acc{top}_{what}": float(all(at is not None and at <= top for at in places))
            for what, places in (("both", (t_at, v_at)), ("t", (t_at,)), ("v", (v_at,)))
            for top in (1, TOP)
        },
        errors=answer.errors,
        features=answer.features,
        t_at=t_at,
        v_at=v_at,
        interface="text",
        reason=f"no line {' and no line '.join(map(repr, lacking))}" if lacking else "",
    )


def _first_right(names: Sequence[str], truth: str) -> int | None:
    """Place of the first name, from 1, that means the truth."""
    verdicts = _judge().same([(name, truth) for name in names])
    return verdicts.index(True) + 1 if any(verdicts) else None


@lru_cache(maxsize=1)
def _judge() -> OfflineJudge:
    return OfflineJudge()
