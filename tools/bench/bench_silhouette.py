"""Time the exact cosine silhouette against scikit-learn's.

scikit-learn forms all pairs, so its time at 50,000 rows is extrapolated from 8,000 rows by the
square of the ratio; ours is measured at 50,000. Run: python tools/bench/bench_silhouette.py
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.metrics import silhouette_samples

from symbal_tasks.silhouette import cosine_silhouette

FULL, SMALL, K, D = 50_000, 8_000, 40, 384


def main() -> None:
    """Print both times, their ratio and the largest difference."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(K, D))
    labels = rng.integers(0, K, FULL)
    vectors = (centres[labels] + 2 * rng.normal(size=(FULL, D))).astype(np.float32)

    started = time.perf_counter()
    theirs = silhouette_samples(vectors[:SMALL], labels[:SMALL], metric="cosine")
    slow = time.perf_counter() - started
    ours = cosine_silhouette(vectors[:SMALL], labels[:SMALL])

    started = time.perf_counter()
    cosine_silhouette(vectors, labels)
    fast = time.perf_counter() - started
    extrapolated = slow * (FULL / SMALL) ** 2
    print(f"largest difference at n = {SMALL}: {np.abs(ours - theirs).max():.1e}")
    print(f"scikit-learn, n = {SMALL}, k = {K}, d = {D}: {slow:.2f} s")
    print(f"scikit-learn at n = {FULL}, extrapolated by n squared: {extrapolated:.1f} s")
    print(f"ours at n = {FULL}, measured: {fast:.3f} s, {extrapolated / fast:.0f} times faster")


if __name__ == "__main__":
    main()
