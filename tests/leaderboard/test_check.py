"""Matching a submission with the board's gold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from leaderboard.check import few
from leaderboard.runs import read_runs
from leaderboard.schema import SubmissionError
from leaderboard.submit import submit
from tests.leaderboard.bench import Bench
from wordsight.answers import failed

Lines = list[dict[str, Any]]


def refused(bench: Bench, run: Any) -> str:
    with pytest.raises(SubmissionError) as caught:
        submit(run, str(bench.board))
    assert bench.store.submissions() == []
    return str(caught.value)


def test_unknown_item(bench: Bench) -> None:
    def edit(task: str, lines: Lines) -> None:
        lines[3]["wordsight"]["item"] = "0123456789abcdef0123"

    message = refused(bench, bench.run("a", tasks=("tiny",), edit=edit))
    assert "line 5: item 0123456789abcdef0123" in message  # the header is line 1
    assert "unknown to task tiny" in message


def test_another_dataset_version_is_named(bench: Bench) -> None:
    def edit(task: str, lines: Lines) -> None:
        lines[0]["wordsight"]["item"] = "0" * 20

    run = bench.run("a", tasks=("tiny",), edit=edit)
    path = next(run.rglob("*_results.json"))
    results = json.loads(path.read_text())
    results["configs"]["tiny"]["metadata"]["dataset_fingerprint"] = "f" * 20
    path.write_text(json.dumps(results))
    message = refused(bench, run)
    assert f"used dataset version {'f' * 20}" in message
    assert bench.packages["tiny"].fingerprint in message


def test_another_dataset_version_with_the_same_items(bench: Bench) -> None:
    run = bench.run("a", tasks=("tiny",))
    path = next(run.rglob("*_results.json"))
    text = path.read_text().replace(bench.packages["tiny"].fingerprint, "e" * 20)
    path.write_text(text)
    assert "another dataset version" in refused(bench, run)


def test_another_task_version(bench: Bench) -> None:
    def edit(task: str, lines: Lines) -> None:
        for line in lines:
            line["wordsight"]["task_version"] = "2"

    assert "run in version 2" in refused(bench, bench.run("a", tasks=("tiny",), edit=edit))


def test_other_pictures_are_refused_or_marked(bench: Bench) -> None:
    def edit(task: str, lines: Lines) -> None:
        lines[6]["wordsight"]["images"] = "a" * 20

    run = bench.run("a", tasks=("tiny",), edit=edit)
    item = bench.packages["tiny"].queries[6].id
    assert f"item {item}: answered on other picture files" in refused(bench, run)
    (receipt,) = submit(run, str(bench.board), other_pictures=True)
    assert receipt.tasks[0].other_pictures == 1


def test_unknown_task(bench: Bench) -> None:
    run = bench.run("a", tasks=("tiny",))
    for path in list(run.rglob("*")):
        if path.is_file():
            path.write_text(path.read_text().replace('"tiny"', '"other"'))
            path.rename(path.with_name(path.name.replace("samples_tiny", "samples_other")))
    with pytest.raises(Exception, match="'other' is not on this board; it knows tiny"):
        submit(run, str(bench.board))


def test_missing_items_are_counted(bench: Bench) -> None:
    (receipt,) = submit(bench.run("a", tasks=("tiny",), edit=ten), str(bench.board), partial=True)
    found = receipt.tasks[0]
    assert (found.items, found.total, found.missing, found.invalid) == (10, 24, 14, 0)


def ten(task: str, lines: Lines) -> None:
    """What ``--limit 10`` leaves."""
    del lines[10:]


def test_a_part_of_a_task_is_refused_unless_said(bench: Bench) -> None:
    message = refused(bench, bench.run("a", tasks=("tiny",), edit=ten))
    assert "task tiny: 14 of 24 items are not answered, more than 1." in message
    assert "--partial" in message


def test_failed_requests_are_unanswered_items(bench: Bench) -> None:
    """Two items of 24 whose requests failed are refused as two that are not there."""

    def edit(task: str, lines: Lines) -> None:
        for line in lines[:2]:
            line["wordsight"]["responses"][0] = failed("server answered 503")

    message = refused(bench, bench.run("a", tasks=("tiny",), edit=edit))
    assert "task tiny: 2 of 24 items are not answered" in message


def test_a_few_unanswered_items_pass(bench: Bench) -> None:
    def edit(task: str, lines: Lines) -> None:
        del lines[5]

    (receipt,) = submit(bench.run("a", tasks=("tiny",), edit=edit), str(bench.board))
    assert receipt.tasks[0].missing == 1


@pytest.mark.parametrize(("items", "most"), [(6, 0), (24, 1), (192, 3), (470, 4), (1500, 15)])
def test_how_many_are_a_few(items: int, most: int) -> None:
    assert few(items) == most


def test_all_or_none_of_a_folder(bench: Bench) -> None:
    def edit(task: str, lines: Lines) -> None:
        lines[3]["wordsight"]["item"] = "0123456789abcdef0123"

    bench.run("a", model_args="text=word", stamp="20261130_101500")
    run = bench.run("a", model_args="text=gloss", stamp="20261130_101501", edit=edit)
    assert len(read_runs(run)) == 2
    refused(bench, run)
