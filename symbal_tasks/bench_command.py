"""What ``wordsight symbal`` and ``wordsight ablate`` do: open, compose, run, judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from symbal_tasks.ablate import Sweep, ablate
from symbal_tasks.audit.command import endpoint, read_parts
from symbal_tasks.backends import CachedChat, ChatModel
from symbal_tasks.bench import BenchRun, held_answers, run_bench, shown_often, stratified
from symbal_tasks.cache import ContentCache
from symbal_tasks.compositions import chat_model, compose, spec
from symbal_tasks.direct import PROMPTS, Form
from symbal_tasks.judge import Judge, ModelJudge, OfflineJudge, agreement, wordnet_nouns
from symbal_tasks.symbal import Options
from symbal_tasks.view import open_benchmark
from wordsight.errors import WordsightError


@dataclass(frozen=True)
class BenchCommand:
    """Options of ``wordsight symbal``."""

    benchmark: Path
    domain: str
    images: Path | None
    methods: tuple[str, ...]
    settings: int
    least_shown: int
    composition: str
    parts: tuple[str, ...]
    server: str
    references: bool
    second: str
    sweep: str
    margin: float
    direct_model: str
    direct_form: str
    context_tokens: int
    judge_model: str
    wordnet: Path | None
    out: Path
    traces: Path | None
    seed: int
    cache: Path


def bench_lines(command: BenchCommand) -> Iterator[str]:
    """Run and yield the lines that tell about it. Raises WordsightError for unusable options."""
    cache = ContentCache(command.cache)
    run = prepare(command, cache)
    yield (
        f"{len(run.settings)} settings of {command.benchmark}, "
        f"{'with' if command.references else 'without'} references"
    )
    offline = OfflineJudge(wordnet_nouns(command.wordnet) if command.wordnet else {})
    model = _chat(command, command.judge_model, cache) if command.judge_model else None
    judge: Judge = ModelJudge(model) if model else offline
    yield from run_bench(command.methods, run, judge, command.out)
    if model:
        yield from _judges_agree(run, judge, offline, command)


def ablate_lines(command: BenchCommand, *lists: tuple[str, ...]) -> Iterator[str]:
    """Lines of ``wordsight ablate symbal``; ``lists`` in the order of :class:`Sweep`'s fields."""
    cache = ContentCache(command.cache)
    yield from ablate(
        spec(command.composition),
        Sweep(*lists),
        prepare(command, cache),
        OfflineJudge(),
        cache,
        endpoint(command.server),
    )


def prepare(command: BenchCommand, cache: ContentCache) -> BenchRun:
    """Open the benchmark, choose settings, build the models."""
    benchmark = open_benchmark(command.benchmark, command.domain, command.images)
    if command.second not in ("behind", "everywhere"):
        raise WordsightError(f"--second {command.second!r}: use 'behind' or 'everywhere'")
    if command.direct_form not in PROMPTS:
        raise WordsightError(f"--direct-form {command.direct_form!r}: use {' or '.join(PROMPTS)}")
    options = Options(
        second=cast(Literal["behind", "everywhere"], command.second),
        seed=command.seed,
        margin=command.margin,
        sweep=_numbers(command.sweep) if command.sweep else Options.sweep,
    )
    shown = shown_often(benchmark.settings, command.least_shown)
    return BenchRun(
        benchmark,
        stratified(shown, command.settings or len(shown), command.seed),
        compose(
            spec(command.composition, **read_parts(command.parts)),
            cache,
            endpoint(command.server),
            references=command.references,
        ),
        options,
        command.references,
        _chat(command, command.direct_model, cache) if command.direct_model else None,
        command.context_tokens,
        cast(Form, command.direct_form),
        command.traces,
    )


def _judges_agree(
    run: BenchRun, model: Judge, offline: Judge, command: BenchCommand
) -> Iterator[str]:
    answers = held_answers(command.methods, run, command.out)
    pairs: list[tuple[str, str]] = []
    for setting, answer in answers:
        pairs += [(said, setting.t) for said in answer.errors]
        pairs += [(said, setting.v) for said in answer.features]
    unique: Sequence[tuple[str, str]] = list(dict.fromkeys(pairs))
    if unique:
        found = agreement(model.same(unique), offline.same(unique))
        kappa = "undefined" if found.kappa is None else f"{found.kappa:.2f}"
        yield (
            f"judges {model.name} and {offline.name} agree on {100 * found.share:.1f}% of "
            f"{found.n} phrases, kappa {kappa}"
        )


def _chat(command: BenchCommand, model: str, cache: ContentCache) -> ChatModel:
    return CachedChat(chat_model(model, endpoint(command.server)), cache)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise WordsightError(f"--sweep {text!r}: write numbers separated by commas") from None
