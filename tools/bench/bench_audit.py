"""Audit 100,000 captions with the offline composition and print time and peak memory.

The captions are made up: a scene, a second sentence, and a wrong one mostly at the beach. No two
first sentences are alike, so every one is embedded. Run: python tools/bench/bench_audit.py
"""

from __future__ import annotations

import os
import random
import resource
import time
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")

from symbal_tasks.audit.audit import AuditOptions, audit
from symbal_tasks.audit.captions import CaptionSet
from symbal_tasks.audit.features import TableFeatures
from symbal_tasks.backends import Row
from symbal_tasks.cache import ContentCache
from symbal_tasks.compositions import compose, spec

N = 100_000
WHO = [
    "man",
    "woman",
    "boy",
    "girl",
    "dog",
    "cat",
    "horse",
    "bird",
    "child",
    "couple",
    "player",
    "rider",
    "cook",
    "farmer",
]
LOOK = [
    "young",
    "old",
    "tall",
    "small",
    "tired",
    "happy",
    "brown",
    "grey",
    "wet",
    "quiet",
    "noisy",
    "busy",
]
DOES = ["walks", "runs", "stands", "sits", "waits", "plays", "sleeps", "looks", "jumps", "eats"]
WHERE = [
    "beach",
    "street",
    "kitchen",
    "field",
    "park",
    "station",
    "market",
    "bridge",
    "garden",
    "office",
]
WITH = [
    "bench",
    "car",
    "table",
    "tree",
    "boat",
    "chair",
    "bottle",
    "lamp",
    "fence",
    "bag",
    "ball",
    "sign",
    "cup",
    "bike",
]
WHEN = ["in the morning", "at noon", "in the evening", "at night"]


def rows(n: int, seed: int = 0) -> Iterator[Row]:
    """Made-up captions with their references."""
    rng = random.Random(seed)
    for k in range(n):
        place = WHERE[k % len(WHERE)]
        truth = (
            f"A {rng.choice(LOOK)} {rng.choice(WHO)} {rng.choice(DOES)} near a {rng.choice(WITH)} "
            f"and a {rng.choice(LOOK)} {rng.choice(WHO)} at the {place} {rng.choice(WHEN)}."
        )
        more = f"There is a {rng.choice(LOOK)} {rng.choice(WITH)}."
        wrong = (
            " A kite is in the sky." if rng.random() < (0.3 if place == "beach" else 0.02) else ""
        )
        yield Row(str(k), f"{truth} {more}{wrong}", f"{truth} {more}")


def main() -> None:
    """Print counts, seconds, peak memory, and what stands."""
    held = tuple(rows(N))
    shown = {row.id: frozenset({WHERE[int(row.id) % len(WHERE)]}) for row in held}
    started = time.perf_counter()
    result = audit(
        CaptionSet(held, {row.id: row.id for row in held}),
        compose(spec("offline"), ContentCache()),
        TableFeatures(shown, tuple(WHERE)),
        AuditOptions(findings=3, sample=None),
    )
    took = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    distinct = len({row.caption.partition(".")[0] for row in held})
    print(f"{result.n_rows} captions, {distinct} distinct first sentences")
    print(f"{result.trace.n_facts} facts of the first half embedded and grouped")
    print(f"{took:.0f} s, peak memory {peak:.2f} GiB")
    for m in result.misalignments:
        if m.stands() and m.tested and m.tested.ratio:
            print(f"stands: {m.error!r} with {m.feature!r}, ratio {m.tested.ratio:.1f}")


if __name__ == "__main__":
    main()
