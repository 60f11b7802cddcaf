"""What can be typed after ``submit``, and what is said where it cannot."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from leaderboard.cli import app, submit_command
from leaderboard.run_header import plain_name
from leaderboard.runs import read_runs
from leaderboard.schema import is_name
from leaderboard.submit import submit
from leaderboard.targets import read_target
from tests.leaderboard.bench import Bench
from tests.wordsight import hub_server
from wordsight.errors import DataError, WordsightError

runner = CliRunner()
submit_app = typer.Typer()
submit_app.command()(submit_command)


@pytest.mark.parametrize(
    ("to", "kind"),
    [
        ("board", "board"),
        ("some/where/board-2", "board"),
        ("https://board.example", "service"),
        ("http://127.0.0.1:7860/", "service"),
        ("hf://datasets/org/repo", "hub"),
        ("run.jsonl", "file"),
    ],
)
def test_what_is_understood(
    to: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_target(to).kind == kind


@pytest.mark.parametrize(
    ("to", "says"),
    [
        ("run.json", "end the name in .jsonl"),
        ("run.jsonL", "end the name in .jsonl"),
        ("board.example", "begin with https://"),
        ("htp://board.example", "not understood"),
        ("hf://models/org/repo", "not understood"),
        ("hf://datasets/repo", "give hf://datasets/ORG/REPO"),
        ("hf:datasets/org/repo", "not understood"),
        ("file.txt", "is a file and no board"),
        ("folder.jsonl", "is a folder"),
        ("used", "holds no board, but other files (a.py"),
    ],
)
def test_what_is_not(
    bench: Bench, to: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = bench.run("a")
    monkeypatch.chdir(tmp_path)
    Path("file.txt").write_text("x")
    Path("folder.jsonl").mkdir()
    Path("used").mkdir()
    Path("used/a.py").write_text("x")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(WordsightError) as caught:
        submit(run, to)
    assert says in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before, "nothing was made"


def test_a_clone_of_an_empty_repository_can_become_a_board(tmp_path: Path) -> None:
    for name in (".gitattributes", "README.md"):
        (tmp_path / name).write_text("x")
    assert read_target(str(tmp_path)).new


def test_a_new_board_is_told(bench: Bench) -> None:
    (bench.board / "board.json").unlink()
    result = runner.invoke(submit_app, [str(bench.run("a")), "--to", str(bench.board)])
    assert "'tiny' is not on this board" in str(result.exception)


def test_packed_file_is_recognised(bench: Bench, tmp_path: Path) -> None:
    packed = tmp_path / "run.jsonl"
    submit(bench.run("a"), str(packed))
    (receipt,) = submit(packed, str(bench.board))
    assert receipt.label == "org/a"


def test_other_files_say_what_to_type(bench: Bench, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_text('{"eval": {}, "samples": []}')
    with pytest.raises(DataError, match="--from every_eval_ever or --from inspect"):
        submit(log, str(bench.board))
    samples = next(bench.run("a").rglob("*_samples_tiny.jsonl"))
    with pytest.raises(DataError, match="give the folder that --output_path named"):
        submit(samples, str(bench.board))


def test_packing_leaves_other_files_alone(bench: Bench, tmp_path: Path) -> None:
    other = tmp_path / "data.jsonl"
    other.write_text('{"mine": 1}\n')
    with pytest.raises(WordsightError, match="no packed submission; left as it is"):
        submit(bench.run("a"), str(other))
    assert other.read_text() == '{"mine": 1}\n'
    packed = tmp_path / "run.jsonl"
    for seed in (0, 1):
        submit(bench.run("a", seed=seed), str(packed))
    assert submit(packed, str(bench.board))[0].submission == read_runs(bench.run("a", seed=1))[0].id


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("org/name", "org/name"),
        ("org/name-", "org/name-"),
        ("a--b", "a--b"),
        ("my model (v2)", "my-model-v2"),
        ("-x", "x"),
        (".hidden", "hidden"),
        ("caf\u00e9", "caf"),
        ("\uff4frg/name", "org/name"),
        ("org name/model name", "org-name/model-name"),
        ("a/b/c", "b/c"),
        ("x" * 300, "x" * 120),
    ],
)
def test_default_name(told: str, name: str) -> None:
    assert plain_name(told) == name
    assert is_name(name)


def test_unusual_name_becomes_a_plain_one_and_that_is_told(bench: Bench) -> None:
    run = bench.run("a", model_args="pretrained=/data/my model (v2)")
    result = runner.invoke(submit_app, [str(run), "--to", str(bench.board)])
    assert result.exit_code == 0, result.output
    assert "my-model-v2: submitted as" in result.output
    assert "'my model (v2)' stands on the board as 'my-model-v2'; --name gives" in result.output


def test_name_by_option(bench: Bench) -> None:
    run = bench.run("a", model_args="pretrained=/data/\u6a21\u578b")
    with pytest.raises(DataError, match=r"give one with --name\. A model's name holds letters"):
        submit(run, str(bench.board))
    for option in ("--name", "--model-name"):
        result = runner.invoke(submit_app, [str(run), "--to", str(bench.board), option, "lab/m"])
        assert result.exit_code == 0, result.output
    (stored,) = bench.store.submissions()
    assert stored.header.model == "lab/m"
    with pytest.raises(WordsightError, match="a model's name holds letters and digits of ASCII"):
        submit(run, str(bench.board), name="no spaces")


def test_name_of_a_packed_file_and_of_several_models(bench: Bench, tmp_path: Path) -> None:
    packed = tmp_path / "run.jsonl"
    submit(bench.run("a"), str(packed))
    assert submit(packed, str(bench.board), name="org/b")[0].label == "org/b"
    bench.run("two", model_args="text=word", stamp="20261130_101500")
    run = bench.run("two", model_args="text=gloss", stamp="20261130_101501")
    with pytest.raises(WordsightError, match="one name fits one only"):
        submit(run, str(bench.board), name="org/c")


def test_counts_and_hash_are_printed(bench: Bench) -> None:
    def edit(task: str, lines: list[dict[str, object]]) -> None:
        del lines[1]
        record = lines[0]["wordsight"]
        assert isinstance(record, dict)
        record["responses"] = ["perhaps"] * 10

    run = bench.run("a", tasks=("tiny",), edit=edit)
    result = runner.invoke(submit_app, [str(run), "--to", str(bench.board)])
    assert "tiny: 23 of 24 items answered, 1 missing, 1 unreadable" in result.output
    (event,) = bench.store.verify()
    assert f"line 1 of the ledger, whose last hash is {event.hash}" in result.output


def test_receipt_of_what_was_there_before_is_true(bench: Bench) -> None:
    runs = [bench.run(f"a{n}", seed=n, model_args="pretrained=org/a") for n in range(3)]
    for number, run in enumerate(runs, 1):
        new = runner.invoke(submit_app, [str(run), "--to", str(bench.board)])
        assert f", attempt {number}\n" in new.output
    again = runner.invoke(submit_app, [str(runs[0]), "--to", str(bench.board)])
    assert "was submitted before" in again.output
    assert "attempts at its row until now: 3" in again.output
    events = bench.store.verify()
    assert f"line 1 of the ledger, whose last hash is {events[-1].hash}" in again.output


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--contact", "x" * 301, "has 301 characters; at most 300"),
        ("--cost", "2000000000", "less than or equal to 1000000000"),
        ("--cost", "1e308", "less than or equal to 1000000000"),
        ("--name", "no spaces", "a model's name holds letters"),
        ("--name", "", "is empty"),
    ],
)
def test_options_that_a_header_cannot_have_are_named(
    bench: Bench, option: str, value: str, says: str
) -> None:
    words = [str(bench.run("a")), "--to", str(bench.board), option, value]
    result = runner.invoke(submit_app, words)
    assert isinstance(result.exception, WordsightError), result.exception
    assert str(result.exception).startswith(f"{option} '")
    assert says in str(result.exception)
    assert "\n" not in str(result.exception)
    assert bench.store.submissions() == []


def test_a_cost_of_nothing_is_kept(bench: Bench) -> None:
    submit(bench.run("a"), str(bench.board), cost=0.0)
    assert bench.store.submissions()[0].header.cost == 0.0


def test_of_several_runs_the_refused_one_is_named(bench: Bench) -> None:
    bench.run("a", stamp="20261130_101500")

    def edit(task: str, lines: list[dict[str, object]]) -> None:
        del lines[12:]

    bench.run("b", edit=edit, stamp="20261130_101501")
    with pytest.raises(WordsightError) as caught:
        submit(bench.root / "runs", str(bench.board))
    results = bench.root / "runs" / "b" / "tiny__model" / "20261130_101501_results.json"
    assert str(caught.value).startswith(f"{results}: org/b: ")


def test_hub_that_does_not_answer_is_told_in_one_line(bench: Bench, tmp_path: Path) -> None:
    with socket.socket() as probe:  # bound, so that nobody else takes it; it does not listen
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
        words = ["submit", str(bench.run("a")), "--to", "hf://datasets/lab/board"]
        done = subprocess.run(
            [sys.executable, "-c", "from wordsight.cli import main; main()", *words],
            env=hub_server.environment(address, tmp_path)
            | {"PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "lab/board: no pull request opened for " in done.stderr
    assert "Retrying" not in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [("dump", "OUT", "-f", "csv"), ("verdict", "--badge", "OUT")])
def test_files_that_cannot_be_written_are_told_alike(
    bench: Bench, words: tuple[str, ...], tmp_path: Path
) -> None:
    for name in "ab":
        submit(bench.run(name), str(bench.board))
    entries = ("org/a", "org/b", "--task", "tiny") if words[0] == "verdict" else ()
    missing = tmp_path / "none" / "board.out"
    for out, says in (
        (tmp_path, f"{tmp_path}: is a folder; give the name of a file"),
        (missing, f"{missing}: there is no folder {missing.parent}; make it, or give another"),
    ):
        named = [str(out) if word == "OUT" else word for word in words]
        result = runner.invoke(app, [*named, *entries, "--store", str(bench.board)])
        assert isinstance(result.exception, WordsightError), result.exception
        assert str(result.exception) == says


@pytest.mark.parametrize("form", ["every_eval_ever", "hub"])
def test_a_file_is_no_folder_to_dump_into(bench: Bench, form: str, tmp_path: Path) -> None:
    submit(bench.run("a"), str(bench.board))
    out = tmp_path / "file"
    out.write_text("mine")
    words = ["dump", str(out), "-f", form, "--store", str(bench.board)]
    result = runner.invoke(app, words)
    assert str(result.exception) == f"{out}: is a file; give a folder"


@pytest.mark.parametrize(
    "words",
    [
        ("submit", "none", "--to", "board"),
        ("submit", "used", "--to", "board"),
        ("submit", "used", "--to", "run.json"),
        ("submit", "a.txt", "--to", "board"),
        ("leaderboard", "rank", "--store", "none"),
        ("leaderboard", "rank", "--store", "broken"),
        ("leaderboard", "export", "used", "--store", "broken"),
        ("leaderboard", "take", "used", "--store", "broken"),
        ("ledger", "verify", "--store", "broken"),
        ("leaderboard", "app", "a.txt", "--repo", "org/board"),
        ("leaderboard", "app", "space", "--repo", "board"),
    ],
    ids=" ".join,
)
@pytest.mark.slow
def test_what_fails_ends_with_a_status_and_a_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    """As a user runs it: not 0, one line that begins with the program's name, no traceback."""
    for folder in ("used", "broken"):
        (tmp_path / folder).mkdir()
    (tmp_path / "used" / "a.py").write_text("x")
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "broken" / "ledger.jsonl").write_text("garbage\n")
    done = subprocess.run(
        [sys.executable, "-c", "from wordsight.cli import main; main()", *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode not in (0, 2), done.stdout
    assert done.stderr.startswith("wordsight: "), done.stderr
    assert "Traceback" not in done.stderr
