"""Symbal: find the systematic misalignments of a set of captions (section 4, Appendix A).

Stage 1 groups facts, scores the groups, names the worst. Stage 2 does the same with the pictures
behind that group's facts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from symbal_tasks.backends import Claim, Row, RowEmbedder, TextEmbedder
from symbal_tasks.cluster import Clustering, cluster
from symbal_tasks.facts import SplitFacts, sentences
from symbal_tasks.groups import merge_near, rank, sample
from symbal_tasks.scorers import Scorer
from symbal_tasks.summarise import RowSummary, TextSummary
from symbal_tasks.trace import Finding, Group, Stage, Trace
from wordsight.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Composition:
    """The models of both stages. ``second_scorer`` is the first stage's where None."""

    texts: TextEmbedder
    scorer: Scorer
    text_summary: TextSummary
    pictures: RowEmbedder
    row_summary: RowSummary
    second_scorer: Scorer | None = None
    split: SplitFacts = sentences

    def names(self) -> dict[str, str]:
        """What stands in a trace and beside every figure."""
        return {
            "texts": self.texts.name,
            "scorer": self.scorer.name,
            "text_summary": self.text_summary.name,
            "pictures": self.pictures.name,
            "second_scorer": (self.second_scorer or self.scorer).name,
            "row_summary": self.row_summary.name,
        }


@dataclass(frozen=True)
class Options:
    """Choices that are not models.

    k : names given for each error and feature. findings : misalignments looked for (A.3).
    min_share : a group of facts counts as recurring from this share of the rows on.
    margin : standard errors added to a group's mean agreement before groups are ranked, so that
        small ones do not win by chance; 0 is the paper's plain mean.
    least_mean_size : a number of clusters is tried only where they hold so many items on average;
        few rows would else fall into groups of two or three, in which nothing recurs.
    score_sample, summary_sample : members of a group that are scored and named (None: all).
    redo : restarts of k-means for each k.
    merge : groups whose centres have at least this cosine are one finding.
    threshold : agreement below which a fact is flagged when there is no grouping.
    second : "behind" groups the pictures behind the worst facts, as the paper does; "everywhere"
        groups all pictures and looks for the group in which those errors are most frequent, which
        also tells a feature that goes with the error from one that is merely common; "skip" ends
        after stage 1.
    """

    k: int = 5
    findings: int = 1
    sweep: tuple[int, ...] = (8, 16, 32, 64, 96, 128)
    picture_sweep: tuple[int, ...] = (2, 4, 8, 16)
    min_share: float = 0.005
    margin: float = 2.0
    least_mean_size: int = 5
    score_sample: int | None = None
    summary_sample: int | None = 200
    merge: float = 0.9
    threshold: float = 0.5
    second: Literal["behind", "everywhere", "skip"] = "behind"
    everywhere_sweep: tuple[int, ...] = (16, 32, 64, 96)
    redo: int = 1
    seed: int = 0


def no_progress(stage: str, done: int, total: int) -> None:
    """Say nothing."""


def find(
    rows: Sequence[Row],
    composition: Composition,
    options: Options = Options(),
    progress: Progress = no_progress,
) -> Trace:
    """Run both stages. Raises DataError when there is no row or no caption holds a fact."""
    claims = split_claims(rows, composition.split)
    progress("embed facts", 0, len(claims))
    vectors = composition.texts.embed([claim.fact for claim in claims])
    progress("group facts", 0, len(claims))
    clustering = _cluster(vectors, options.sweep, options)
    progress("score facts", 0, len(claims))
    scores = _score(claims, clustering, composition.scorer, options)
    ranking = rank(
        [(claim.row.id, claim.fact) for claim in claims],
        clustering,
        scores,
        min_share=options.min_share,
        of=len(rows),
        margin=options.margin,
    )
    findings = []
    chosen = merge_near(
        ranking.recurring, clustering, vectors, most=options.findings, least_cosine=options.merge
    )
    for number, (worst, members) in enumerate(chosen, 1):
        progress("name findings", number, len(chosen))
        findings.append(_finding(rows, claims, scores, worst, members, composition, options))
    return Trace(
        composition.names(), asdict(options), len(rows), len(claims), ranking.stage, tuple(findings)
    )


def find_ungrouped(
    rows: Sequence[Row],
    composition: Composition,
    options: Options = Options(),
    progress: Progress = no_progress,
) -> Trace:
    """The ablation of Appendix D: flag single facts, name what the flagged have in common."""
    import numpy as np

    claims = split_claims(rows, composition.split)
    progress("score facts", 0, len(claims))
    scores = composition.scorer.score(claims)
    flagged = np.flatnonzero(scores < options.threshold).tolist()
    findings: tuple[Finding, ...] = ()
    if flagged:
        facts = [claims[i] for i in sample(flagged, options.summary_sample, options.seed)]
        kept = set(flagged)
        rest = [claim.fact for i, claim in enumerate(claims) if i not in kept]
        errors = composition.text_summary.summarise([c.fact for c in facts], rest, options.k)
        shown = list({claim.row.id: claim.row for claim in facts}.values())
        ids = {claims[i].row.id for i in flagged}
        others = [row for row in rows if row.id not in ids]
        features = composition.row_summary.summarise_rows(shown, others, options.k)
        findings = (
            Finding(
                tuple(errors),
                tuple(features),
                float(np.mean(scores[flagged])),
                tuple((claims[i].row.id, claims[i].fact) for i in flagged),
                tuple(sorted(ids)),
                None,
            ),
        )
    return Trace(composition.names(), asdict(options), len(rows), len(claims), None, findings)


