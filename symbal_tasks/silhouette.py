"""Silhouette of a clustering under cosine distance, exact in O(n k d).

The mean cosine distance from x to a cluster C is 1 - x . mean(C) for unit vectors, so no pair of
points has to be formed: n k dot products stand in for n^2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLOCK_FLOATS = 8 << 20


def cosine_silhouette(
    vectors: NDArray[np.floating], labels: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Silhouette of every row (Rousseeuw, 1987), in [-1, 1]; a cluster of one row gets 0.

    vectors : (n, d), any length but zero. labels : (n,) cluster numbers, at least two distinct.
    Raises ValueError for other shapes, a zero vector, or one cluster.
    """
    import numpy as np

    vectors = np.asarray(vectors)
    names, member = np.unique(np.asarray(labels), return_inverse=True)
    n, k = len(member), len(names)
    if vectors.ndim != 2 or len(vectors) != n:
        raise ValueError(f"{vectors.shape} vectors do not fit {n} labels")
    if not 2 <= k <= n:
        raise ValueError(f"a silhouette needs at least two clusters, got {k}")
    sizes = np.bincount(member, minlength=k).astype(np.float64)
    block = max(1, _BLOCK_FLOATS // max(vectors.shape[1], k))
    sums = np.zeros((k, vectors.shape[1]))
    for start in range(0, n, block):
        own = member[start : start + block]
        order = np.argsort(own, kind="stable")
        here, first = np.unique(own[order], return_index=True)
        unit = _unit(vectors[start : start + block])
        sums[here] += np.add.reduceat(unit[order], first, axis=0)
    values = np.empty(n)
    for start in range(0, n, block):
        own = member[start : start + block]
        dots = _unit(vectors[start : start + block]) @ sums.T
        row = np.arange(len(own))
        # the point's distance to itself is 0 and does not count among its neighbours
        inside = (sizes[own] - dots[row, own]) / np.maximum(sizes[own] - 1, 1)
        outside = 1 - dots / sizes
        outside[row, own] = np.inf
        nearest = outside.min(axis=1)
        widest = np.maximum(inside, nearest)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = np.where(widest > 0, (nearest - inside) / widest, 0.0)
        values[start : start + block] = np.where(sizes[own] > 1, value, 0.0)
    return values


def _unit(block: NDArray[np.floating]) -> NDArray[np.float64]:
    import numpy as np

    block = block.astype(np.float64)
    norms = np.linalg.norm(block, axis=1, keepdims=True)
    if not (norms > 0).all():
        raise ValueError("a vector of length zero has no direction")
    unit: NDArray[np.float64] = block / norms
    return unit
