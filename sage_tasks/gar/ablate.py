"""Tables 5 and 6 of the paper from one run with ``method=all``.

Every method ranks by answers to the same questions, so all of them come from one set of answers,
and differences between them are paired by item.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sage_tasks.gar.methods import Settings, ranking
from sage_tasks.gar.records import AXES
from sage_tasks.gar.results import TaskResult
from sage_tasks.metrics import INVALID_METRICS, item_metrics
from wordsight.errors import DataError

METHODS = (
    ("base", "Base"),
    ("generated_def", "Generated Def."),
    ("lexical_def", "Lexical Def."),
    ("cgr", "CGR"),
    ("gar", "Full GAR"),
)
Metric = str


@dataclass(frozen=True)
class Cell:
    """A figure with its 95% interval, all in percent, and how it differs from the reference row.

    p : two-sided; exact McNemar for Hits@1, paired bootstrap for MRR. None in the reference row.
    """

    value: float
    low: float
    high: float
    difference: float | None = None
    p: float | None = None

    @property
    def mark(self) -> str:
        """The paper's marks: * for p < 0.05, † for p < 0.01."""
        if self.p is None or self.p >= 0.05:
            return ""
        return "†" if self.p < 0.01 else "*"


@dataclass(frozen=True)
class Table:
    """Rows by name, columns by (task, metric)."""

    title: str
    reference: str
    rows: dict[str, dict[tuple[str, Metric], Cell]]
    items: dict[str, int]


def method_table(tasks: Sequence[TaskResult]) -> Table:
    """Table 5: base and the four methods; differences are from base."""
    variants = {
        name: dataclasses.replace(_settings(tasks), method=method)  # type: ignore[arg-type]
        for method, name in METHODS
    }
    return _table("Methods (Table 5)", "Base", tasks, variants)


def axis_table(tasks: Sequence[TaskResult]) -> Table:
    """Table 6: CGR with every subset of axes; differences are from all axes."""
    base = dataclasses.replace(_settings(tasks), method="cgr")
    subsets = [subset for size in (1, 2, 3) for subset in combinations(AXES, size)]
    variants = {
        "All" if len(axes) == len(AXES) else "+".join(axes): dataclasses.replace(base, axes=axes)
        for axes in subsets
    }
    return _table("Axes of CGR (Table 6)", "All", tasks, variants)


def aggregation_table(tasks: Sequence[TaskResult]) -> Table:
    """CGR and Full GAR under other aggregations; differences are from CGR with the mean."""
    base = dataclasses.replace(_settings(tasks), aggregation="mean", information=False)
    variants = {}
    for method, title in (("cgr", "CGR"), ("gar", "GAR")):
        for how in ("mean", "axis", "geometric", "min"):
            variants[f"{title}, {how}"] = dataclasses.replace(
                base,
                method=method,  # type: ignore[arg-type]
                aggregation=how,
            )
        variants[f"{title}, mean, information"] = dataclasses.replace(
            base,
            method=method,  # type: ignore[arg-type]
            information=True,
        )
    return _table("Aggregation", "CGR, mean", tasks, variants)


def render(table: Table) -> str:
    """The table as text: value [low, high] and mark, one line per row."""
    columns = list(next(iter(table.rows.values())))
    width = max(len(name) for name in table.rows) + 2
    counts = ", ".join(f"{task} {n} items" for task, n in table.items.items())
    head = "".join(f"{f'{task} {metric}':>29}" for task, metric in columns)
    lines = [
        f"{table.title}; {counts}; 95% intervals; against {table.reference}: * p < 0.05,"
        " † p < 0.01",
        f"{'':{width}}{head}",
    ]
    for name, cells in table.rows.items():
        shown = []
        for column in columns:
            cell = cells[column]
            shown.append(f"{cell.value:5.1f} [{cell.low:4.1f}, {cell.high:5.1f}]{cell.mark or ' '}")
        lines.append(f"{name:{width}}" + "".join(f"{text:>29}" for text in shown))
    return "\n".join(lines)


def as_json(table: Table) -> dict[str, Any]:
    """The table as JSON values."""
    return {
        "title": table.title,
        "reference": table.reference,
        "items": table.items,
        "rows": [
            {"row": name, "task": task, "metric": metric, **dataclasses.asdict(cell)}
            for name, cells in table.rows.items()
            for (task, metric), cell in cells.items()
        ],
    }


def _settings(tasks: Sequence[TaskResult]) -> Settings:
    for task in tasks:
        for item in task.items:
            if item.status == "ok":
                settings = item.trace.settings
                if settings.method != "all":
                    raise DataError(
                        f"{task.task}: this run has method={settings.method}; ablation needs a "
                        "run with method=all"
                    )
                return settings
    raise DataError("no item of this run could be ranked")


def _table(
    title: str, reference: str, tasks: Sequence[TaskResult], variants: dict[str, Settings]
) -> Table:
    rows: dict[str, dict[tuple[str, Metric], Cell]] = {name: {} for name in variants}
    for task in tasks:
        for metric in ("hits1", "mrr"):
            scores = {name: list(_scores(task, v, metric)) for name, v in variants.items()}
            for name, cell in _cells(scores, reference, metric):
                rows[name][task.task, "Hits@1" if metric == "hits1" else "MRR"] = cell
    return Table(title, reference, rows, {task.task: len(task.items) for task in tasks})


def _scores(task: TaskResult, settings: Settings, metric: str) -> Iterator[float]:
    for item in task.items:
        if item.status == "failed":
            raise DataError(f"{item.where}: a request failed; complete the run with --resume")
        if item.status == "invalid":
            yield float(getattr(INVALID_METRICS, metric))
            continue
        keys = ranking(item.trace.answers, settings)
        kinds = task.queries[item.item].kinds
        yield float(getattr(item_metrics(keys, item.gold, kinds), metric))


def _cells(
    scores: dict[str, list[float]], reference: str, metric: str
) -> Iterator[tuple[str, Cell]]:
    import numpy as np

    from leaderboard.stats import mcnemar_exact, mean_intervals, paired_difference

    test: Callable[..., Any] = mcnemar_exact if metric == "hits1" else paired_difference
    intervals = mean_intervals(
        np.array(list(scores.values())).T, kind="hits1" if metric == "hits1" else "mrr"
    )
    for (name, values), interval in zip(scores.items(), intervals, strict=True):
        p = None if name == reference else float(test(values, scores[reference]).p)
        difference = interval.estimate - sum(scores[reference]) / len(values)
        yield (
            name,
            Cell(
                value=100 * interval.estimate,
                low=100 * interval.low,
                high=100 * interval.high,
                difference=None if name == reference else 100 * difference,
                p=p,
            ),
        )
