"""VerSe's OntoNotes sense definitions (``verse_visualness_labels.csv``, CC BY 4.0)."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from pathlib import Path

from sage_tasks.build.text import clean, read_table
from sage_tasks.lexicons.base import Gloss


class OntoNotes:
    """Definitions of verb senses, by lemma, in the order of the file."""

    name = "ontonotes"

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _glosses(self) -> dict[str, list[Gloss]]:
        glosses: dict[str, dict[str, Gloss]] = defaultdict(dict)
        for _, cells in read_table(self._path, {"lemma", "sense_num", "definition"}, "\t"):
            lemma, number = clean(cells["lemma"]), clean(cells["sense_num"])
            text = " ".join(clean(cells["definition"]).split())
            if lemma and text:
                # (break, 3) stands twice in the file; the first definition is kept
                key = f"{lemma}.{number}"
                glosses[lemma.lower()].setdefault(key, Gloss("ontonotes", key, text))
        return {lemma: list(senses.values()) for lemma, senses in glosses.items()}

    def lookup(self, term: str, pos: str = "") -> list[Gloss]:
        """Senses of a verb lemma; nothing for another part of speech.

        Raises DataError when the file is missing or is another file.
        """
        if pos not in ("", "v"):
            return []
        return list(self._glosses.get(" ".join(term.lower().split()), []))
