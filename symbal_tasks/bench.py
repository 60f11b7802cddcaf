"""Running methods over the settings of SymbalBench, beside a control without association."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from symbal_tasks.backends import ChatModel, Row
from symbal_tasks.direct import PROMPTS, Form, ask_directly, count_words, direct_prompt
from symbal_tasks.evaluate import (
    MEASURES,
    Answer,
    Scored,
    difference,
    read_answer,
    score,
    table,
)
from symbal_tasks.judge import Judge
from symbal_tasks.records import Setting
from symbal_tasks.symbal import Composition, Options, find, find_ungrouped
from symbal_tasks.view import Benchmark
from wordsight.errors import DataError, WordsightError

METHODS = ("symbal", "control", "nogroup", "direct", "words")


@dataclass(frozen=True)
class BenchRun:
    """What to run: methods over settings, with or without references.

    chat, context_tokens, direct_form : the model of the direct prompt, its context, and how it is
        asked to answer. The words baseline counts over the sample of the same prompt.
    """

    benchmark: Benchmark
    settings: tuple[Setting, ...]
    composition: Composition
    options: Options
    references: bool = True
    chat: ChatModel | None = None
    context_tokens: int = 8192
    direct_form: Form = "text"
    traces: Path | None = None


def rows_of(benchmark: Benchmark, setting: Setting, *, references: bool = True) -> list[Row]:
    """The rows of a setting; pictures are read when asked for."""
    captions = benchmark.captions(setting)
    pictured = benchmark.has_pictures
    return [
        Row(
            base.id,
            caption,
            base.reference if references else "",
            _reader(benchmark, number) if pictured else None,
        )
        for number, (base, caption) in enumerate(zip(benchmark.stored.rows, captions, strict=True))
    ]


def shown_often(settings: Sequence[Setting], least: int) -> tuple[Setting, ...]:
    """Settings whose feature at least ``least`` pictures show; in two or three of them no
    association can be seen. Raises DataError when none is left."""
    kept = tuple(setting for setting in settings if setting.n_v >= least)
    if not kept:
        most = max((setting.n_v for setting in settings), default=0)
        raise DataError(f"no setting's feature is shown by {least} pictures; the most is {most}")
    return kept


def stratified(settings: Sequence[Setting], n: int, seed: int = 0) -> tuple[Setting, ...]:
    """``n`` settings, as equally many of each strength as there are, drawn by the seed."""
    rng = random.Random(f"{seed}|settings")
    by: dict[float, list[Setting]] = {}
    for setting in settings:
        by.setdefault(setting.strength, []).append(setting)
    for held in by.values():
        rng.shuffle(held)
    chosen: list[Setting] = []
    while len(chosen) < n and any(by.values()):
        for strength in sorted(by):
            if by[strength] and len(chosen) < n:
                chosen.append(by[strength].pop())
    return tuple(chosen)


def without_association(setting: Setting, benchmark: Benchmark, seed: int = 0) -> Setting:
    """The control: the same sentences in other captions, drawn without regard to v.

    Pictures whose features name t stay free of it, as in the benchmark.
    """
    rng = random.Random(f"{seed}|control|{setting.id}")
    free = [i for i, row in enumerate(benchmark.stored.rows) if setting.t not in row.features]
    rows = tuple(sorted(rng.sample(free, min(len(free), len(setting.rows)))))
    return replace(setting, rows=rows, sentences=setting.sentences[: len(rows)], places=())


def run_method(method: str, run: BenchRun, setting: Setting) -> Answer:
    """One method's answer to one setting. Raises WordsightError for an unknown method."""
    if method not in METHODS:
        raise WordsightError(f"no method {method!r}; known: {', '.join(METHODS)}")
    if method == "control":
        setting = without_association(setting, run.benchmark, run.options.seed)
    rows = rows_of(run.benchmark, setting, references=run.references)
    sample: dict[str, Any] = {
        "context_tokens": run.context_tokens,
        "form": run.direct_form,
        "seed": run.options.seed,
    }
    if method == "words":
        return count_words(direct_prompt(rows, **sample).shown)
    if method == "direct":
        if run.chat is None:
            raise WordsightError("method direct needs --server and --direct-model")
        return read_answer(ask_directly(rows, run.chat, **sample))
    method_of = find_ungrouped if method == "nogroup" else find
    trace = method_of(rows, run.composition, run.options)
    if run.traces is not None:
        trace.write(run.traces / f"{method}__{setting.id}.json")
    worst = trace.findings[0] if trace.findings else None
    return Answer(worst.errors[:5], worst.features[:5]) if worst else Answer((), ())


