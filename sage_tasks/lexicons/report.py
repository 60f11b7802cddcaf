"""Table 15 from source files: how much a lexicon knows of the test items' targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sage_tasks.lexicons.base import Lexicon
from sage_tasks.lexicons.coverage import PAPER, Coverage, measure
from sage_tasks.lexicons.registry import LEXICONS, Combined, open_lexicon
from wordsight.errors import WordsightError


@dataclass(frozen=True)
class Line:
    """One subset under one lexicon, beside the paper's figures where it has them."""

    lexicon: str
    subset: str
    coverage: Coverage
    paper: tuple[float, float] | None

    def as_text(self) -> str:
        """One line for a terminal."""
        c = self.coverage
        text = (
            f"{self.lexicon} {self.subset}: {c.items} items, coverage {c.percent:.2f}%, "
            f"mean ambiguity {c.ambiguity:.2f}"
        )
        if self.paper is None:
            return text
        percent, ambiguity = self.paper
        return (
            f"{text} (paper {percent:.2f}%, {ambiguity:.2f}; gap {c.percent - percent:+.2f}, "
            f"{c.ambiguity - ambiguity:+.2f})"
        )

    def as_json(self) -> dict[str, Any]:
        """JSON values."""
        c = self.coverage
        return {**asdict(self), "percent": c.percent, "ambiguity": c.ambiguity}


def table_15(
    lexicon: str,
    *,
    vwsd: Path | None = None,
    verse: Path | None = None,
    ontonotes: Path | None = None,
    wikidata: Path | None = None,
    forms: bool = False,
) -> list[Line]:
    """Coverage over the test items of each subset given, all parts of speech.

    forms : ask every form of a target (:mod:`sage_tasks.lexicons.lemmas`), as GAR does.
    """
    files = {"ontonotes": ontonotes, "wikidata": wikidata}
    opened = open_lexicon(lexicon, **files) if forms else _plain(lexicon, files)
    if opened is None:
        raise WordsightError("lexicon none has no coverage")
    subsets = {"vwsd": _vwsd_terms(vwsd) if vwsd else None, "verse": _verse_terms(verse)}
    return [
        Line(
            lexicon=f"{lexicon}{' (all forms)' if forms else ''}",
            subset=subset,
            coverage=measure(terms, _counter(opened)),
            paper=PAPER.get((lexicon, subset)),
        )
        for subset, terms in subsets.items()
        if terms
    ]


def _plain(lexicon: str, files: dict[str, Path | None]) -> Lexicon | None:
    names = lexicon.split("+")
    if any(name not in LEXICONS for name in names):
        return open_lexicon(lexicon)
    opened = [LEXICONS[name](files.get(name)) for name in names]
    return opened[0] if len(opened) == 1 else Combined(opened)


def _counter(lexicon: Lexicon) -> Callable[[str], int]:
    # Ambiguity needs no glosses: where ids alone can be had, one request is enough.
    ids = getattr(lexicon, "synset_ids", None)
    if ids is not None:
        return lambda term: len(ids(term))
    return lambda term: len(lexicon.lookup(term))


def _vwsd_terms(folder: Path) -> list[str]:
    from sage_tasks.build.vwsd import read_vwsd

    items = read_vwsd(folder, pictures=False).items
    return [item.term for item, _, _ in items if item.split == "test"]


def _verse_terms(annotations: Path | None) -> list[str]:
    if annotations is None:
        return []
    from sage_tasks.build.plan import Planned
    from sage_tasks.build.verse import read_verse

    plan = read_verse(annotations).plan(lambda name: name)
    return [p.item.term for p in plan if isinstance(p, Planned) and p.item.split == "test"]
