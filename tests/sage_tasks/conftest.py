"""A small dataset folder with real picture files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from sage_tasks.records import item_id

Rows = list[dict[str, Any]]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A valid dataset: 12 pictures, two queries of config "toy"."""
    root = tmp_path / "dataset"
    (root / "images").mkdir(parents=True)
    (root / "toy").mkdir()
    images = []
    for i in range(12):
        path = root / "images" / f"p{i}.png"
        Image.new("RGB", (8, 6), (20 * i, 0, 255 - 20 * i)).save(path)
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        images.append(
            {"id": content, "source_id": f"p{i}", "width": 8, "height": 6, "file": path.name}
        )
    queries = [_query(images, "bat", "bat cave", 0), _query(images, "bat", "baseball bat", 2)]
    _write(root / "images.jsonl", images)
    _write(root / "toy" / "test.jsonl", queries)
    return root


@pytest.fixture
def change() -> Callable[[Path, Callable[[Rows], object]], None]:
    """Edit the rows of a JSON Lines file in place."""

    def edit(path: Path, action: Callable[[Rows], object]) -> None:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        action(rows)
        _write(path, rows)

    return edit


def _query(images: Rows, term: str, context: str, first: int) -> dict[str, Any]:
    chosen = images[first : first + 10]
    sources = [row["source_id"] for row in chosen]
    return {
        "id": item_id("toy", term, context, sources),
        "task": "toy",
        "term": term,
        "context": context,
        "candidates": [row["id"] for row in chosen],
        "candidate_sources": sources,
        "kinds": ["gold", "hard", *["random"] * 8],
        "gold": 0,
        "source_id": context,
    }


def _write(path: Path, rows: Rows) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
