"""Statistics of the board: pure functions of score tables, usable without the rest of it.

Scores are tables of shape (n_items, n_models) with one value per item and model. Rows are the same
items for all models, missing and invalid ones scored 0. docs/statistics.md explains every rule.
"""

from leaderboard.stats.agreement import Agreement, subset_agreement, tau_b
from leaderboard.stats.checks import RESAMPLES, StatisticsError
from leaderboard.stats.intervals import Interval, macro_intervals, mean_intervals
from leaderboard.stats.mcnemar import McNemar, McNemarPairs, mcnemar_exact, mcnemar_pairs
from leaderboard.stats.multiplicity import benjamini_hochberg, holm
from leaderboard.stats.paired import (
    DifferencePairs,
    PairedDifference,
    difference_pairs,
    paired_difference,
    sign_flip_p,
)
from leaderboard.stats.power import (
    detectable_difference,
    mcnemar_power,
    smallest_detectable_difference,
)
from leaderboard.stats.ranks import rank_sets, separated
from leaderboard.stats.resampling import bootstrap_macro, bootstrap_means, resample_weights
from leaderboard.stats.score_intervals import wilson
from leaderboard.stats.suites import SpisDeltas, accuracy_at_k, spis_deltas

__all__ = [
    "RESAMPLES",
    "Agreement",
    "DifferencePairs",
    "Interval",
    "McNemar",
    "McNemarPairs",
    "PairedDifference",
    "SpisDeltas",
    "StatisticsError",
    "accuracy_at_k",
    "benjamini_hochberg",
    "bootstrap_macro",
    "bootstrap_means",
    "detectable_difference",
    "difference_pairs",
    "holm",
    "macro_intervals",
    "mcnemar_exact",
    "mcnemar_pairs",
    "mcnemar_power",
    "mean_intervals",
    "paired_difference",
    "rank_sets",
    "resample_weights",
    "separated",
    "sign_flip_p",
    "smallest_detectable_difference",
    "spis_deltas",
    "subset_agreement",
    "tau_b",
    "wilson",
]
