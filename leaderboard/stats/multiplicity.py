"""Corrections for looking at many pairs: Holm for claims, Benjamini-Hochberg for screening."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.stats.checks import FloatArray, StatisticsError


def holm(p: ArrayLike) -> FloatArray:
    """Adjusted p-values: claiming all below alpha errs anywhere with chance alpha at most."""
    return _adjusted(p, "holm")


def benjamini_hochberg(p: ArrayLike) -> FloatArray:
    """Adjusted p-values: of the pairs below alpha, a share of at most alpha is false on average."""
    return _adjusted(p, "fdr_bh")


def _adjusted(p: ArrayLike, method: str) -> FloatArray:
    from statsmodels.stats.multitest import multipletests

    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
        raise StatisticsError("p-values must be one vector of numbers between 0 and 1")
    if values.size == 0:
        return values
    return np.asarray(multipletests(values, method=method)[1], dtype=np.float64)
