"""Seconds per item of GAR's questions, with and without reuse, on a tiny model.

    python tools/bench/bench_gar.py --items 24 --batch-size 8

Both arms ask the same prompts about the same pictures at the same batch size with cold caches.
With reuse: equal (picture, question) pairs of a batch of items are asked once, and picture and
chat header go through the model once per picture. Without: every candidate of every item is asked
every question, one prompt and picture each. Texts are given, so only the questions are timed. The
model has random weights and as many picture tokens as a real one; its size is tiny, so the figure
is of this bench and no forecast for another model.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from sage_tasks.gar.constraints import constraint
from sage_tasks.gar.records import AXES, Definition, ItemText
from sage_tasks.gar.verification import BASE, GENERATED, LEXICAL, Question, questions_of, verify
from sage_tasks.package import Package, open_package
from sage_tasks.records import Query
from sage_tasks.sources import dataset_root
from wordsight.answers import read_answer
from wordsight.models.base import Ask
from wordsight.models.hf import HFImageTextToText
from wordsight.tiny_models import build_tiny_model

Item = tuple[list[Ask], list[Question]]


def words(query: Query, per_axis: int) -> ItemText:
    """Words of usual length; what they say does not matter here."""
    return ItemText(
        term=query.term,
        context=query.context,
        pos=query.pos,
        lexical=Definition(text=f"{query.gloss}.", visible=(query.context, query.term)),
        generated=Definition(text=f"{query.term} as in {query.context}."),
        constraints=tuple(
            constraint(axis, f"{query.term} number {i} of {query.context}")
            for axis in AXES
            for i in range(per_axis)
        ),
    )


def items_of(package: Package, queries: Sequence[Query], per_axis: int) -> list[Item]:
    """Candidates and questions of each item."""
    items = []
    for query in queries:
        asks = [
            Ask("", image_id, package, term=query.term, context=query.context, gloss=query.gloss)
            for image_id in query.candidates
        ]
        questions = questions_of(words(query, per_axis), (BASE, LEXICAL, GENERATED), AXES)
        items.append((asks, questions))
    return items


def with_reuse(model: HFImageTextToText, items: list[Item], together: int) -> list[str]:
    """Responses in item, question, candidate order."""
    found = []
    for start in range(0, len(items), together):
        for rows in verify(model, items[start : start + together]):
            found += [response for row in rows for response in row]
    return found


def without_reuse(model: HFImageTextToText, items: list[Item]) -> list[str]:
    """The same, every prompt on its own."""
    asks = [
        dataclasses.replace(candidate.asking(question.text), gloss=question.statement)
        for candidates, questions in items
        for question in questions
        for candidate in candidates
    ]
    return list(model.answer(asks))


def main() -> None:
    """Run both arms and print their seconds per item."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", default="qwen2_5_vl", choices=["qwen2_5_vl", "llava"])
    parser.add_argument("--items", type=int, default=24)
    parser.add_argument("--per-axis", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--together", type=int, default=32, help="items asked at once")
    parser.add_argument("--side", type=int, default=448, help="pixels; 28 x 28 give a token")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    package = open_package(dataset_root("demo"), "demo")
    items = items_of(package, package.queries[: options.items], options.per_axis)
    seconds, cpu, answers = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        pretrained = str(build_tiny_model(options.kind, Path(folder) / "model"))
        pixels = options.side**2 if options.kind == "qwen2_5_vl" else None
        for arm in ("off", "on"):
            model = HFImageTextToText(
                pretrained,
                reuse=arm,
                workers=0,
                min_pixels=pixels,
                max_pixels=pixels,
                batch_size=options.batch_size,
                device="cpu",
            )
            started, cpu_started = time.perf_counter(), time.process_time()
            if arm == "on":
                answers[arm] = with_reuse(model, items, options.together)
            else:
                answers[arm] = without_reuse(model, items)
            seconds[arm] = (time.perf_counter() - started) / len(items)
            cpu[arm] = (time.process_time() - cpu_started) / len(items)
    keys = {
        arm: [read_answer(text).score or 0.0 for text in texts] for arm, texts in answers.items()
    }
    print(
        json.dumps(
            {
                "model": options.kind,
                "items": len(items),
                "questions_per_candidate": len(items[0][1]),
                "batch_size": options.batch_size,
                "threads": options.threads,
                "seconds_per_item_without_reuse": round(seconds["off"], 3),
                "seconds_per_item_with_reuse": round(seconds["on"], 3),
                "times_fewer": round(seconds["off"] / seconds["on"], 2),
                "cpu_seconds_per_item_without_reuse": round(cpu["off"], 3),
                "cpu_seconds_per_item_with_reuse": round(cpu["on"], 3),
                "times_fewer_cpu": round(cpu["off"] / cpu["on"], 2),
                "largest_difference_in_p_yes": max(
                    math.fabs(a - b) for a, b in zip(keys["off"], keys["on"], strict=True)
                ),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