def run_bench(methods: Sequence[str], run: BenchRun, judge: Judge, out: Path) -> Iterator[str]:
    """Run methods over settings and yield lines; answers are kept in ``out`` as they come.

    A setting that ``out`` already answers is not run again.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    causes = {method: _cause(run, method) for method in methods}
    held = _held(out, causes)
    names = run.composition.names()
    yield "composition: " + ", ".join(f"{part} = {name}" for part, name in names.items())
    scored: dict[str, list[Scored]] = {}
    for method in methods:
        answers = []
        for setting in run.settings:
            key = (method, setting.id)
            if key not in held:
                held[key] = run_method(method, run, setting)
                line = {"method": method, "setting": setting.id, **asdict(held[key])}
                line["cause"] = causes[method]
                with out.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(line) + "\n")
            answers.append(held[key])
        scored[method] = score(run.settings, answers, judge)
        yield f"== {method}, judged by {judge.name}"
        if empty := sum(not (answer.errors and answer.features) for answer in answers):
            yield f"{empty} of {len(answers)} answers name no error or no feature"
        yield from table(scored[method])
    for method in methods[1:]:
        yield f"== {methods[0]} minus {method}"
        for measure in MEASURES:
            gap, low, high = difference(scored[methods[0]], scored[method], measure)
            yield f"{measure:7} {100 * gap:5.1f}  [{100 * low:5.1f}, {100 * high:5.1f}]"


def held_answers(methods: Sequence[str], run: BenchRun, out: Path) -> list[tuple[Setting, Answer]]:
    """The answers that ``out`` keeps of a run, with their settings."""
    held = _held(out, {method: _cause(run, method) for method in methods})
    return [
        (setting, held[method, setting.id])
        for method in methods
        for setting in run.settings
        if (method, setting.id) in held
    ]


def _cause(run: BenchRun, method: str) -> dict[str, object]:
    """What gave an answer: answers of other models or options must not be taken for it."""
    cause: dict[str, object] = {
        "references": run.references,
        "fingerprint": run.benchmark.stored.manifest["fingerprint"],
    }
    if method in ("direct", "words"):
        model = "counting" if method == "words" else run.chat.name if run.chat else ""
        prompt = PROMPTS[run.direct_form].version
        sample = {"prompt": prompt, "context": run.context_tokens, "seed": run.options.seed}
        return cause | {"direct": model} | sample
    options = json.loads(json.dumps(asdict(run.options)))
    return cause | {"composition": run.composition.names(), "options": options}


def _held(out: Path, causes: Mapping[str, object]) -> dict[tuple[str, str], Answer]:
    held: dict[tuple[str, str], Answer] = {}
    if not out.is_file():
        return held
    content = out.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        # a run that was killed left half a line
        out.write_bytes(content[:whole])
    for number, line in enumerate(out.read_text(encoding="utf-8").splitlines(), 1):
        try:
            entry = json.loads(line)
            key = (entry["method"], entry["setting"])
            answer = Answer(tuple(entry["errors"]), tuple(entry["features"]))
        except (ValueError, KeyError) as error:
            raise DataError(f"{out}: line {number}: no answer ({error!r}); remove it") from None
        if entry.get("cause") == causes.get(key[0], "no such method"):
            held[key] = answer
    return held


def _reader(benchmark: Benchmark, number: int) -> Callable[[], bytes]:
    def read() -> bytes:
        content = benchmark.picture_bytes(number)
        assert content is not None
        return content

    return read
