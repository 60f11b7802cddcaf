"""Drawing a sample for human annotators: a page with the pictures, sheets to fill in, a key."""

from __future__ import annotations

import csv
import hashlib
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Literal

from sage_tasks.package import Package
from sage_tasks.records import CANDIDATES, Query
from wordsight.errors import DataError

Kind = Literal["choice", "plausible", "errors"]
COLUMNS = ("item", "subset", "term", "context", "text", "answer", "category", "note")
KEY = "key.json"
LONGEST_SIDE = 384  # pixels on the page

# Mismatch categories of Tables 12 and 13, error categories of Table 9.
CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "verse": (
        "caption-specific vs. sense-level match",
        "competing sense or event cue",
        "several plausible realizations of the sense",
        "weak or ambiguous visual evidence",
    ),
    "wikidiverse": (
        "fine-grained knowledge needed",
        "benchmark label ambiguous",
        "representation ambiguous",
    ),
    "errors": (
        "upstream semantic or referent",
        "decomposition drift",
        "cross-axis conflict",
        "non-discriminative constraint",
        "visual verification",
    ),
}


@dataclass(frozen=True)
class Part:
    """The items drawn from one subset."""

    subset: str
    package: Package
    queries: tuple[Query, ...]


@dataclass(frozen=True)
class Sheet:
    """What annotators are asked about. ``texts`` are definitions to judge, by item id."""

    kind: Kind
    parts: tuple[Part, ...]
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers on offer."""
        if self.kind == "choice":
            return tuple(str(n) for n in range(1, CANDIDATES + 1))
        return ("yes", "no") if self.kind == "plausible" else ()

    def categories(self, subset: str) -> tuple[str, ...]:
        """The categories on offer; empty where the paper has none."""
        if self.kind == "plausible":
            return ()
        family = subset.partition("_")[0]
        return CATEGORIES.get("errors" if self.kind == "errors" else family, ())

    @property
    def items(self) -> list[tuple[Part, Query]]:
        """All items with their part, in the order shown."""
        return [(part, query) for part in self.parts for query in part.queries]


def draw(
    queries: Sequence[Query], number: int, seed: int, among: Iterable[str] | None = None
) -> tuple[Query, ...]:
    """``number`` queries at random, in the dataset's order.

    among : ids to draw from, for a sample of errors or of items with a definition. Each query's
    place in the lottery depends on its id and the seed alone. Raises DataError when there are too
    few.
    """
    allowed = None if among is None else set(among)
    pool = [query for query in queries if allowed is None or query.id in allowed]
    if len(pool) < number:
        raise DataError(f"only {len(pool)} items to draw {number} from")
    lottery = sorted(pool, key=lambda q: hashlib.sha256(f"{seed} {q.id}".encode()).digest())
    chosen = {query.id for query in lottery[:number]}
    return tuple(query for query in pool if query.id in chosen)


def write_sample(sheet: Sheet, out: Path, annotators: int) -> None:
    """Write the page with its pictures, one CSV per annotator, and the key with the gold.

    Annotators get the folder without ``key.json``. Raises DataError when ``out`` is not empty.
    """
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: not empty; annotations may be in it, name another folder")
    (out / "pictures").mkdir(parents=True)
    shown: dict[str, list[str]] = {}
    for number, (part, query) in enumerate(sheet.items, 1):
        shown[query.id] = []
        for place, image_id in enumerate(query.candidates, 1):
            name = f"pictures/{number:03d}-{place:02d}.jpg"
            picture = part.package.picture(image_id)
            picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            picture.save(out / name, quality=90)
            shown[query.id].append(name)
    for number in range(1, annotators + 1):
        _write_csv(out / f"annotator_{number}.csv", sheet)
    (out / "page.html").write_text(_page(sheet, shown), encoding="utf-8")
    key = {
        "kind": sheet.kind,
        "answers": len(sheet.answers),
        "gold": {q.id: str(q.gold + 1) for _, q in sheet.items} if sheet.kind == "choice" else {},
        "items": {part.subset: [query.id for query in part.queries] for part in sheet.parts},
    }
    (out / KEY).write_text(json.dumps(key, indent=1) + "\n", encoding="utf-8")


def _write_csv(path: Path, sheet: Sheet) -> None:
    # A byte-order mark, without which spreadsheet programs misread accents.
    with path.open("w", newline="", encoding="utf-8-sig") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        for part, query in sheet.items:
            writer.writerow(
                {
                    "item": query.id,
                    "subset": part.subset,
                    "term": query.term,
                    "context": query.context,
                    "text": sheet.texts.get(query.id, ""),
                }
            )


def _page(sheet: Sheet, shown: Mapping[str, Sequence[str]]) -> str:
    template = Template((files("sage_tasks") / "sample_page.html").read_text(encoding="utf-8"))
    items = [
        {
            "item": query.id,
            "subset": part.subset,
            "term": query.term,
            "context": query.context,
            "text": sheet.texts.get(query.id, ""),
            "pictures": shown[query.id],
            "categories": sheet.categories(part.subset),
        }
        for part, query in sheet.items
    ]
    data = {"items": items, "answers": sheet.answers}
    subsets = ", ".join(part.subset for part in sheet.parts)
    return template.substitute(
        title=html.escape(f"Sample of {subsets}: {len(items)} items"),
        # "<" would end the script element inside a context
        data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
        columns=json.dumps(COLUMNS),
    )


def read_sheet(path: Path, items: Iterable[str]) -> list[dict[str, str]]:
    """Rows of a filled-in CSV. Raises DataError for missing columns or items of another sample."""
    from sage_tasks.build.text import read_table

    text = path.read_text(encoding="utf-8-sig")
    delimiter = ";" if ";" in text.split("\n", 1)[0] else ","
    rows = [row for _, row in read_table(path, {"item", "answer", "category"}, delimiter)]
    unknown = sorted({row["item"] for row in rows} - set(items))
    if unknown:
        raise DataError(f"{path}: item {unknown[0]} is not in this sample's key")
    cleaned: list[dict[str, str]] = [
        {key: value.strip() for key, value in row.items()} for row in rows
    ]
    return cleaned


def check_answers(rows: Sequence[Mapping[str, Any]], offered: int, path: Path) -> None:
    """Raise DataError naming the item of an answer that was not on offer."""
    valid = {str(n) for n in range(1, CANDIDATES + 1)} if offered == CANDIDATES else {"yes", "no"}
    for row in rows:
        answer = row["answer"].lower()
        if offered and answer and answer not in valid:
            raise DataError(
                f"{path}: item {row['item']}: answer {row['answer']!r} is none of "
                f"{', '.join(sorted(valid, key=lambda a: (len(a), a)))}"
            )
