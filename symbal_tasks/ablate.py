"""Which models to put where: stage 1 first, then stage 2 with it fixed (Tables 1, 2, 4, 5)."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
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
    yield f"stage 1, {len(run.settings)} settings: text embedding, scorer, summariser"
    names = ("texts", "scorer", "text_summary")
    tried = Trial(run, judge, cache, endpoint, stage=1)
    parts = product(sweep.texts, sweep.scorers, sweep.text_summaries)
    best = yield from _compare(base, names, parts, tried)
    yield "stage 2, stage 1 fixed: picture embedding, scorer, summariser"
    names = ("pictures", "second_scorer", "row_summary")
    tried = Trial(run, judge, cache, endpoint, stage=2)
    parts = product(sweep.pictures, sweep.second_scorers, sweep.row_summaries)
    yield from _compare(best, names, parts, tried)


@dataclass(frozen=True)
class Trial:
    """Runs one composition and looks at the names of one stage."""

    run: BenchRun
    judge: Judge
    cache: ContentCache
    endpoint: Endpoint | None
    stage: int

    def __call__(self, parts: Spec) -> Tried:
        """Accuracy of t for stage 1, of v for stage 2."""
        run = self.run
        composition = compose(parts, self.cache, self.endpoint, references=run.references)
        options = replace(run.options, second="skip") if self.stage == 1 else run.options
        now = replace(run, composition=composition, options=options)
        answers = [run_method("symbal", now, setting) for setting in run.settings]
        scored = score(run.settings, answers, self.judge)
        at1, at5 = (accuracy(scored, f"{'tv'[self.stage - 1]}@{top}").share for top in (1, 5))
        return Tried(parts, at1, at5)


def _compare(
    fixed: Spec, names: Sequence[str], combinations: Iterable[Sequence[str]], trial: Trial
) -> Generator[str, None, Spec]:
    """Yield a line per combination of the named parts and one for the best, which is returned."""
    ranked = []
    for values in combinations:
        tried = trial(replace(fixed, **dict(zip(names, values, strict=True))))
        ranked.append((tried.at5, tried.at1, values, tried.parts))
        shown = f"acc@1 {100 * tried.at1:5.1f}  acc@5 {100 * tried.at5:5.1f}"
        yield f"{', '.join(values):60} {shown}"
    _, _, values, best = max(ranked, key=lambda entry: entry[:2])
    yield f"best: {', '.join(values)}"
    return best
