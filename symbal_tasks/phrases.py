"""Names of visual features: how a sentence says them, and whether a text mentions them."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from wordsight.errors import DataError


@dataclass(frozen=True)
class Name:
    """A COCO category: ``phrase`` overrides the indefinite article ("a pair of skis")."""

    name: str
    phrase: str
    synonyms: tuple[str, ...]


@lru_cache(maxsize=1)
def coco_names() -> Mapping[str, Name]:
    """The 80 COCO categories with our own list of everyday synonyms, by category name."""
    text = (files("symbal_tasks") / "data" / "coco_names.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        row["name"]: Name(
            row["name"], row["phrase"], tuple(s for s in row["synonyms"].split("|") if s)
        )
        for row in rows
    }


def with_article(name: str) -> str:
    """ "umbrella" -> "an umbrella", "skis" -> "a pair of skis", "broccoli" -> "some broccoli"."""
    known = coco_names().get(name)
    if known and known.phrase:
        return known.phrase
    return str(_inflect().a(name))


@lru_cache(maxsize=65536)  # the judge asks for the same plurals again and again
def plural(name: str) -> str:
    """English plural of the last word of a name: "wine glass" -> "wine glasses"."""
    return str(_inflect().plural_noun(name))


def same_noun(first: str, second: str) -> bool:
    """Whether two nouns are equal up to case and number."""
    first, second = first.lower(), second.lower()
    return first == second or plural(first) == second or first == plural(second)


@lru_cache(maxsize=4096)
def mention_pattern(name: str, synonyms: bool = False) -> re.Pattern[str]:
    """Pattern that finds a name in a text, singular or plural, and its synonyms if asked."""
    words = {name}
    if synonyms and name in coco_names():
        words.update(coco_names()[name].synonyms)
    forms = {form for word in words for form in (word, plural(word))}
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def templates() -> tuple[str, ...]:
    """The 50 sentences that carry an injected object. Raises DataError when one has no slot."""
    text = (files("symbal_tasks") / "data" / "templates.txt").read_text(encoding="utf-8")
    lines = tuple(line for line in text.splitlines() if line and not line.startswith("#"))
    for line in lines:
        if ("{a}" in line) + ("{A}" in line) != 1:
            raise DataError(f"templates.txt: {line!r} must hold {{a}} or {{A}} exactly once")
    return lines


def template_sentences(name: str) -> tuple[str, ...]:
    """The 50 templates filled with one name, articles and plurals right."""
    phrase = with_article(name)
    capital = phrase[0].upper() + phrase[1:]
    return tuple(line.replace("{a}", phrase).replace("{A}", capital) for line in templates())


@lru_cache(maxsize=1)
def _inflect():  # type: ignore[no-untyped-def]
    import inflect

    return inflect.engine()
