from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from leaderboard.stats import StatisticsError, bootstrap_macro, bootstrap_means, resample_weights

Floats = NDArray[np.float64]


def test_weights_are_counts_of_draws() -> None:
    chunks = list(resample_weights(700, resamples=900, seed=3))
    weights = np.concatenate(chunks)
    assert len(chunks) > 1
    assert weights.shape == (900, 700)
    assert np.all(weights.sum(axis=1) == 700)
    assert np.all(weights == np.rint(weights))
    # multinomial: every count has mean 1 and variance 1 - 1/n
    assert weights.mean() == 1
    assert weights.var() == pytest.approx(1 - 1 / 700, rel=0.01)


def test_means_are_the_weights_times_the_scores(mrr: Floats) -> None:
    weights = np.concatenate(list(resample_weights(len(mrr), resamples=300, seed=5)))
    expected = weights.astype(np.float64) @ mrr / len(mrr)
    np.testing.assert_allclose(
        bootstrap_means(mrr, resamples=300, seed=5), expected, rtol=0, atol=1e-9
    )


def test_a_model_gets_the_same_resamples_alone_and_among_others(mrr: Floats, hits: Floats) -> None:
    together = bootstrap_means(np.hstack([mrr, hits]), resamples=200)
    np.testing.assert_array_equal(bootstrap_means(mrr[:, 2], resamples=200)[:, 0], together[:, 2])
    np.testing.assert_array_equal(bootstrap_means(hits, resamples=200), together[:, 6:])


def test_sums_do_not_depend_on_the_order_of_models_or_the_memory_layout(mrr: Floats) -> None:
    plain = bootstrap_means(mrr, resamples=200)
    other = bootstrap_means(np.asfortranarray(mrr[:, ::-1]), resamples=200)[:, ::-1]
    np.testing.assert_array_equal(plain, other)


def test_equal_fractions_stay_equal_in_every_resample() -> None:
    # a tie of the gold with one other, against a tie of three: 1/2 and 1/3 are sums of 1/6
    thirds = np.tile([1 / 3, 1 / 3, 1 / 3], (50, 1))
    means = bootstrap_means(thirds, resamples=100)
    assert np.ptp(means) == 0
    assert means[0, 0] == pytest.approx(1 / 3, abs=1e-15)


def test_spread_is_that_of_a_mean(mrr: Floats) -> None:
    spread = bootstrap_means(mrr, resamples=10_000).std(axis=0)
    np.testing.assert_allclose(spread, mrr.std(axis=0) / np.sqrt(len(mrr)), rtol=0.03)


def test_seeds(hits: Floats) -> None:
    one, again, other = (bootstrap_means(hits, resamples=50, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert np.any(one != other)


def test_clusters_are_drawn_whole() -> None:
    labels = ["b", "a", "b", "c", "a", "b"]
    for weights in resample_weights(6, resamples=200, seed=1, clusters=labels):
        assert np.all(weights[:, 0] == weights[:, 2])
        assert np.all(weights[:, 0] == weights[:, 5])
        assert np.all(weights[:, 1] == weights[:, 4])
        assert np.all(weights[:, [0, 1, 3]].sum(axis=1) == 3)


def test_cluster_means_are_ratios() -> None:
    values = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.5])
    labels = [0, 0, 0, 1, 1, 2]
    weights = np.concatenate(list(resample_weights(6, resamples=400, seed=2, clusters=labels)))
    expected = (weights @ values) / weights.sum(axis=1)
    found = bootstrap_means(values, resamples=400, seed=2, clusters=labels)[:, 0]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_clusters_of_one_item_change_nothing(hits: Floats) -> None:
    plain = bootstrap_means(hits, resamples=100)
    grouped = bootstrap_means(hits, resamples=100, clusters=[f"item {i}" for i in range(400)])
    np.testing.assert_allclose(grouped, plain, atol=1e-12)


def test_macro_weighs_subsets_not_items(hits: Floats) -> None:
    small, large = hits[:50], hits[50:]
    macro = bootstrap_macro([small, large], resamples=10_000)
    np.testing.assert_allclose(
        macro.mean(axis=0), (small.mean(axis=0) + large.mean(axis=0)) / 2, atol=2e-3
    )
    spread = np.sqrt(small.var(axis=0) / 50 + large.var(axis=0) / 350) / 2
    np.testing.assert_allclose(macro.std(axis=0), spread, rtol=0.03)


def test_macro_draws_subsets_independently() -> None:
    same = np.random.default_rng(0).random((60, 1))
    macro = bootstrap_macro([same, same], resamples=10_000)
    assert macro.std() == pytest.approx(same.std() / np.sqrt(60) / np.sqrt(2), rel=0.03)


def test_large_scores_keep_their_digits() -> None:
    values = np.array([[1e9], [3e9]])
    means = bootstrap_means(values, resamples=100)
    assert set(np.unique(means)) <= {1e9, 2e9, 3e9}


def test_no_models_and_one_item() -> None:
    assert bootstrap_means(np.zeros((4, 0)), resamples=10).shape == (10, 0)
    np.testing.assert_array_equal(bootstrap_means([0.25], resamples=3), np.full((3, 1), 0.25))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.0, 1.0], [np.nan, 1.0]], "item 1 of model 0 is nan"),
        ([[np.inf]], "item 0 of model 0 is inf"),
        (np.zeros((0, 3)), "no items"),
        (np.zeros((2, 2, 2)), "shape"),
        (["right", "wrong"], "numbers"),
    ],
)
def test_unusable_scores_are_refused(values: object, message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        bootstrap_means(values, resamples=10)  # type: ignore[arg-type]


def test_unusable_options_are_refused(hits: Floats) -> None:
    with pytest.raises(StatisticsError, match="399 cluster labels for 400 items"):
        bootstrap_means(hits, clusters=[0] * 399)
    with pytest.raises(StatisticsError, match="at least 1"):
        bootstrap_means(hits, resamples=0)
    with pytest.raises(StatisticsError, match="no subsets"):
        bootstrap_macro([])
    with pytest.raises(StatisticsError, match="different numbers of models"):
        bootstrap_macro([hits, hits[:, :3]])
    with pytest.raises(StatisticsError, match="1 lists of cluster labels for 2 subsets"):
        bootstrap_macro([hits, hits], clusters=[None])
