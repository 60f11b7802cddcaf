"""Lexicons by name. A new lexicon is one module and one line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sage_tasks.lexicons.base import Gloss, Lexicon
from sage_tasks.lexicons.lemmas import Lemmatised
from wordsight.errors import WordsightError

NONE = "none"


class Combined:
    """Several lexicons as one: their glosses one after the other."""

    def __init__(self, lexicons: Sequence[Lexicon]) -> None:
        self._lexicons = lexicons
        self.name = "+".join(lexicon.name for lexicon in lexicons)

    def lookup(self, term: str, pos: str = "") -> list[Gloss]:
        """Glosses of every lexicon, in the order in which they were named."""
        return [gloss for lexicon in self._lexicons for gloss in lexicon.lookup(term, pos)]


def _wordnet(file: Path | None) -> Lexicon:
    from sage_tasks.lexicons.wordnet import WordNet, find_wordnet

    return WordNet(file) if file else find_wordnet()


def _ontonotes(file: Path | None) -> Lexicon:
    from sage_tasks.lexicons.ontonotes import OntoNotes

    if file is None:
        raise WordsightError(
            "lexicon ontonotes needs ontonotes=FILE (verse_visualness_labels.csv of VerSe)"
        )
    return OntoNotes(file)


def _wikidata(file: Path | None) -> Lexicon:
    from sage_tasks.lexicons.wikidata import WikidataApi, WikidataDump

    return WikidataDump(file) if file else WikidataApi()


def _babelnet(_: Path | None) -> Lexicon:
    from sage_tasks.lexicons.babelnet import BabelNet

    return BabelNet()


LEXICONS: dict[str, Callable[[Path | None], Lexicon]] = {
    "wordnet": _wordnet,
    "ontonotes": _ontonotes,
    "wikidata": _wikidata,
    "babelnet": _babelnet,
}


def open_lexicon(names: str, **files: str | Path | None) -> Lexicon | None:
    """The lexicons in ``names`` ("wordnet+wikidata"), each asked by every form of a term.

    files : path by lexicon name, where it has one. "none" gives None: no retrieval.
    """
    if names == NONE:
        return None
    wanted = names.split("+")
    unknown = [name for name in wanted if name not in LEXICONS]
    if unknown:
        raise WordsightError(
            f"unknown lexicon {unknown[0]!r}; choose from {', '.join(LEXICONS)} or {NONE}"
        )
    paths = {name: Path(path).expanduser() for name, path in files.items() if path}
    opened = [Lemmatised(LEXICONS[name](paths.get(name))) for name in wanted]
    return opened[0] if len(opened) == 1 else Combined(opened)
