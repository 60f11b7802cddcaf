"""Reading a GAR run back: its samples files, traces and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sage_tasks.gar.trace import ItemTrace, read_trace
from sage_tasks.package import Package, open_package
from sage_tasks.records import Query
from sage_tasks.sources import dataset_root
from wordsight.errors import DataError
from wordsight.run.read import read_json, read_samples

MANIFEST = "wordsight_manifest.json"


@dataclass(frozen=True)
class LoggedItem:
    """One line of a samples file."""

    item: str
    task: str
    gold: int
    status: str
    responses: tuple[str, ...]
    where: str

    @cached_property
    def trace(self) -> ItemTrace:
        """The trace. Raises DataError when the item has none, as an invalid one has none."""
        return read_trace(self.responses, self.where)


@dataclass(frozen=True)
class TaskResult:
    """One task of a run: its items in order, and the dataset they come from."""

    task: str
    items: tuple[LoggedItem, ...]
    metadata: dict[str, Any]
    split: str

    @cached_property
    def package(self) -> Package:
        """The dataset. Raises DataError when it is not there or is another build."""
        package = open_package(
            dataset_root(self.metadata["dataset"]), self.metadata["config"], self.split
        )
        expected = self.metadata.get("dataset_fingerprint")
        if expected not in (None, package.fingerprint):
            raise DataError(
                f"{package.root}: the dataset has fingerprint {package.fingerprint}, the run was "
                f"made on {expected}: put the same build in place"
            )
        return package

    @cached_property
    def queries(self) -> dict[str, Query]:
        """Queries by item id."""
        return {query.id: query for query in self.package.queries}


def read_result(result: Path) -> list[TaskResult]:
    """All tasks of a run folder (its latest run), or of one samples file.

    Raises DataError naming the file and line that cannot be read.
    """
    samples, results_file = _files(result)
    configs = read_json(results_file)["configs"]
    tasks = []
    for path in samples:
        items = tuple(_item(where, sample) for where, sample in read_samples(path))
        if items:
            config = configs[items[0].task]
            tasks.append(TaskResult(items[0].task, items, config["metadata"], config["test_split"]))
    if not tasks:
        raise DataError(f"{result}: no items of a ranking task")
    return tasks


def find_item(tasks: list[TaskResult], name: str) -> tuple[TaskResult, LoggedItem]:
    """The item whose id begins with ``name``, or the only one whose term it is.

    Raises DataError when there is none or more than one.
    """
    found = [(t, i) for t in tasks for i in t.items if i.item.startswith(name)]
    if not found:
        found = [(t, i) for t in tasks for i in t.items if t.queries[i.item].term == name]
    if len(found) == 1:
        return found[0]
    if not found:
        raise DataError(f"no item {name!r} in this result")
    some = ", ".join(f"{i.item} ({t.queries[i.item].context})" for t, i in found[:8])
    raise DataError(f"{len(found)} items fit {name!r}: {some}")


def _files(result: Path) -> tuple[list[Path], Path]:
    if result.is_file():
        stamp = result.name.split("_samples_", maxsplit=1)[0]
        return [result], result.with_name(f"{stamp}_results.json")
    manifest = read_json(result / MANIFEST)
    try:
        samples = [result / name for name in manifest["sample_files"]]
        return samples, result / manifest["results_file"]
    except LookupError as error:
        raise DataError(f"{result / MANIFEST}: {error} is missing") from None


def _item(where: str, sample: dict[str, Any]) -> LoggedItem:
    log = sample["wordsight"]
    try:
        gold = int(sample["target"])
    except (LookupError, TypeError, ValueError) as error:
        raise DataError(f"{where}: no target that is a candidate's number ({error!r})") from None
    return LoggedItem(
        item=log["item"],
        task=log["task"],
        gold=gold,
        status=log["status"],
        responses=tuple(log["responses"]),
        where=f"{where}: item {log['item']}",
    )
