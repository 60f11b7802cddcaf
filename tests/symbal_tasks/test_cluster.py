"""Clustering and silhouette, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, silhouette_samples

from symbal_tasks.cluster import cluster, spherical_kmeans
from symbal_tasks.silhouette import cosine_silhouette


def _blobs(n: int, k: int, d: int, spread: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    vectors = rng.normal(size=(k, d))[labels] + spread * rng.normal(size=(n, d))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32), labels


@pytest.mark.parametrize(
    ("n", "k", "d", "spread"), [(50, 2, 3, 2.0), (600, 7, 16, 1.0), (900, 40, 64, 0.5)]
)
def test_silhouette_equals_scikit_learn(n: int, k: int, d: int, spread: float) -> None:
    vectors, labels = _blobs(n, k, d, spread)
    vectors = vectors.astype(np.float64) * np.random.default_rng(1).uniform(0.5, 3, (n, 1))
    # a cluster of one, and label numbers with gaps
    labels = np.where(np.arange(n) == 5, 1000, labels * 3)
    expected = silhouette_samples(vectors, labels, metric="cosine")
    assert np.abs(cosine_silhouette(vectors, labels) - expected).max() < 1e-6
    assert cosine_silhouette(vectors, labels)[5] == 0


def test_silhouette_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, labels = _blobs(300, 5, 8, 1.0)
    whole = cosine_silhouette(vectors, labels)
    monkeypatch.setattr("symbal_tasks.silhouette._BLOCK_FLOATS", 8 * 17)
    assert np.allclose(cosine_silhouette(vectors, labels), whole, atol=1e-12)


def test_silhouette_refuses_what_has_none() -> None:
    vectors, labels = _blobs(10, 2, 4, 1.0)
    with pytest.raises(ValueError, match="two clusters"):
        cosine_silhouette(vectors, np.zeros(10, dtype=int))
    with pytest.raises(ValueError, match="length zero"):
        cosine_silhouette(np.zeros((10, 4)), labels)
    with pytest.raises(ValueError, match="do not fit"):
        cosine_silhouette(vectors, labels[:5])


def test_equal_vectors_in_two_clusters_score_zero() -> None:
    vectors = np.ones((6, 3))
    assert cosine_silhouette(vectors, np.array([0, 0, 0, 1, 1, 1])).tolist() == [0] * 6


def test_k_is_found_by_silhouette() -> None:
    vectors, labels = _blobs(600, 8, 32, 0.3)
    found = cluster(vectors, (2, 4, 8, 16, 32), redo=5)
    assert found.k == 8
    assert adjusted_rand_score(labels, found.labels) > 0.99
    assert set(found.silhouettes) == {2, 4, 8, 16, 32}
    assert sum(len(found.members(number)) for number in range(8)) == 600
    again = cluster(vectors, (2, 4, 8, 16, 32), redo=5)
    assert (again.labels == found.labels).all()


def test_direction_counts_and_length_does_not() -> None:
    vectors, labels = _blobs(200, 4, 16, 0.2)
    assert adjusted_rand_score(labels, spherical_kmeans(vectors, 4, redo=4)) > 0.99


@pytest.mark.parametrize("n", [0, 1, 2, 3, 40])
def test_few_or_equal_rows_form_one_cluster(n: int) -> None:
    vectors = np.tile(np.array([[0.6, 0.8]], dtype=np.float32), (n, 1))
    found = cluster(vectors, (2, 4, 8))
    assert found.k == min(n, 1)
    assert found.labels.tolist() == [0] * n


def test_clusters_have_a_least_mean_size() -> None:
    vectors, _ = _blobs(60, 12, 16, 0.3)
    assert set(cluster(vectors, (2, 4, 8, 16, 32)).silhouettes) == {2, 4, 8, 16}
    assert set(cluster(vectors, (2, 4, 8, 16, 32), least_mean_size=10).silhouettes) == {2, 4}
    # the sweep has no k that small: the largest that is allowed stands in
    assert set(cluster(vectors, (16, 32), least_mean_size=10).silhouettes) == {6}
    assert cluster(vectors[:15], (16, 32), least_mean_size=10).k == 1
