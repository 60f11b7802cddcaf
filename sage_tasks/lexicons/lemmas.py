"""Forms under which a lexicon may list a target: lemma, other spelling, without possessive.

Targets come as they stand in a caption or a headline: plural, inflected, hyphenated, in curly
quotes, with accents that the lexicon leaves out. Forms are tried from the most faithful on; the
first that the lexicon knows is taken, so a form too many does no harm.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import product

from sage_tasks.lexicons.base import Gloss, Lexicon
from sage_tasks.lexicons.wordnet import DETACHMENTS

# By code point: the characters themselves look like the plain ones.
_APOSTROPHES = dict.fromkeys((0x2019, 0x2018, 0x02BC, 0x0060, 0x00B4), "'")
_HYPHENS = dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212), "-")
_POSSESSIVE = re.compile(r"(?<=\w)(?:'s|(?<=s)')(?=\s|$)")
_DOUBLED = re.compile(r"([bdfgklmnprtvz])\1$")
_MOST_WORDS = 6
# WordNet lists these as irregular; other lexicons have no such list.
_MORE_ENDINGS = {"v": (("ied", "y"),)}


class Lemmatised:
    """A lexicon that is asked for each form of a term until it knows one."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self.name = lexicon.name

    def lookup(self, term: str, pos: str = "") -> list[Gloss]:
        """Glosses under the first form that has any."""
        for form in forms(term, pos):
            if found := self._lexicon.lookup(form, pos):
                return found
        return []


def forms(term: str, pos: str = "") -> Iterator[str]:
    """Distinct forms of a term, the term itself first.

    pos : "v" inflects the first word of several ("looked after"), anything else the last ("prime
        ministers"); single words get the endings of their part of speech.
    """
    seen: set[str] = set()
    for form in _forms(term, pos):
        if form and form not in seen:
            seen.add(form)
            yield form


def _forms(term: str, pos: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFC", term).translate(_APOSTROPHES).translate(_HYPHENS)
    plain = " ".join(plain.split())
    yield plain
    spellings = list(dict.fromkeys(_spellings(plain)))
    yield from spellings
    for spelling in spellings:
        yield from _inflected(spelling, pos)


def _spellings(plain: str) -> Iterator[str]:
    without = _POSSESSIVE.sub("", plain)
    folded = [_fold(text) for text in (plain, without)]
    for text in (plain, without, *folded):
        yield text
        if "-" in text:
            yield text.replace("-", " ")
            yield text.replace("-", "")
        if " " in text:
            yield text.replace(" ", "-")


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _inflected(text: str, pos: str) -> Iterator[str]:
    words = text.split(" ")
    if len(words) > _MOST_WORDS:
        return
    if len(words) == 1:
        yield from _bases(text, pos)
    elif pos == "v":
        yield from (" ".join([base, *words[1:]]) for base in _bases(words[0], "v"))
    else:
        yield from (" ".join([*words[:-1], base]) for base in _bases(words[-1], "n"))
        # "secretaries of state", "brothers in arms"
        choices = [[word, *_bases(word, "n")] for word in words[:-1]]
        yield from (" ".join([*head, words[-1]]) for head in product(*choices))


def _bases(word: str, pos: str) -> Iterator[str]:
    for part in pos or "nv":
        for old, new in (*DETACHMENTS.get(part, ()), *_MORE_ENDINGS.get(part, ())):
            lower = word.lower()
            if lower.endswith(old) and len(word) > len(old) + 1:
                stem = word[: len(word) - len(old)]
                yield stem + new
                if part == "v" and old in ("ed", "ing") and not new and _DOUBLED.search(stem):
                    yield stem[:-1]
