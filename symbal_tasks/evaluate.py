"""Accuracy of answers on SymbalBench (section 5): for t, for v, for both, and by stratum."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symbal_tasks.judge import Judge
from symbal_tasks.records import Setting
from wordsight.answer_text import without_spans
from wordsight.errors import DataError

TOP = 5
MEASURES = ("t@1", "t@5", "v@1", "v@5", "both@1", "both@5")
_THOUGHT, _THOUGHT_END = re.compile("<think>"), re.compile("</think>")
_NAMES = r"textual[ _]errors?|visual[ _]features?"
_LINE = re.compile(rf"^[^\w\n]*({_NAMES})[^\w\n]*:[^\S\n]*(.*)$", re.IGNORECASE | re.MULTILINE)
# A longer text is no name, and endless ones would keep the judge busy for hours.
MAX_NAME = 100
# Letters below a heading in which its list is looked for.
_BELOW = 2000
# "1. dog", "- dog": a list under its heading
_ITEM = re.compile(r"\s*(?:[-*\u2022]|\d+[.)])\s+(.*)")


@dataclass(frozen=True)
class Answer:
    """Names given for the error and for the feature, best first, at most five each."""

    errors: tuple[str, ...]
    features: tuple[str, ...]


@dataclass(frozen=True)
class Scored:
    """One setting's answer and, for each measure, whether it is right."""

    setting: str
    t: str
    v: str
    strength: float
    feature_size: float | None
    kinds: tuple[str, ...]
    answer: Answer
    right: Mapping[str, bool]


@dataclass(frozen=True)
class Accuracy:
    """Share of settings that are right, with the board's 95% interval for grouped items.

    A group is a pair (t, v): its strengths share v's pictures and t's wording, so they are no
    independent trials.
    """

    n: int
    n_pairs: int
    share: float
    low: float
    high: float


def read_answer(text: str) -> Answer:
    """Read ``Textual Error: a, b`` / ``Visual Feature: c, d``, or the same as JSON lists.

    A list may also stand below its heading, an item a line; a list that is missing is empty. Of
    repeated lists the last counts, because a model that reasons aloud may draft first. A name of
    more than ``MAX_NAME`` letters is cut.
    """
    text = without_spans(text, _THOUGHT, _THOUGHT_END, "")
    found = _as_json(text)
    if not found:
        for match in _LINE.finditer(text):
            listed = match[2].split(",") if match[2].strip() else _below(text, match.end())
            found[_kind(match[1])] = [str(part) for part in listed]
    named = {
        kind: tuple(name[:MAX_NAME] for part in parts if (name := part.strip(" \t.*\"'`[]{}")))[
            :TOP
        ]
        for kind, parts in found.items()
    }
    return Answer(named.get("error", ()), named.get("feature", ()))


def _as_json(text: str) -> dict[str, list[str]]:
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return {}
    try:
        fields = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return {}
    return {
        _kind(name): [part for part in parts if isinstance(part, str)]
        for name, parts in fields.items()
        if isinstance(parts, list) and re.fullmatch(_NAMES, name, re.IGNORECASE)
    }


def _below(text: str, start: int) -> list[str]:
    items: list[str] = []
    for line in text[start : start + _BELOW].lstrip("\n").splitlines():
        match = _ITEM.match(line)
        if not match:
            break
        items.append(match[1])
    return items


def _kind(heading: str) -> str:
    return "error" if heading.lower().startswith("textual") else "feature"


def score(settings: Sequence[Setting], answers: Sequence[Answer], judge: Judge) -> list[Scored]:
    """Judge every answer. Accuracy@5 asks whether any of five names is right; both, t and v."""
    asked = [
        (said, truth)
        for setting, answer in zip(settings, answers, strict=True)
        for names, truth in ((answer.errors, setting.t), (answer.features, setting.v))
        for said in names[:TOP]
    ]
    unique = list(dict.fromkeys(asked))
    verdict = dict(zip(unique, judge.same(unique), strict=True))
    scored = []
    for setting, answer in zip(settings, answers, strict=True):
        right: dict[str, bool] = {}
        for top in (1, TOP):
            t = any(verdict[said, setting.t] for said in answer.errors[:top])
            v = any(verdict[said, setting.v] for said in answer.features[:top])
            right |= {f"t@{top}": t, f"v@{top}": v, f"both@{top}": t and v}
        scored.append(
            Scored(
                setting.id,
                setting.t,
                setting.v,
                setting.strength,
                setting.feature_size,
                setting.kinds,
                answer,
                right,
            )
        )
    return scored


