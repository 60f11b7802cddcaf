"""Which models to put where: stage 1 first, then stage 2 with it fixed (Tables 1, 2, 4, 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from symbal_tasks.bench import BenchRun, run_method
from symbal_tasks.cache import ContentCache
from symbal_tasks.compositions import Spec, compose
from symbal_tasks.evaluate import accuracy, score
from symbal_tasks.judge import Judge
from symbal_tasks.server import Endpoint


@dataclass(frozen=True)
class Sweep:
    """Parts to combine, each written as in :mod:`symbal_tasks.compositions`."""

    texts: tuple[str, ...]
    scorers: tuple[str, ...]
    text_summaries: tuple[str, ...]
    pictures: tuple[str, ...]
    second_scorers: tuple[str, ...]
    row_summaries: tuple[str, ...]


@dataclass(frozen=True)
class Tried:
    """A composition and its accuracy for the names of its stage."""

    parts: Spec
    at1: float
    at5: float


def ablate(
    base: Spec,
    sweep: Sweep,
    run: BenchRun,
    judge: Judge,
    cache: ContentCache,
    endpoint: Endpoint | None = None,
) -> Iterator[str]:
    """Yield one line per composition, the best of each stage last.

    Stage 1 is ranked by Accuracy@5 of t, then @1; stage 2 by that of v, with stage 1 fixed.
    """
    first = [
        replace(base, texts=texts, scorer=scorer, text_summary=summary)
        for texts, scorer, summary in product(sweep.texts, sweep.scorers, sweep.text_summaries)
    ]
    yield f"stage 1, {len(run.settings)} settings: text embedding, scorer, summariser"
    ranked: list[Tried] = []
    for parts in first:
        tried = _try(parts, run, judge, cache, endpoint, stage=1)
        ranked.append(tried)
        yield _line((parts.texts, parts.scorer, parts.text_summary), tried)
    best = max(ranked, key=lambda t: (t.at5, t.at1)).parts
    yield f"best: {best.texts}, {best.scorer}, {best.text_summary}"
    yield "stage 2, stage 1 fixed: picture embedding, scorer, summariser"
    second = [
        replace(best, pictures=pictures, second_scorer=scorer, row_summary=summary)
        for pictures, scorer, summary in product(
            sweep.pictures, sweep.second_scorers, sweep.row_summaries
        )
    ]
    ranked = []
    for parts in second:
        tried = _try(parts, run, judge, cache, endpoint, stage=2)
        ranked.append(tried)
        yield _line((parts.pictures, parts.second_scorer, parts.row_summary), tried)
    best = max(ranked, key=lambda t: (t.at5, t.at1)).parts
    yield f"best: {best.pictures}, {best.second_scorer}, {best.row_summary}"


def _try(
    parts: Spec,
    run: BenchRun,
    judge: Judge,
    cache: ContentCache,
    endpoint: Endpoint | None,
    *,
    stage: int,
) -> Tried:
    composition = compose(parts, cache, endpoint, references=run.references)
    options = replace(run.options, second="skip") if stage == 1 else run.options
    now = replace(run, composition=composition, options=options)
    answers = [run_method("symbal", now, setting) for setting in run.settings]
    scored = score(run.settings, answers, judge)
    name = "t" if stage == 1 else "v"
    return Tried(parts, accuracy(scored, f"{name}@1").share, accuracy(scored, f"{name}@5").share)


def _line(parts: Sequence[str], tried: Tried) -> str:
    return f"{', '.join(parts):60} acc@1 {100 * tried.at1:5.1f}  acc@5 {100 * tried.at5:5.1f}"
