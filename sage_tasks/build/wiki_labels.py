"""WikiDiverse's test labels alone: enough to count, not to build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sage_tasks.build import published
from sage_tasks.build.folders import find_files
from sage_tasks.build.plan import Skipped
from sage_tasks.build.report import skipped_summary
from sage_tasks.build.text import read_json
from sage_tasks.build.wiki_names import entity_title
from sage_tasks.build.wikidiverse import SPLIT_FILES
from wordsight.errors import DataError

LABELS = "WikiDiverse_testset_label.json"


def label_report(source: Path, seed: int = 0) -> dict[str, Any] | None:
    """Dry-run report over a folder that has the test labels but not the files with candidates.

    The labels map a mention's number to a title or "nil". Returns None for any other folder.
    """
    candidates = [f"{stem}_w_10cands.json" for stem in SPLIT_FILES]
    places = find_files(source, [LABELS, *candidates])
    paths = places[LABELS]
    if not paths or any(places[name] for name in candidates):
        return None
    labels = read_json(paths[0])
    if not isinstance(labels, dict):
        raise DataError(f"{paths[0]}: not an object of mention numbers and titles")
    titles = {number: entity_title(str(label)) for number, label in labels.items()}
    nil = [
        Skipped("row", "NIL: the mention has no entity", f"{paths[0].name}: key {number}")
        for number, title in titles.items()
        if not title
    ]
    linked = len(titles) - len(nil)
    paper = published.ITEMS["wikidiverse"]["test"]
    return {
        "dataset": "wikidiverse",
        "dry_run": True,
        "seed": seed,
        "configs": {},
        "negatives": {},
        "lexicons": {},
        "tags": {},
        "facts": {
            "labels": len(titles),
            "nil": len(nil),
            "linked": linked,
            "distinct_entities": len(set(filter(None, titles.values()))),
            "paper_items": paper,
            "linked_minus_paper": linked - paper,
        },
        "notes": [
            f"dropping NIL leaves {linked} mentions, {linked - paper} more than the paper's "
            f"{paper}; a mention whose entity has no usable picture is dropped as well, which the "
            "labels alone do not tell: build from test_w_10cands.json and "
            "wikipedia_entity2imgs.tsv to see which ones"
        ],
        "skipped": skipped_summary(nil),
    }
