"""Packing a run: what is taken, and what is refused with file, line and item."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leaderboard.runs import read_runs
from tests.leaderboard.bench import Bench
from wordsight.errors import DataError, IncompleteRunError

Lines = list[dict[str, Any]]


def test_plain_lmms_eval_run_becomes_one_submission(bench: Bench) -> None:
    run = bench.run("a", model_args="pretrained=org/name,revision=abc123,batch_size=4,text=gloss")
    (submission,) = read_runs(run)
    header = submission.header
    assert (header.model, header.revision, header.method) == ("org/name", "abc123", "direct")
    assert header.options == {"text": "gloss"}
    assert header.label == "org/name (text=gloss)"
    assert header.source == "lmms-eval"
    assert [task.name for task in header.tasks] == ["tiny", "tiny_swapped"]
    assert header.tasks[0].dataset == bench.packages["tiny"].fingerprint
    assert len(submission.items) == 24 + 12


def test_manifest_is_used_where_it_is_there(bench: Bench) -> None:
    run = bench.run("a")
    manifest = {
        "model": "gar",
        "model_args": {"base": "wordsight_hf", "pretrained": "org/big", "lexicon": "wordnet"},
        "method": "gar",
        "packages": {"torch": "2.14"},
        "hardware": {"cpu": "2 cores"},
        "seconds": 12.5,
        "command": ["wordsight", "eval", "--model", "gar"],
    }
    (run / "wordsight_manifest.json").write_text(json.dumps(manifest))
    (submission,) = read_runs(run)
    header = submission.header
    assert header.label == "org/big (gar, lexicon=wordnet)"
    assert header.base == "wordsight_hf"
    assert header.packages == {"torch": "2.14"}
    assert header.wall_seconds == 12.5
    assert header.command == "wordsight eval --model gar"
    assert header.source == "wordsight"


def test_manifest_of_another_run_is_left_alone(bench: Bench) -> None:
    run = bench.run("a")
    manifest = {"model": "gar", "results_file": "other/20200101_000000_results.json"}
    (run / "wordsight_manifest.json").write_text(json.dumps(manifest))
    (submission,) = read_runs(run)
    assert (submission.header.method, submission.header.source) == ("direct", "lmms-eval")


def test_two_models_in_one_folder_are_two_submissions(bench: Bench) -> None:
    bench.run("a", model_args="text=word", stamp="20261130_101500")
    run = bench.run("a", model_args="text=gloss", stamp="20261130_101501")
    assert [s.header.options for s in read_runs(run)] == [{"text": "word"}, {"text": "gloss"}]


def test_newest_run_of_a_task_counts(bench: Bench) -> None:
    bench.run("a", accuracy=0.0, stamp="20261130_101500")
    run = bench.run("a", accuracy=1.0, stamp="20261130_101600", tasks=("tiny",))
    (submission,) = read_runs(run)
    newest = [line["wordsight"]["responses"] for line in bench.lines("tiny", 1.0)]
    assert [i.responses for i in submission.items if i.task == "tiny"] == newest
    assert {i.task for i in submission.items} == {"tiny", "tiny_swapped"}


def test_path_of_a_local_model_does_not_leave_the_machine(bench: Bench) -> None:
    (submission,) = read_runs(bench.run("a", model_args="pretrained=/home/someone/secret/tiny-vlm"))
    assert submission.header.model == "tiny-vlm"
    assert "someone" not in submission.header.model_dump_json()


def cut(run: Path) -> None:
    path = next(run.rglob("*_samples_tiny.jsonl"))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def double(task: str, lines: Lines) -> None:
    lines.insert(7, lines[2])


def failed(task: str, lines: Lines) -> None:
    lines[4]["wordsight"].update(status="failed", reason="server answered 503")


def foreign(task: str, lines: Lines) -> None:
    del lines[3]["wordsight"]


def nine(task: str, lines: Lines) -> None:
    lines[5]["wordsight"]["responses"].pop()


def not_text(task: str, lines: Lines) -> None:
    lines[5]["wordsight"]["responses"][0] = {"yes": 0}


def other_task(task: str, lines: Lines) -> None:
    lines[1]["wordsight"]["task"] = "another"


@pytest.mark.parametrize(
    ("edit", "error", "line", "says"),
    [
        (double, DataError, 8, "stood on line 3 already"),
        (failed, IncompleteRunError, 5, "server answered 503"),
        (foreign, DataError, 4, 'no key "wordsight"'),
        (nine, DataError, 6, "an item of this form has 10"),
        (not_text, DataError, 6, "string"),
        (other_task, DataError, 2, "of task another, not tiny"),
    ],
)
def test_bad_line_is_named(
    bench: Bench,
    edit: Callable[[str, Lines], None],
    error: type[Exception],
    line: int,
    says: str,
) -> None:
    run = bench.run("a", tasks=("tiny",), edit=edit)
    with pytest.raises(error, match=says) as caught:
        read_runs(run)
    assert "20261130_101500_samples_tiny.jsonl" in str(caught.value)
    assert f"line {line}:" in str(caught.value)


def test_bad_line_names_its_item(bench: Bench) -> None:
    item = bench.packages["tiny"].queries[5].id
    with pytest.raises(DataError, match=item):
        read_runs(bench.run("a", tasks=("tiny",), edit=nine))


def test_file_cut_in_the_middle(bench: Bench) -> None:
    run = bench.run("a", tasks=("tiny",))
    cut(run)
    with pytest.raises(DataError, match=r"samples_tiny\.jsonl: line \d+: .*was the file cut"):
        read_runs(run)


def test_failed_items_pass_on_request(bench: Bench) -> None:
    (submission,) = read_runs(bench.run("a", tasks=("tiny",), edit=failed), partial=True)
    assert len(submission.items) == 24


def test_folder_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="--log_samples"):
        read_runs(tmp_path)
    with pytest.raises(DataError, match="does not exist"):
        read_runs(tmp_path / "none")
