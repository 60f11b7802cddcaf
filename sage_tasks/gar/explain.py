"""Why a candidate won: an item's words, questions, answers and ranks, as text and as a page."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sage_tasks.gar.fusion import mean_ranks
from sage_tasks.gar.methods import ranking
from sage_tasks.gar.results import LoggedItem, TaskResult
from sage_tasks.gar.trace import UNSHARED, WITHHELD, ItemTrace, with_glosses
from sage_tasks.gar.verification import BASE, GENERATED, LEXICAL
from sage_tasks.lexicons.babelnet import BabelNet
from sage_tasks.lexicons.cache import cache_folder
from sage_tasks.records import Query

PICTURE_SIDE = 160
_ABOUT = {
    BASE: "the term in its context",
    LEXICAL: "the definition from glosses",
    GENERATED: "the definition without glosses",
}


@dataclass(frozen=True)
class Explanation:
    """What is shown of one item; ``order`` lists candidates from best to worst."""

    item: str
    task: str
    query: Query
    gold: int
    trace: ItemTrace
    scores: tuple[float, ...]
    ranks: tuple[float, ...]
    order: tuple[int, ...]
    rows: tuple[tuple[str, str, tuple[float, ...]], ...]


def explain(task: TaskResult, item: LoggedItem) -> Explanation:
    """The explanation of an item. Raises DataError when it has no trace."""
    trace = _with_local_glosses(item.trace)
    scores = ranking(trace.answers, trace.settings)
    ranks = mean_ranks(scores)
    text = trace.part.text
    phrases = iter(
        c.phrase
        for c in text.constraints
        if any(question.axis == c.axis for question in trace.part.questions)
    )
    rows = tuple(
        (question.name, _ABOUT.get(question.name) or next(phrases), tuple(row))
        for question, row in zip(trace.part.questions, trace.answers.probabilities, strict=True)
    )
    return Explanation(
        item=item.item,
        task=item.task,
        query=task.queries[item.item],
        gold=item.gold,
        trace=trace,
        scores=tuple(scores),
        ranks=tuple(ranks),
        order=tuple(sorted(range(len(scores)), key=lambda c: (ranks[c], c))),
        rows=rows,
    )


def as_text(e: Explanation) -> str:
    """The explanation for a terminal; candidates are columns, best first."""
    text, settings = e.trace.part.text, e.trace.settings
    lines = [
        f"{e.task} {e.item}: {text.term!r} in {text.context!r}",
        f"method {settings.method}, axes {'+'.join(settings.axes)}, aggregation "
        f"{settings.aggregation}, information weight {'on' if settings.information else 'off'}, "
        f"k {settings.k}",
        *(f"{name}: {value}" for name, value in e.trace.part.origin.items()),
        "",
        f"Glosses ({len(text.glosses)}):",
        *(f"  {gloss.source}:{gloss.key}  {gloss.text}" for gloss in text.glosses),
    ]
    for name, definition in (("Definition", text.lexical), ("Without glosses", text.generated)):
        if definition is not None:
            said = "; departs from the glosses" if definition.departs else ""
            said += f"; from {definition.chosen}" if definition.chosen else ""
            lines += [f"{name}: {definition.text} ({definition.origin}{said})"]
            lines += [f"  to be seen: {'; '.join(definition.visible)}"] * bool(definition.visible)
    if text.faults:
        lines.append("Faults: " + ", ".join(f"{k} {v}" for k, v in text.faults.items()))
    names = [f"{'*' if c == e.gold else ''}{c}" for c in e.order]
    lines += ["", _row("P(yes) per candidate, best first; * is the gold", names)]
    lines += [
        _row(f"{name}: {about}", [f"{row[c]:.2f}" for c in e.order]) for name, about, row in e.rows
    ]
    candidates = e.trace.candidates
    if candidates[0].holistic_rank is not None:
        ranks = [f"{candidates[c].holistic_rank:g}" for c in e.order]
        lines.append(_row("rank by definition", ranks))
    if candidates[0].constraint_rank is not None:
        ranks = [f"{candidates[c].constraint_rank:g}" for c in e.order]
        lines.append(_row("rank by constraints", ranks))
    lines.append(_row("score", [f"{e.scores[c]:.4f}"[:6] for c in e.order]))
    spent = e.trace.part.seconds
    lines += ["", "Seconds: " + ", ".join(f"{name} {value:.3f}" for name, value in spent.items())]
    return "\n".join(lines)


def write_page(e: Explanation, task: TaskResult, path: Path) -> None:
    """Write the page: the ten pictures inside it, and a question x picture heat map."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("sage_tasks.gar", "pages"), autoescape=True)
    columns = [_column(e, task, candidate) for candidate in e.order]
    rows = [
        {"name": name, "about": about, "cells": [_cell(row[c]) for c in e.order]}
        for name, about, row in e.rows
    ]
    page = environment.get_template("explain.html.j2").render(
        e=e,
        text=e.trace.part.text,
        settings=e.trace.settings,
        columns=columns,
        rows=rows,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


def _column(e: Explanation, task: TaskResult, candidate: int) -> dict[str, Any]:
    numbers = e.trace.candidates[candidate]
    return {
        "number": candidate,
        "gold": candidate == e.gold,
        "kind": e.query.kinds[candidate],
        "picture": _thumbnail(task, e.query.candidates[candidate]),
        "rank": f"{e.ranks[candidate]:g}",
        "score": f"{e.scores[candidate]:.5g}",
        "holistic": "" if numbers.holistic_rank is None else f"{numbers.holistic_rank:g}",
        "constraints": "" if numbers.constraint_rank is None else f"{numbers.constraint_rank:g}",
    }


def _cell(p: float) -> dict[str, str]:
    # from white (no) to blue (yes); dark cells get light letters, so that all can be read
    light = round(97 - 57 * p)
    return {"text": f"{p:.2f}", "light": str(light), "ink": "#fff" if light < 62 else "#111"}


def _thumbnail(task: TaskResult, image_id: str) -> str:
    picture = task.package.picture(image_id)
    picture.thumbnail((PICTURE_SIDE, PICTURE_SIDE))
    stream = io.BytesIO()
    picture.save(stream, "WEBP", quality=80)
    return "data:image/webp;base64," + base64.b64encode(stream.getvalue()).decode()


def _row(title: str, cells: list[str]) -> str:
    short = title if len(title) <= 58 else title[:57] + "…"
    return f"{short:58}" + "".join(f"{cell:>7}" for cell in cells)


def _with_local_glosses(trace: ItemTrace) -> ItemTrace:
    text = trace.part.text
    hidden = [g.key for g in text.glosses if g.source in UNSHARED and g.text == WITHHELD]
    if not hidden or not (cache_folder() / "babelnet.sqlite").is_file():
        return trace
    lexicon = BabelNet()
    local = {key: gloss for key in hidden if (gloss := lexicon.local_gloss(key))}
    part = trace.part.model_copy(update={"text": with_glosses(text, local)})
    return ItemTrace(part, trace.candidates)
