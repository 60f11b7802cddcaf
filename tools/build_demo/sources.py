"""Reading the packages that the pictures and the glosses come from."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wordsight.errors import DataError

CLIPART = Path("debian/usr/share/openclipart")
WORDNET = Path("debian/usr/share/wordnet")
FLUENT = Path("fluent/package/assets")
GOOGLE = Path("google/package")

PUBLIC_DOMAIN = "http://web.resource.org/cc/PublicDomain"
CC = "{http://web.resource.org/cc/}"
DC = "{http://purl.org/dc/elements/1.1/}"
RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"


@dataclass(frozen=True)
class SourcePicture:
    """A picture in a package. ``id`` is stable: file name, or code points of an emoji."""

    id: str
    slug: str
    path: Path
    source: str
    licence: str
    credit: str
    label: str


@dataclass(frozen=True)
class Sources:
    """Unpacked packages under one folder; see the module docstring of ``__main__``."""

    root: Path

    def find(self, entry: str) -> list[SourcePicture]:
        """All pictures that an entry of the curation list names. Raises DataError for none."""
        kind, _, name = entry.partition("/")
        found = self._emoji(name) if kind == "emoji" else [self._clipart(name)]
        # newer emoji are not in both drawing sets
        present = [picture for picture in found if picture.path.is_file()]
        if not present:
            raise DataError(f"{entry}: no file {found[0].path}; is the package unpacked there?")
        return present

    def gloss(self, synset: str) -> str:
        """Definition of a synset by its name ("bat.n.01"), without the examples."""
        lemma, pos, number = synset.rsplit(".", 2)
        index, glosses = self._wordnet[pos]
        try:
            return glosses[index[lemma][int(number) - 1]]
        except (KeyError, IndexError):
            raise DataError(f"{synset}: WordNet 3.0 has no such synset") from None

    def _emoji(self, name: str) -> list[SourcePicture]:
        try:
            entry = self._emoji_table[name]
        except KeyError:
            raise DataError(f"emoji/{name}: no emoji has this short name") from None
        image = Path(entry["image"])
        label = entry["name"].lower()
        slug = name.replace("_", "-")
        return [
            SourcePicture(
                id=f"fluent/{image.stem}",
                slug=f"fluent-{slug}",
                path=self.root / FLUENT / f"{image.stem}.webp",
                source="Fluent Emoji",
                licence="MIT",
                credit="Microsoft Corporation",
                label=label,
            ),
            SourcePicture(
                id=f"noto/{image.stem}",
                slug=f"noto-{slug}",
                path=self.root / GOOGLE / "img/google/64" / image,
                source="Noto Emoji",
                licence="Apache-2.0",
                credit="Google",
                label=label,
            ),
        ]

    def _clipart(self, name: str) -> SourcePicture:
        title, creator = clipart_metadata(self.root / CLIPART / "svg" / f"{name}.svg")
        stem = name.rsplit("/", 1)[-1]
        return SourcePicture(
            id=f"openclipart/{stem}",
            slug="openclipart-" + re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-"),
            path=self.root / CLIPART / "png" / f"{name}.png",
            source="Open Clip Art Library",
            licence="public domain",
            credit=creator,
            label=title.lower() or stem.replace("_", " ").strip(),
        )

    @cached_property
    def _emoji_table(self) -> dict[str, dict[str, str]]:
        path = self.root / GOOGLE / "emoji.json"
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: cannot be read ({error})") from None
        return {short: entry for entry in table for short in entry["short_names"]}

    @cached_property
    def _wordnet(self) -> dict[str, tuple[Mapping[str, list[str]], Mapping[str, str]]]:
        return {
            pos: read_wordnet(self.root / WORDNET, suffix)
            for pos, suffix in (("n", "noun"), ("v", "verb"))
        }


def clipart_metadata(svg: Path) -> tuple[str, str]:
    """Title and author from a clip art's own metadata.

    Raises DataError where the file does not itself say that it is in the public domain.
    """
    try:
        tree = ET.parse(svg)
    except (OSError, ET.ParseError) as error:
        raise DataError(f"{svg}: cannot be read ({error})") from None
    work = tree.find(f".//{CC}Work")
    licence = work.find(f"{CC}license") if work is not None else None
    if work is None or licence is None or licence.get(f"{RDF}resource") != PUBLIC_DOMAIN:
        raise DataError(f"{svg}: does not state that it is in the public domain: leave it out")
    return (
        " ".join((work.findtext(f"{DC}title") or "").split()),
        " ".join((work.findtext(f"{DC}creator/{CC}Agent/{DC}title") or "").split()),
    )


def read_wordnet(folder: Path, suffix: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Synset offsets of each lemma in the order of its senses, and the definition at each offset.

    The NLTK reader is not used because it also wants files that the Debian package does not hold.
    """
    index: dict[str, list[str]] = {}
    glosses: dict[str, str] = {}
    for line in _lines(folder / f"index.{suffix}"):
        lemma, _, _, pointers, *rest = line.split()
        index[lemma] = rest[int(pointers) + 2 :]
    for line in _lines(folder / f"data.{suffix}"):
        head, gloss = line.split(" | ", 1)
        glosses[head.split(" ", 1)[0]] = gloss.split('; "')[0].strip()
    return index, glosses


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="ascii")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error})") from None
    # lines of the licence at the top begin with a blank
    return [line for line in text.splitlines() if not line.startswith(" ")]
