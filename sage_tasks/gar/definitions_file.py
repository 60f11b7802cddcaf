"""Definitions exported to a file, so that two labs rank with the same words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sage_tasks.gar.records import ItemText
from sage_tasks.gar.texts import Key
from sage_tasks.gar.trace import WITHHELD
from sage_tasks.package import read_jsonl
from wordsight.errors import DataError


def read_definitions(path: Path) -> dict[Key, ItemText]:
    """Texts by (term, context, pos). Raises DataError naming file, line and field."""
    if not path.is_file():
        raise DataError(f"{path}: no such definitions file")
    texts: dict[Key, ItemText] = {}
    for number, text in enumerate(read_jsonl(path, ItemText), 1):
        if text.key in texts:
            raise DataError(f"{path}: line {number}: {text.key[0]!r} in {text.key[1]!r} again")
        texts[text.key] = text
    return texts


def write_definitions(texts: Iterable[ItemText], path: Path) -> tuple[int, int]:
    """Write each distinct text as one JSON line; returns how many were written and left out.

    Left out are items whose words repeat a gloss that may not be passed on. Raises DataError when
    one item has two texts: they come from different runs.
    """
    by_key: dict[Key, ItemText] = {}
    for text in texts:
        known = by_key.setdefault(text.key, text)
        if known != text:
            raise DataError(
                f"{text.term!r} in {text.context!r} has two different texts; export one run"
            )
    kept = [text for text in by_key.values() if not _repeats_withheld(text)]
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [text.model_dump_json() + "\n" for text in kept]
    path.write_text("".join(lines), encoding="utf-8")
    return len(kept), len(by_key) - len(kept)


def _repeats_withheld(text: ItemText) -> bool:
    return WITHHELD in text.model_dump_json(exclude={"glosses"})