def split_claims(rows: Sequence[Row], split: SplitFacts = sentences) -> list[Claim]:
    """All facts of all captions. Raises DataError when there are none."""
    claims = [Claim(fact, row) for row in rows for fact in split(row.caption)]
    if not claims:
        raise DataError(f"{len(rows)} rows hold no textual fact: all captions are empty")
    return claims


def _finding(
    rows: Sequence[Row],
    claims: Sequence[Claim],
    scores: NDArray[np.float64],
    worst: Group,
    members: Sequence[int],
    composition: Composition,
    options: Options,
) -> Finding:
    inside = set(members)
    texts = [claims[i].fact for i in sample(members, options.summary_sample, options.seed)]
    outside = [claim.fact for i, claim in enumerate(claims) if i not in inside]
    errors = composition.text_summary.summarise(texts, outside, options.k)
    stage: Stage | None = None
    features: list[str] = []
    shown: list[str] = []
    if options.second != "skip":
        stage, features, shown = _second(rows, claims, scores, members, composition, options)
    return Finding(
        tuple(errors),
        tuple(features),
        worst.score,
        tuple((claims[i].row.id, claims[i].fact) for i in members),
        tuple(shown),
        stage,
    )


def _second(
    rows: Sequence[Row],
    claims: Sequence[Claim],
    scores: NDArray[np.float64],
    members: Sequence[int],
    composition: Composition,
    options: Options,
) -> tuple[Stage, list[str], list[str]]:
    import numpy as np

    agreement: dict[str, list[float]] = {}
    shown: dict[str, Row] = {}
    behind = _scores_behind(claims, scores, members, composition)
    for i, score in zip(members, behind, strict=True):
        shown[claims[i].row.id] = claims[i].row
        agreement.setdefault(claims[i].row.id, []).append(float(score))
    if options.second == "behind":
        pictured, sweep, min_share = list(shown.values()), options.picture_sweep, 0.05
    else:
        pictured, sweep, min_share = list(rows), options.everywhere_sweep, options.min_share
    # a picture without the error agrees with its caption in this
    means = np.array([_mean(agreement.get(row.id, [1.0])) for row in pictured])
    ranking = rank(
        [(row.id, "") for row in pictured],
        _cluster(composition.pictures.embed_rows(pictured), sweep, options),
        means,
        min_share=min_share,
        of=len(pictured),
        margin=options.margin,
    )
    by_id = {row.id: row for row in pictured}
    chosen = {key for key, _ in ranking.recurring[0].members}
    sampled = sample(sorted(chosen), options.summary_sample, options.seed)
    others = [row for row in rows if row.id not in chosen]
    features = composition.row_summary.summarise_rows(
        [by_id[key] for key in sampled], others, options.k
    )
    return ranking.stage, features, sorted(chosen)


def _scores_behind(
    claims: Sequence[Claim],
    scores: NDArray[np.float64],
    members: Sequence[int],
    composition: Composition,
) -> NDArray[np.float64]:
    """Agreement of the worst facts: stage 1's where it has the scorer and scored them, else now."""
    import numpy as np

    if composition.second_scorer is not None:
        return composition.second_scorer.score([claims[i] for i in members])
    behind = scores[list(members)].copy()
    unscored = np.isnan(behind)
    if unscored.any():
        todo = [claims[i] for i, missing in zip(members, unscored, strict=True) if missing]
        behind[unscored] = composition.scorer.score(todo)
    return behind


def _cluster(vectors: NDArray[np.float32], sweep: Sequence[int], options: Options) -> Clustering:
    return cluster(
        vectors,
        sweep,
        seed=options.seed,
        redo=options.redo,
        least_mean_size=options.least_mean_size,
    )


def _score(
    claims: Sequence[Claim], clustering: Clustering, scorer: Scorer, options: Options
) -> NDArray[np.float64]:
    import numpy as np

    chosen = sorted(
        i
        for number in range(clustering.k)
        for i in sample(clustering.members(number).tolist(), options.score_sample, options.seed)
    )
    scores = np.full(len(claims), np.nan)
    scores[chosen] = scorer.score([claims[i] for i in chosen])
    return scores


def _mean(values: Sequence[float]) -> float:
    read = [value for value in values if not math.isnan(value)]
    return sum(read) / len(read) if read else float("nan")
