"""A small dataset with real pictures, and runs over it as lmms-eval leaves them on disk."""

from __future__ import annotations

import hashlib
import io
import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from leaderboard.store import Store, create_store
from sage_tasks.package import Package, open_package
from sage_tasks.records import item_id, pictures_fingerprint

ITEMS = 24
PICTURES = 30


Picture = tuple[str, str, str]


def make_pictures(root: Path) -> list[Picture]:
    """Write the pictures of a dataset; returns (content id, source id, file) of each."""
    pictures = []
    (root / "images").mkdir(parents=True)
    for number in range(PICTURES):
        sink = io.BytesIO()
        Image.new("RGB", (12, 12), (8 * number, 255 - 8 * number, 90)).save(sink, "PNG")
        content = sink.getvalue()
        name = f"p{number}.png"
        (root / "images" / name).write_bytes(content)
        pictures.append((hashlib.sha256(content).hexdigest(), f"made/{number}", name))
    lines = [
        {"id": i, "source_id": s, "width": 12, "height": 12, "source": "made", "file": f}
        for i, s, f in pictures
    ]
    write_lines(root / "images.jsonl", lines)
    return pictures


def write_dataset(root: Path, items: int = ITEMS) -> None:
    """``base`` has all items, ``swapped`` every second one with its candidates turned round."""
    pictures = make_pictures(root)
    rng = random.Random(5)
    base, swapped = [], []
    for number in range(items):
        chosen = rng.sample(pictures, 10)
        gold = rng.randrange(10)
        base.append(make_query("tiny", number, chosen, gold))
        if number % 2 == 0:
            swapped.append(make_query("tiny_swapped", number, chosen[::-1], 9 - gold))
    write_lines(root / "base" / "test.jsonl", base)
    write_lines(root / "swapped" / "test.jsonl", swapped)


def make_query(task: str, number: int, chosen: list[Picture], gold: int) -> dict[str, Any]:
    """A query over ten pictures, as a line of the dataset."""
    sources = [source for _, source, _ in chosen]
    term, context = f"term {number // 2}", f"context of item {number}"
    return {
        "id": item_id(task, term, context, sources),
        "task": task,
        "term": term,
        "context": context,
        "candidates": [picture for picture, _, _ in chosen],
        "candidate_sources": sources,
        "kinds": ["gold" if i == gold else "hard" if i % 3 == 0 else "random" for i in range(10)],
        "gold": gold,
        "gloss": f"sense {number}",
        "source_id": f"source-{number}",
    }


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    """Write JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


BOARD = {
    "title": "Tiny board",
    "tracks": [
        {
            "name": "tiny",
            "label": "Tiny",
            "tasks": [
                {"name": "tiny", "label": "Tiny", "dataset": "../data", "config": "base"},
                {
                    "name": "tiny_swapped",
                    "label": "Tiny, swapped",
                    "dataset": "../data",
                    "config": "swapped",
                    "variant": True,
                },
            ],
            "deltas": [{"label": "swap delta", "minuend": "tiny", "subtrahend": "tiny_swapped"}],
        }
    ],
}


def likelihoods(gold: int, right: bool, rng: random.Random) -> list[str]:
    """Ten likelihood answers that put the gold first, or another candidate."""
    first = gold if right else (gold + 1 + rng.randrange(9)) % 10
    texts = []
    for place in range(10):
        yes = 0.9 if place == first else 0.05 + 0.5 * rng.random()
        texts.append(json.dumps({"yes": math.log(yes), "no": math.log(1 - yes)}))
    return texts


@dataclass
class Bench:
    """A dataset, a board over it, and ways to write runs."""

    root: Path
    packages: dict[str, Package] = field(default_factory=dict)

    @property
    def board(self) -> Path:
        return self.root / "board"

    @property
    def store(self) -> Store:
        return create_store(self.board)

    def lines(
        self, task: str, accuracy: float = 0.5, seed: int = 0, **changes: Any
    ) -> list[dict[str, Any]]:
        """Samples lines of a run that gets about ``accuracy`` of the items right."""
        rng = random.Random(f"{task} {seed}")
        return [
            {
                "doc_id": number,
                "target": str(query.gold),
                "filtered_resps": [],
                "hits1": 0.0,
                "wordsight": {
                    "item": query.id,
                    "index": number,
                    "responses": likelihoods(query.gold, rng.random() < accuracy, rng),
                    "scores": [0.5] * 10,
                    "status": "ok",
                    "reason": "",
                    "interface": "likelihood",
                    "prompt": "yes-no-1",
                    "task": task,
                    "task_version": "1",
                    "images": pictures_fingerprint(query),
                    **changes,
                },
            }
            for number, query in enumerate(self.packages[task].queries)
        ]

    def run(
        self,
        name: str,
        *,
        accuracy: float = 0.5,
        seed: int = 0,
        tasks: tuple[str, ...] = ("tiny", "tiny_swapped"),
        model_args: str = "",
        stamp: str = "20261130_101500",
        edit: Callable[[str, list[dict[str, Any]]], None] | None = None,
    ) -> Path:
        """Write a run folder; ``edit(task, lines)`` may change the lines first."""
        out = self.root / "runs" / name
        folder = out / "tiny__model"
        folder.mkdir(parents=True, exist_ok=True)
        results = {
            "config": {
                "model": "wordsight_hf",
                "model_args": model_args or f"pretrained=org/{name}",
                "random_seed": 0,
            },
            "configs": {
                task: {"metadata": {"dataset_fingerprint": self.packages[task].fingerprint}}
                for task in tasks
            },
        }
        (folder / f"{stamp}_results.json").write_text(json.dumps(results))
        for task in tasks:
            lines = self.lines(task, accuracy, seed)
            if edit:
                edit(task, lines)
            write_lines(folder / f"{stamp}_samples_{task}.jsonl", lines)
        return out


def make_bench(root: Path, items: int = ITEMS) -> Bench:
    """A dataset and an empty board under ``root``."""
    write_dataset(root / "data", items)
    (root / "board").mkdir()
    (root / "board" / "board.json").write_text(json.dumps(BOARD))
    packages = {
        "tiny": open_package(root / "data", "base"),
        "tiny_swapped": open_package(root / "data", "swapped"),
    }
    return Bench(root, packages)
