"""VerSe's annotation and definition files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sage_tasks.build.plan import Skipped
from sage_tasks.build.text import clean, read_table
from wordsight.errors import DataError

NO_SENSE = "-1"


@dataclass(frozen=True)
class Row:
    """A line of the annotation file: this picture shows this sense of this verb."""

    verb: str
    sense: str
    picture: str
    where: str

    @property
    def split(self) -> str:
        """Split of the picture in COCO 2014, by the benchmark's names."""
        return "train" if "train2014" in self.picture else "test"


def read_rows(path: Path) -> tuple[list[Row], list[Skipped], dict[str, object]]:
    """Rows on COCO pictures with a sense, the rows left out, and counts.

    Raises DataError when a column is missing or no row is left.
    """
    rows: list[Row] = []
    dropped: list[Skipped] = []
    seen: set[tuple[str, str]] = set()
    table = read_table(path, {"lemma", "image", "sense_chosen"}, ",")
    for line, cells in table:
        verb, picture = clean(cells["lemma"]), clean(cells["image"])
        sense, where = clean(cells["sense_chosen"]), f"{path.name}:{line}"
        if not picture.startswith("COCO_"):
            dropped.append(Skipped("row", "not a COCO picture, so without captions", where))
        elif sense == NO_SENSE:
            dropped.append(Skipped("row", "no sense fits (-1)", where, f"{verb} {picture}"))
        elif (verb, picture) in seen:
            dropped.append(Skipped("row", "the verb and picture stand twice", where, picture))
        else:
            seen.add((verb, picture))
            rows.append(Row(verb, sense, picture, where))
    if not rows:
        raise DataError(f"{path}: no row has a COCO picture and a sense")
    origins = Counter("COCO" if r["image"].startswith("COCO_") else "other" for _, r in table)
    facts: dict[str, object] = {
        "rows": len(table),
        "rows_on_coco_pictures": origins["COCO"],
        "verbs": len({row.verb for row in rows}),
        "verb_senses": len({(row.verb, row.sense) for row in rows}),
    }
    return rows, dropped, facts


def read_definitions(path: Path) -> dict[tuple[str, str], str]:
    """(verb, sense) -> OntoNotes definition, from ``verse_visualness_labels.csv``."""
    definitions: dict[tuple[str, str], str] = {}
    for _, cells in read_table(path, {"lemma", "sense_num", "definition"}, "\t"):
        key = clean(cells["lemma"]), clean(cells["sense_num"])
        # (break, 3) stands twice; the first line is kept
        definitions.setdefault(key, " ".join(clean(cells["definition"]).split()))
    return definitions
