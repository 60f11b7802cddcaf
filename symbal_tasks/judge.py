"""Whether a predicted name means the true one: offline rules, or a language model (Appendix B)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from symbal_tasks.backends import ChatModel, Request, read_digit
from symbal_tasks.phrases import coco_names, same_noun
from symbal_tasks.prompts import JUDGE
from wordsight.errors import DataError

_LEADING = re.compile(
    r"^(?:an?|the|some|one|two|three|several|many|pairs? of|pieces? of|groups? of|presence of)\s+"
)
# What follows one of these says where or how, not what.
_TAIL = re.compile(r"\s+(?:on|in|at|near|with|of|by|under|behind|beside|from|that|which)\s.*$")


class Judge(Protocol):
    """Verdicts on pairs of phrases."""

    @property
    def name(self) -> str:
        """What enters cache keys and traces."""
        ...

    def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """For each (said, truth), whether both name the same thing."""
        ...


@dataclass(frozen=True)
class OfflineJudge:
    """Equal up to case, article and number, or in one list of synonyms.

    A longer phrase counts when its head is the name ("a white surfboard on the sand"), unless the
    phrase is itself another known name ("hot dog" is no dog). ``synsets`` maps a word to the
    WordNet noun synsets it is in; without it only the list for COCO's names is used.
    """

    synsets: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """Says whether WordNet took part."""
        return "offline-1+wordnet" if self.synsets else "offline-1"

    def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Verdicts, in order."""
        return [self._one(normal(said), normal(truth)) for said, truth in pairs]

    def _one(self, said: str, truth: str) -> bool:
        if not said:
            return False
        if self._equal(said, truth):
            return True
        known = _identities(said)
        if known:
            return truth in known
        body = _TAIL.sub("", said).split()
        # every ending of the phrase, longest first: "white wine glass" -> "wine glass" -> "glass"
        for start in range(len(body)):
            head = " ".join(body[start:])
            if self._equal(head, truth):
                return True
            if _identities(head):
                return False
        return False

    def _equal(self, said: str, truth: str) -> bool:
        if same_noun(said, truth) or truth in _identities(said):
            return True
        key, other = said.replace(" ", "_"), truth.replace(" ", "_")
        return bool(self.synsets.get(key, frozenset()) & self.synsets.get(other, frozenset()))


@dataclass(frozen=True)
class ModelJudge:
    """A language model says 1 or 0; an answer that is neither counts as "not the same"."""

    model: ChatModel

    @property
    def name(self) -> str:
        """Model and prompt version."""
        return f"judge({self.model.name}, {JUDGE.version})"

    def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Verdicts, in order."""
        requests = [Request(JUDGE.fill(said=said, truth=truth)) for said, truth in pairs]
        replies = self.model.reply(requests, max_tokens=2)
        return [(read_digit(reply) or 0.0) > 0.5 for reply in replies]


@dataclass(frozen=True)
class Agreement:
    """How often two judges agree, and Cohen's kappa (None where one of them never varies)."""

    n: int
    share: float
    kappa: float | None


def agreement(first: Sequence[bool], second: Sequence[bool]) -> Agreement:
    """Agreement of two lists of verdicts. ValueError when they differ in length or are empty."""
    if len(first) != len(second) or not first:
        raise ValueError(f"{len(first)} and {len(second)} verdicts cannot be compared")
    n = len(first)
    share = sum(a == b for a, b in zip(first, second, strict=True)) / n
    yes_a, yes_b = sum(first) / n, sum(second) / n
    chance = yes_a * yes_b + (1 - yes_a) * (1 - yes_b)
    kappa = (share - chance) / (1 - chance) if chance < 1 else None
    return Agreement(n, share, kappa)


def normal(phrase: str) -> str:
    """Lower case, plain spaces, no punctuation at the ends, no leading article or count."""
    text = re.sub(r"[\s_-]+", " ", phrase.lower()).strip(" .,:;\"'*()")
    while (shorter := _LEADING.sub("", text)) != text:
        text = shorter
    return text


def wordnet_nouns(folder: Path) -> dict[str, frozenset[str]]:
    """Noun synsets of every word, from WordNet's ``data.noun``. DataError when it is not there."""
    path = folder / "data.noun"
    if not path.is_file():
        raise DataError(f"{path}: no such file; name the folder that holds WordNet's data.noun")
    found: dict[str, set[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            continue
        fields = line.split(" ")
        for k in range(int(fields[3], 16)):
            found.setdefault(fields[4 + 2 * k].lower(), set()).add(fields[0])
    return {word: frozenset(synsets) for word, synsets in found.items()}


@lru_cache(maxsize=65536)
def _identities(phrase: str) -> frozenset[str]:
    """COCO names that a phrase is, by name or synonym."""
    return frozenset(
        name
        for name, entry in coco_names().items()
        if any(same_noun(phrase, word) for word in (name, *entry.synonyms))
    )