def accuracy(scored: Sequence[Scored], measure: str, *, seed: int = 0) -> Accuracy:
    """Accuracy of one measure. Raises DataError when nothing was scored."""
    from leaderboard.stats import mean_intervals

    if not scored:
        raise DataError("no setting was scored")
    pairs = _pairs(scored)
    found = mean_intervals(_right(scored, measure), clusters=pairs, seed=seed)[0]
    return Accuracy(len(scored), len(set(pairs)), found.estimate, found.low, found.high)


def difference(
    first: Sequence[Scored], second: Sequence[Scored], measure: str, *, seed: int = 0
) -> tuple[float, float, float]:
    """Accuracy of first minus second on the same settings, with a 95% interval over pairs.

    Raises DataError when the settings differ.
    """
    from leaderboard.stats import paired_difference

    if [s.setting for s in first] != [s.setting for s in second]:
        raise DataError("the two runs do not hold the same settings in the same order")
    found = paired_difference(
        _right(first, measure), _right(second, measure), clusters=_pairs(first), seed=seed
    )
    return found.difference, found.low, found.high


def _right(scored: Sequence[Scored], measure: str) -> list[float]:
    return [float(one.right[measure]) for one in scored]


def _pairs(scored: Sequence[Scored]) -> list[str]:
    return [f"{one.t} / {one.v}" for one in scored]


# Families of strata with their groups, in the order in which they are shown.
SIZES = ("below 0.2", "0.2 to 0.4", "0.4 and more")
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "strength": (),
    "feature size": SIZES,
    "kind": ("random", "popular", "adversarial", "unknown"),
}


def groups_of(
    strength: float, feature_size: float | None, kinds: Sequence[str]
) -> list[tuple[str, str]]:
    """Strata that a setting is in, as (family, group): Figures 4 and 8 of the paper."""
    groups = [("strength", f"{strength:g}")]
    if feature_size is not None:
        groups.append(("feature size", SIZES[(feature_size >= 0.2) + (feature_size >= 0.4)]))
    return groups + [("kind", kind) for kind in kinds]


def group_order(family: str, group: str) -> tuple[int, int, str]:
    """Where a group stands among all strata."""
    known = FAMILIES[family]
    place = known.index(group) if group in known else len(known)
    return list(FAMILIES).index(family), place, group


def strata(scored: Sequence[Scored]) -> dict[str, dict[str, list[Scored]]]:
    """Settings by strength, by size of the feature and by sampling kind (Figures 4 and 8)."""
    by: dict[str, dict[str, list[Scored]]] = {family: {} for family in FAMILIES}
    for one in scored:
        for family, group in groups_of(one.strength, one.feature_size, one.kinds):
            by[family].setdefault(group, []).append(one)
    return {
        family: dict(sorted(groups.items(), key=lambda one: group_order(family, one[0])))
        for family, groups in by.items()
    }


def table(scored: Sequence[Scored]) -> list[str]:
    """Lines of text: every measure with its interval, then the strata for "both"."""
    lines = []
    for measure in MEASURES:
        a = accuracy(scored, measure)
        lines.append(
            f"{measure:7} {100 * a.share:5.1f}  [{100 * a.low:5.1f}, {100 * a.high:5.1f}]  "
            f"{a.n} settings of {a.n_pairs} pairs"
        )
    for name, groups in strata(scored).items():
        for group, members in groups.items():
            shares = [
                f"{measure} {100 * accuracy(members, measure).share:.1f}" for measure in MEASURES
            ]
            lines.append(f"{name} {group} (n = {len(members)}): {', '.join(shares)}")
    return lines
