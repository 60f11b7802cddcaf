"""The words of an item, step by step: glosses, definition, constraints."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sage_tasks.gar.constraints import decompose
from sage_tasks.gar.definition import define
from sage_tasks.gar.records import Constraint, Definition, ItemText, total_faults
from sage_tasks.gar.text_models import TextModel
from sage_tasks.lexicons.base import Gloss, Lexicon
from wordsight.errors import WordsightError

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Needs:
    """Which words a method uses."""

    lexical: bool
    generated: bool
    constraints: bool


class TextSource(Protocol):
    """Gives the words of items; ``seconds`` of each stage are added to the given table."""

    def texts(
        self, keys: Sequence[Key], needs: Needs, seconds: dict[str, float]
    ) -> list[ItemText]: ...


@dataclass
class WrittenTexts:
    """Texts written by a language model from a lexicon's glosses.

    most_glosses : the first so many glosses are shown, most usual first.
    per_axis : most constraints per axis.
    attempts : how often a reply that cannot be read is asked for in all.
    """

    model: TextModel
    lexicon: Lexicon | None
    most_glosses: int = 20
    per_axis: int = 3
    attempts: int = 2
    _made: dict[tuple[Key, Needs], ItemText] = field(default_factory=dict)

    def texts(self, keys: Sequence[Key], needs: Needs, seconds: dict[str, float]) -> list[ItemText]:
        """One text per (term, context, pos); each distinct one is made once."""
        todo = [key for key in dict.fromkeys(keys) if (key, needs) not in self._made]
        for key, text in zip(todo, self._make(todo, needs, seconds), strict=True):
            self._made[key, needs] = text
        return [self._made[key, needs] for key in keys]

    def faults(self) -> dict[str, int]:
        """What the texts made so far needed, summed over distinct items."""
        return total_faults(self._made.values())

    def _make(self, keys: Sequence[Key], needs: Needs, seconds: dict[str, float]) -> list[ItemText]:
        faults: list[dict[str, int]] = [{} for _ in keys]
        glosses: list[tuple[Gloss, ...]] = [()] * len(keys)
        lexical: list[Definition | None] = [None] * len(keys)
        generated: list[Definition | None] = [None] * len(keys)
        constraints: list[tuple[Constraint, ...]] = [()] * len(keys)
        if needs.lexical or needs.constraints:
            with _stage(seconds, "retrieval"):
                glosses = [self._glosses(term, pos) for term, _, pos in keys]
            with _stage(seconds, "definition"):
                items = [(k[0], k[1], g) for k, g in zip(keys, glosses, strict=True)]
                made = define(self.model, items, self.attempts, retrieval=True)
            lexical = [asked.value for asked in made]
            _count(faults, "definition", [asked.faults for asked in made])
        if needs.generated:
            with _stage(seconds, "definition"):
                plain = [(term, context, ()) for term, context, _ in keys]
                made = define(self.model, plain, self.attempts, retrieval=False)
            generated = [asked.value for asked in made]
            _count(faults, "generated", [asked.faults for asked in made])
        if needs.constraints:
            with _stage(seconds, "constraints"):
                pairs = [(k[0], d) for k, d in zip(keys, lexical, strict=True) if d is not None]
                split = decompose(self.model, pairs, self.per_axis, self.attempts)
            constraints = [asked.value for asked in split]
            _count(faults, "constraints", [asked.faults for asked in split])
        return [
            ItemText(
                term=key[0],
                context=key[1],
                pos=key[2],
                glosses=glosses[i],
                lexical=lexical[i],
                generated=generated[i],
                constraints=constraints[i],
                faults=faults[i],
            )
            for i, key in enumerate(keys)
        ]

    def _glosses(self, term: str, pos: str) -> tuple[Gloss, ...]:
        if self.lexicon is None:
            return ()
        return tuple(self.lexicon.lookup(term, pos))[: self.most_glosses]


@dataclass(frozen=True)
class GivenTexts:
    """Texts from an exported definitions file; nothing is looked up or written."""

    by_key: Mapping[Key, ItemText]
    where: str

    def texts(self, keys: Sequence[Key], needs: Needs, seconds: dict[str, float]) -> list[ItemText]:
        """The texts of the file. Raises WordsightError naming the first item it does not serve."""
        return [self._one(key, needs) for key in keys]

    def _one(self, key: Key, needs: Needs) -> ItemText:
        text = self.by_key.get(key)
        if text is None:
            raise WordsightError(
                f"{self.where}: no text for {key[0]!r} in {key[1]!r}; export the file from a run "
                "over all the tasks you evaluate (`wordsight definitions`)"
            )
        missing = [
            name
            for name, wanted, there in (
                ("definition from a lexicon", needs.lexical, text.lexical),
                ("definition without a lexicon", needs.generated, text.generated),
                ("constraints", needs.constraints, text.constraints),
            )
            if wanted and not there
        ]
        if missing:
            raise WordsightError(
                f"{self.where}: {key[0]!r} in {key[1]!r} has no {missing[0]}, which this method "
                "needs; export the file from a run with method=all"
            )
        return text


class _stage:  # noqa: N801  a context manager reads like a function
    def __init__(self, seconds: dict[str, float], name: str) -> None:
        self._seconds, self._name = seconds, name

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        spent = time.perf_counter() - self._started
        self._seconds[self._name] = self._seconds.get(self._name, 0.0) + spent


def _count(faults: list[dict[str, int]], step: str, found: Sequence[dict[str, int]]) -> None:
    for total, counts in zip(faults, found, strict=True):
        total.update({f"{step}.{name}": n for name, n in counts.items()})
