"""Time and memory of the board's statistics, and ratios to scipy and statsmodels.

    python tools/bench/bench_stats.py [--items 3000] [--models 100] [--resamples 10000] [--json]

scipy and statsmodels are run on a few models (pairs) and extrapolated, which the output says.
Extra memory is the growth of the process's peak, taken before anything else has run.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

# imported first, so that neither their time nor their memory counts as the statistics'
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from leaderboard.stats import (
    benjamini_hochberg,
    bootstrap_means,
    difference_pairs,
    holm,
    mcnemar_pairs,
    mean_intervals,
    rank_sets,
)

Floats = NDArray[np.float64]


def score_table(items: int, models: int) -> tuple[Floats, Floats]:
    """Hits@1 and MRR of models that tend to fail on the same items."""
    rng = np.random.default_rng(0)
    hard = rng.standard_normal((items, 1))
    hits = np.empty((items, models))
    for model, ability in enumerate(np.linspace(-0.5, 1.2, models)):
        hits[:, model] = hard[:, 0] + rng.standard_normal(items) < ability
    mrr = hits.copy()
    misses = hits == 0
    mrr[misses] = 1 / rng.integers(2, 11, int(misses.sum()))
    return hits, mrr


def peak_mib() -> float:
    """Highest resident size of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def timed(action: Callable[[], object]) -> float:
    """Seconds that the action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def bench_bootstrap(values: Floats, resamples: int) -> dict[str, float]:
    """Intervals, all paired differences and rank sets on one table."""
    before, start, worked = peak_mib(), time.perf_counter(), time.process_time()
    means = bootstrap_means(values, resamples=resamples)
    mean_intervals(values, kind="mrr", means=means)
    intervals = time.perf_counter() - start
    pairs = timed(lambda: difference_pairs(values, means=means, resamples=resamples))
    ranks = timed(lambda: rank_sets(values, means=means, resamples=resamples))
    return {
        "intervals_s": intervals,
        "pairs_s": pairs,
        "rank_sets_s": ranks,
        "together_s": intervals + pairs + ranks,
        "processor_s": time.process_time() - worked,
        "extra_mib": peak_mib() - before,
    }


def bench_scipy(values: Floats, resamples: int, models: int) -> dict[str, float]:
    """scipy.stats.bootstrap on some models, extrapolated; distance of the limits to ours."""
    ours = mean_intervals(values, kind="mrr", method="percentile", resamples=resamples)
    chosen = np.linspace(0, values.shape[1] - 1, models).astype(int)
    start, apart = time.perf_counter(), []
    for model in chosen:
        column = values[:, model]
        found = stats.bootstrap(
            (column,), np.mean, n_resamples=resamples, batch=500, method="percentile", rng=1
        ).confidence_interval
        error = column.std() / np.sqrt(len(column))
        for theirs, here in ((found.low, ours[model].low), (found.high, ours[model].high)):
            apart.append(abs(theirs - here) / error)
    seconds = (time.perf_counter() - start) / models * values.shape[1]
    return {
        "scipy_extrapolated_s": seconds,
        "scipy_models_run": models,
        "largest_distance_in_standard_errors": float(max(apart)),
    }


def bench_mcnemar(hits: Floats, pairs: int) -> dict[str, float]:
    """Exact McNemar with Holm and BH for all pairs; statsmodels on some, extrapolated."""
    before, start = peak_mib(), time.perf_counter()
    found = mcnemar_pairs(hits)
    holm(found.p)
    benjamini_hochberg(found.p)
    seconds, extra = time.perf_counter() - start, peak_mib() - before
    chosen = np.linspace(0, len(found.p) - 1, min(pairs, len(found.p))).astype(int)
    start, expected = time.perf_counter(), []
    for k in chosen:
        a, b = hits[:, found.first[k]], hits[:, found.second[k]]
        table = [[int(((a == i) & (b == j)).sum()) for j in (1, 0)] for i in (1, 0)]
        expected.append(mcnemar(table, exact=True).pvalue)
    theirs = (time.perf_counter() - start) / len(chosen) * len(found.p)
    theirs += timed(lambda: multipletests(found.p, method="holm"))
    theirs += timed(lambda: multipletests(found.p, method="fdr_bh"))
    return {
        "pairs": len(found.p),
        "mcnemar_holm_bh_s": seconds,
        "mcnemar_extra_mib": extra,
        "statsmodels_extrapolated_s": theirs,
        "statsmodels_pairs_run": len(chosen),
        "different_p": int((found.p[chosen] != np.array(expected)).sum()),
    }


def report(f: dict[str, float], options: argparse.Namespace) -> str:
    """The figures as lines for a reader."""
    return "\n".join(
        [
            f"{options.resamples:,} resamples x {options.items:,} items x {options.models} models "
            f"(MRR), {f['pairs']:,.0f} pairs",
            f"  intervals            {f['intervals_s']:8.2f} s",
            f"  paired differences   {f['pairs_s']:8.2f} s",
            f"  rank sets            {f['rank_sets_s']:8.2f} s",
            f"  together             {f['together_s']:8.2f} s "
            f"({f['processor_s']:.2f} s of processor time), {f['extra_mib']:.0f} MiB extra",
            f"  McNemar, Holm, BH    {f['mcnemar_holm_bh_s']:8.2f} s, "
            f"{f['mcnemar_extra_mib']:.0f} MiB extra",
            f"  scipy.stats.bootstrap{f['scipy_extrapolated_s']:8.2f} s, extrapolated from "
            f"{f['scipy_models_run']:.0f} models: the intervals here are "
            f"{f['scipy_extrapolated_s'] / f['intervals_s']:.0f} times faster",
            f"  statsmodels          {f['statsmodels_extrapolated_s']:8.2f} s, extrapolated from "
            f"{f['statsmodels_pairs_run']:.0f} pairs: McNemar here is "
            f"{f['statsmodels_extrapolated_s'] / f['mcnemar_holm_bh_s']:.0f} times faster",
            f"  limits apart from scipy's by at most "
            f"{f['largest_distance_in_standard_errors']:.2f} standard errors (Monte Carlo); "
            f"p-values other than statsmodels': {f['different_p']:.0f}",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all parts once and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=3000)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--scipy-models", type=int, default=5)
    parser.add_argument("--statsmodels-pairs", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    hits, mrr = score_table(options.items, options.models)
    figures = bench_bootstrap(mrr, options.resamples)
    figures |= bench_mcnemar(hits, options.statsmodels_pairs)
    figures |= bench_scipy(mrr, options.resamples, min(options.scipy_models, options.models))
    print(json.dumps(figures) if options.json else report(figures, options))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
