"""Tables of scores with a known make-up, for the statistics' tests."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@pytest.fixture
def hits() -> Floats:
    """Hits@1 of six models on 400 items, from 45% to 85%, failing on the same hard items."""
    rng = np.random.default_rng(7)
    hard = rng.standard_normal((400, 1))
    ability = np.linspace(-0.2, 1.4, 6)
    return (hard + rng.standard_normal((400, 6)) < ability).astype(np.float64)


@pytest.fixture
def mrr(hits: Floats) -> Floats:
    """Reciprocal ranks that go with ``hits``."""
    ranks = np.random.default_rng(8).integers(2, 11, hits.shape)
    return np.where(hits == 1, 1.0, 1.0 / ranks)
