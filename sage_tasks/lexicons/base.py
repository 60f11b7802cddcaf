"""What every lexicon gives: the glosses of a term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Gloss:
    """One meaning of a term. ``key`` is the sense's id inside ``source``."""

    source: str
    key: str
    text: str


class Lexicon(Protocol):
    """A source of candidate glosses (SAGE, section 4.1)."""

    @property
    def name(self) -> str:
        """Short name, as written into results."""
        ...

    def lookup(self, term: str, pos: str = "") -> list[Gloss]:
        """Glosses of ``term``, most usual first; ``pos`` is "n", "v", "a", "r" or "" for any."""
        ...
