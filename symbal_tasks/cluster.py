"""Spherical k-means with the number of clusters chosen by silhouette (section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symbal_tasks.silhouette import cosine_silhouette

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SWEEP = (4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Clustering:
    """Cluster of every row, and the mean silhouette of every k that was tried."""

    labels: NDArray[np.int64]
    k: int
    silhouettes: dict[int, float]

    def members(self, cluster: int) -> NDArray[np.int64]:
        """Rows of a cluster, in order."""
        import numpy as np

        found: NDArray[np.int64] = np.flatnonzero(self.labels == cluster)
        return found


def cluster(
    vectors: NDArray[np.float32],
    sweep: Sequence[int] = SWEEP,
    *,
    seed: int = 0,
    redo: int = 1,
    least_mean_size: int = 2,
) -> Clustering:
    """Cluster unit vectors (n, d); the k of the sweep with the best mean silhouette wins.

    A k is tried only where n / k is at least ``least_mean_size``; where that leaves none, the
    largest k that it allows is. Rows that are all the same, or too few for two clusters, form one.
    """
    import numpy as np

    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    n = len(vectors)
    tried: dict[int, float] = {}
    best: NDArray[np.int64] = np.zeros(n, dtype=np.int64)
    # k-means cannot make more clusters than there are different points
    distinct = len(np.unique(vectors, axis=0)) if n <= 5000 else n
    most = min(n // least_mean_size, distinct)
    wanted = {k for k in sweep if k <= most} or {most}
    for k in sorted(k for k in wanted if k >= 2):
        labels = spherical_kmeans(vectors, k, seed=seed, redo=redo)
        if len(np.unique(labels)) < 2:
            continue
        tried[k] = float(cosine_silhouette(vectors, labels).mean())
        if tried[k] == max(tried.values()):
            best = labels
    _, labels = np.unique(best, return_inverse=True)
    return Clustering(labels.astype(np.int64), int(labels.max()) + 1 if n else 0, tried)


def spherical_kmeans(
    vectors: NDArray[np.float32], k: int, *, seed: int = 0, redo: int = 1
) -> NDArray[np.int64]:
    """Labels (n,) of faiss's spherical k-means over unit vectors (n, d)."""
    import faiss
    import numpy as np

    means = faiss.Kmeans(
        vectors.shape[1],
        k,
        niter=25,
        nredo=redo,
        seed=seed + 1,
        spherical=True,
        min_points_per_centroid=1,
        # enough points to place a centroid; all points are assigned afterwards
        max_points_per_centroid=1024,
        verbose=False,
        init_method=faiss.ClusteringInitMethod_KMEANS_PLUS_PLUS,
    )
    means.train(vectors)
    _, labels = means.index.search(vectors, 1)
    assigned: NDArray[np.int64] = labels[:, 0].astype(np.int64)
    return assigned
