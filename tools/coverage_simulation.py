"""Do the board's intervals, rank sets and claims keep their promises? Simulated with known truth.

Prints Markdown tables; ``--check docs/statistics.md`` fails where that page shows other figures,
``--write docs/statistics.md`` puts them there. ``--share 0.1`` runs a tenth of the trials.
The seed is fixed: the same versions print the same figures.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from leaderboard.stats import (
    Interval,
    bootstrap_means,
    holm,
    mcnemar_pairs,
    mean_intervals,
    rank_sets,
    separated,
    subset_agreement,
)

Floats = NDArray[np.float64]
Kind = Literal["hits1", "mrr"]

SHARES = np.round(np.arange(0.10, 0.951, 0.05), 2)
# Rank of the gold when it is not first: near misses are commoner than far ones.
MISS_RANKS = np.arange(2, 11)
MISS_SHARES = 0.7 ** np.arange(9) / (0.7 ** np.arange(9)).sum()
# Samples that share their resampling weights, for speed; more would only need more memory.
BATCH = 1000
MISS_MRR = float((MISS_SHARES / MISS_RANKS).sum())


def scores_of(hits: NDArray[np.bool_], kind: Kind, rng: np.random.Generator) -> Floats:
    """Hits@1, or MRR where every miss draws a rank from 2 to 10."""
    if kind == "hits1":
        return hits.astype(np.float64)
    return np.where(hits, 1.0, 1.0 / rng.choice(MISS_RANKS, size=hits.shape, p=MISS_SHARES))


def true_mean(share: float, kind: Kind) -> float:
    """The mean that ``scores_of`` aims at for a share of hits."""
    return share if kind == "hits1" else share + (1 - share) * MISS_MRR


def covered(intervals: Sequence[Interval], truth: float) -> float:
    """Share of intervals that hold the truth."""
    return float(np.mean([i.low <= truth <= i.high for i in intervals]))


def exact_table() -> Iterator[str]:
    """Coverage of Hits@1 without simulated samples: the interval depends on the hits alone."""
    grid = np.round(np.arange(0.100, 0.9505, 0.001), 3)
    yield (
        "Hits@1, one score. Computed for every possible number of hits, so exact for each true "
        "share; mean and worst over the shares 0.100, 0.101, ... 0.950."
    )
    yield ""
    yield "| items | shown: mean | worst | at 0.95 | percentile alone: mean | worst | at 0.95 |"
    yield "|---|---|---|---|---|---|---|"
    for n_items in (30, 50, 100, 200, 463, 1264):
        hits = np.arange(n_items + 1)
        # column k holds k hits
        values = (np.arange(n_items)[:, None] < hits).astype(np.float64)
        means = bootstrap_means(values, seed=12)
        chances = stats.binom.pmf(hits, n_items, grid[:, None])
        cells = []
        for method in ("auto", "percentile"):
            found = mean_intervals(values, seed=12, method=method, means=means)
            low, high = np.array([(i.low, i.high) for i in found]).T
            inside = (low <= grid[:, None] + 1e-12) & (grid[:, None] - 1e-12 <= high)
            coverage = (chances * inside).sum(axis=1)
            cells += [coverage.mean(), coverage.min(), coverage[-1]]
        yield f"| {n_items:,} | " + " | ".join(f"{cell:.1%}" for cell in cells) + " |"


def mrr_table(trials: int) -> Iterator[str]:
    """Coverage of MRR over the shares of hits 0.10, 0.15, ... 0.95."""
    yield f"MRR, one score. {trials:,} samples for each true share of hits 0.10, 0.15, ... 0.95."
    yield ""
    yield "| items | shown: mean | worst share | percentile alone: mean | worst share |"
    yield "|---|---|---|---|---|"
    for n_items in (30, 50, 100, 200, 463, 1264):
        shown, plain = [], []
        for index, share in enumerate(SHARES):
            rng = np.random.default_rng((11, n_items, index))
            values = scores_of(rng.random((n_items, trials)) < share, "mrr", rng)
            truth, seed = true_mean(float(share), "mrr"), (12, index)
            means = bootstrap_means(values, seed=seed)
            found = mean_intervals(values, kind="mrr", seed=seed, means=means)
            shown.append(covered(found, truth))
            found = mean_intervals(values, kind="mrr", method="percentile", means=means)
            plain.append(covered(found, truth))
        yield (
            f"| {n_items:,} | {np.mean(shown):.1%} | {min(shown):.1%} | "
            f"{np.mean(plain):.1%} | {min(plain):.1%} |"
        )


def cluster_table(trials: int) -> Iterator[str]:
    """Coverage with groups of ten items that resemble each other."""
    yield f"Grouped items: groups of ten, intra-class correlation 0.3, {trials:,} samples each."
    yield ""
    yield "| metric | groups | true share | with groups | items taken as independent |"
    yield "|---|---|---|---|---|"
    labels = {groups: np.repeat(np.arange(groups), 10) for groups in (30, 100, 300)}
    for kind in ("hits1", "mrr"):
        for groups, share in itertools.product(labels, (0.3, 0.6, 0.9)):
            truth = true_mean(share, kind)
            inside = np.zeros(2)
            for start in range(0, trials, BATCH):
                rng = np.random.default_rng((21, groups, int(share * 10), start))
                values = grouped_scores(groups, share, min(BATCH, trials - start), kind, rng)
                for place, clusters in enumerate((labels[groups], None)):
                    found = mean_intervals(values, kind=kind, clusters=clusters, seed=(22, start))
                    inside[place] += len(found) * covered(found, truth)
            name = "Hits@1" if kind == "hits1" else "MRR"
            grouped, naive = inside / trials
            yield f"| {name} | {groups} | {share:.1f} | {grouped:.1%} | {naive:.1%} |"


def grouped_scores(
    groups: int, share: float, trials: int, kind: Kind, rng: np.random.Generator
) -> Floats:
    """Scores (10 x groups, trials) in groups of ten with an intra-class correlation of 0.3."""
    scale = 1 / 0.3 - 1
    level = rng.beta(share * scale, (1 - share) * scale, (groups, 1, trials))
    hits = rng.random((groups, 10, trials)) < level
    return scores_of(hits.reshape(groups * 10, trials), kind, rng)


def paired_models(
    shares: Floats, n_items: int, trials: int, kind: Kind, rng: np.random.Generator
) -> Floats:
    """Scores (n_items, models, trials) of models that tend to fail on the same hard items."""
    common = np.sqrt(0.5) * rng.standard_normal((n_items, 1, trials))
    own = np.sqrt(0.5) * rng.standard_normal((n_items, len(shares), trials))
    hits = common + own < stats.norm.ppf(shares)[:, None]
    return scores_of(hits, kind, rng)


def each_trial(
    shares: Floats, n_items: int, trials: int, kind: Kind, seed: tuple[int, ...]
) -> Iterator[tuple[Floats, Floats]]:
    """Scores and resampled means of every trial, drawn in batches that share their weights."""
    batch = 50
    for start in range(0, trials, batch):
        rng = np.random.default_rng((*seed, start))
        values = paired_models(shares, n_items, min(batch, trials - start), kind, rng)
        means = bootstrap_means(values.reshape(n_items, -1), seed=(*seed, start, 1))
        means = means.reshape(len(means), len(shares), -1)
        for trial in range(values.shape[2]):
            yield np.ascontiguousarray(values[:, :, trial]), means[:, :, trial]


def bound(successes: int, trials: int, *, upper: bool) -> float:
    """End of the 99% interval (Clopper-Pearson) for the true share behind the simulated one."""
    found = stats.binomtest(successes, trials).proportion_ci(0.99)
    return float(found.high if upper else found.low)


def rank_table(trials: int) -> Iterator[str]:
    """Do the rank sets hold all true places at once? 30 models, ten of them equal."""
    shares = np.concatenate(
        [np.linspace(0.45, 0.60, 10), np.full(10, 0.65), np.linspace(0.70, 0.85, 10)]
    )
    best = 1 + (shares[:, None] < shares).sum(axis=1)
    worst = len(shares) - (shares[:, None] > shares).sum(axis=1)
    yield f"Rank sets, 30 models of which 10 tie, {trials:,} samples each."
    yield ""
    yield "| metric | items | all true places inside | 99% bounds | mean width of a set |"
    yield "|---|---|---|---|---|"
    for kind in ("hits1", "mrr"):
        for n_items in (100, 463, 1264):
            inside, widths = 0, []
            for values, means in each_trial(shares, n_items, trials, kind, (31, n_items)):
                sets = np.array(rank_sets(values, means=means))
                inside += bool(np.all((sets[:, 0] <= best) & (worst <= sets[:, 1])))
                widths.append(float((sets[:, 1] - sets[:, 0] + 1).mean()))
            name = "Hits@1" if kind == "hits1" else "MRR"
            yield (
                f"| {name} | {n_items:,} | {inside / trials:.1%} | "
                f"{bound(inside, trials, upper=False):.1%} to "
                f"{bound(inside, trials, upper=True):.1%} | "
                f"{np.mean(widths):.1f} |"
            )


def null_table(trials: int) -> Iterator[str]:
    """How often does the board claim any difference between 20 equal models?"""
    yield f"False claims: 20 equal models (190 pairs), {trials:,} samples each."
    yield ""
    yield "| claim | items | share of hits | any false claim | 99% upper bound |"
    yield "|---|---|---|---|---|"
    for kind, rules in FALSE_CLAIMS.items():
        for n_items in (100, 463):
            for share in (0.6, 0.95):
                made = dict.fromkeys(rules, 0)
                seed = (41, n_items, int(share * 100))
                for values, means in each_trial(np.full(20, share), n_items, trials, kind, seed):
                    for name, claims in rules.items():
                        made[name] += claims(values, means)
                for name, count in made.items():
                    yield (
                        f"| {name} | {n_items} | {share:.2f} | {count / trials:.1%} | "
                        f"{bound(count, trials, upper=True):.1%} |"
                    )


FALSE_CLAIMS: dict[Kind, dict[str, Callable[[Floats, Floats], bool]]] = {
    "hits1": {
        "Hits@1: McNemar, Holm": lambda values, _: bool(
            (holm(mcnemar_pairs(values).p) <= 0.05).any()
        ),
        "Hits@1: rank sets": lambda values, means: bool(separated(values, means=means).any()),
    },
    "mrr": {"MRR: rank sets": lambda values, means: bool(separated(values, means=means).any())},
}


def tau_table(trials: int) -> Iterator[str]:
    """Coverage of the agreement between two subsets; the hard case is named as such."""
    yield f"Agreement of two subsets (tau-b), {trials:,} samples each."
    yield ""
    yield "| models | items per subset | true orders | interval holds the true tau |"
    yield "|---|---|---|---|"
    for models, n_items, mix, name in (
        (12, 400, 0.5, "related"),
        (20, 1264, 0.5, "related"),
        (20, 1264, 0.0, "unrelated"),
        (20, 1264, 1.0, "the same"),
    ):
        rng = np.random.default_rng((51, models, n_items, int(mix * 10)))
        inside = 0
        for trial in range(trials):
            one = rng.uniform(0.4, 0.8, models)
            other = mix * one + (1 - mix) * rng.uniform(0.4, 0.8, models)
            tables = [
                (rng.random((n_items, models)) < shares).astype(float) for shares in (one, other)
            ]
            found = subset_agreement(tables, resamples=1000, seed=(52, trial))[0]
            truth = stats.kendalltau(one, other).statistic
            if found.low is not None and found.high is not None:
                inside += found.low - 1e-9 <= truth <= found.high + 1e-9
        yield f"| {models} | {n_items:,} | {name} | {inside / trials:.1%} |"


TABLES: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {
    "hits": (lambda _: exact_table(), 1),
    "mrr": (mrr_table, 1000),
    "clusters": (cluster_table, 8000),
    "ranks": (rank_table, 500),
    "null": (null_table, 4000),
    "tau": (tau_table, 300),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, and compare them with or write them to a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(TABLES), nargs="+", default=list(TABLES))
    parser.add_argument("--share", type=float, default=1.0, help="share of the trials to run")
    page = parser.add_mutually_exclusive_group()
    page.add_argument("--check", type=Path, help="page whose figures must be these")
    page.add_argument("--write", type=Path, help="page to put the figures into")
    options = parser.parse_args(arguments)
    path = options.check or options.write
    differing = []
    for name in options.only:
        table, trials = TABLES[name]
        lines = []
        for line in table(max(50, round(trials * options.share))):
            print(line, flush=True)
            lines.append(line)
        print(flush=True)
        if path is not None:
            text = path.read_text(encoding="utf-8")
            shown = with_figures(text, name, "\n".join(lines))
            if options.write:
                path.write_text(shown, encoding="utf-8")
            elif shown != text:
                differing.append(name)
    if differing:
        print(f"{path} shows other figures for: {', '.join(differing)}", file=sys.stderr)
    return 1 if differing else 0


def with_figures(page: str, name: str, figures: str) -> str:
    """The page with one table's place, marked by comments, filled with these figures."""
    begin, end = f"<!-- figures: {name} -->", f"<!-- end: {name} -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"the page has no place for this table: {begin} ... {end}")
    return f"{before}{begin}\n{figures}\n{end}{after}"


if __name__ == "__main__":
    raise SystemExit(main())
