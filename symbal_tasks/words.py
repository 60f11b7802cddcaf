"""Words of a caption that may name something visible."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

_FUNCTION = """
a about above across after against all along also among an and another any are around as at away
back be because been before behind being below beneath beside besides between big both bunch but
by can close come completes composition could couple did different do does down during each edge
either else every everything few find five for four from front full get gets go goes going group
had has have having he her here hers him his how i if in inside into is it its itself just kind
large left less like little look looks lot lots made make makes many me middle more most much my
near nearby next no not now of off on one only onto or other others our out outside over own
pair part past picture piece pieces put rather right same seen set several she should show shows
side sides six small so some something such take taken than that the their them then there these
they thing things this those three through to together too top toward towards two type under
until up upon us use using various very via was we well were what when where which while who
whom why will with within without would you your
"""
_CAPTION = """
able am appears area background bottom camera capture captured catches caught clearly closely
closer contains corner covered depicted depicts detail display displayed easy eating eye far
features filled foreground found frame frames holding image images includes laying looking lying
main notice occupies one's parked photo photograph photographs photos picture pictured pictures
placed playing posing present rest rests reveals riding scene scenes see seen sees setting
shares shot shots showing shown sit sits sitting snapshot someone somewhere spot stand standing
stands subject take unable view viewed viewer views visible walking wearing
"""
_STOP = frozenset((_FUNCTION + _CAPTION).split())
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")


def content_words(text: str) -> list[str]:
    """Lower-case singular words in order, without function words and what captions say anyway."""
    return [word for run in content_runs(text) for word in run]


@lru_cache(maxsize=1 << 18)  # settings of one benchmark share nearly all their sentences
def content_runs(text: str) -> tuple[tuple[str, ...], ...]:
    """Maximal runs of neighbouring content words, each singular: "a hot dog" -> (("hot", "dog"),).

    Neighbours in a run may form a phrase; words with a function word between them may not.
    """
    runs: list[list[str]] = [[]]
    end = 0
    for match in _WORD.finditer(text):
        if re.search(r"[^\s]", text[end : match.start()]):
            runs.append([])
        end = match.end()
        word = match.group(0).lower().replace("\u2019", "'").removesuffix("'s")
        if word in _STOP or len(word) < 2:
            runs.append([])
        else:
            runs[-1].append(singular(word))
    return tuple(tuple(run) for run in runs if run)


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """Singular of a noun by its ending; words that only look plural ("bus", "grass") stay."""
    for ending, replacement in (
        ("men", "man"),
        ("children", "child"),
        ("people", "person"),
        ("knives", "knife"),
        ("shelves", "shelf"),
        ("leaves", "leaf"),
        ("mice", "mouse"),
        ("geese", "goose"),
        ("sheep", "sheep"),
        ("skis", "skis"),
        ("scissors", "scissors"),
    ):
        if word.endswith(ending):
            return word.removesuffix(ending) + replacement
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if re.search(r"(?:ches|shes|sses|xes|buses|zzes)$", word):
        return word[:-2]
    if word.endswith("s") and not re.search(r"(?:ss|us|is|ous|as)$", word) and len(word) > 3:
        return word[:-1]
    return word


def phrases(text: str) -> set[str]:
    """Candidate names in a text: content words, and two of them side by side."""
    found: set[str] = set()
    for run in content_runs(text):
        found.update(run)
        found.update(f"{first} {second}" for first, second in pairwise(run))
    return found
