"""The store and its ledger."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from leaderboard import ledger
from leaderboard.ledger import LedgerError
from leaderboard.runs import read_runs
from leaderboard.schema import SubmissionError
from leaderboard.scoring import value
from leaderboard.store import create_store, open_store
from leaderboard.submit import submit
from tests.leaderboard.bench import Bench
from wordsight.errors import DataError


def test_same_submission_twice_changes_nothing(bench: Bench) -> None:
    run = bench.run("a")
    (first,) = submit(run, str(bench.board))
    (second,) = submit(run, str(bench.board))
    assert (first.new, second.new) == (True, False)
    assert first.submission == second.submission
    assert len(bench.store.verify()) == 1


def test_attempts_at_one_entry_are_counted(bench: Bench) -> None:
    for seed in range(3):
        (receipt,) = submit(bench.run("a", seed=seed), str(bench.board))
        assert receipt.attempts == seed + 1
    (submission,) = read_runs(bench.run("a", seed=3))
    with pytest.raises(SubmissionError, match="has 3 submissions, the most"):
        bench.store.add(submission, max_attempts=3)


def test_what_comes_back_is_what_went_in(bench: Bench) -> None:
    run = bench.run("a")
    (submission,) = read_runs(run)
    (receipt,) = submit(run, str(bench.board))
    given = {i.item: list(i.responses) for i in submission.items if i.task == "tiny"}
    assert bench.store.responses(receipt.submission, "tiny") == given
    assert bench.store.header(receipt.submission) == submission.header


def test_scores_are_made_again_when_lost(bench: Bench) -> None:
    (receipt,) = submit(bench.run("a"), str(bench.board))
    before = bench.store.scores(receipt.submission, "tiny")
    path = bench.store.scores_path("tiny", receipt.submission)
    content = path.read_bytes()
    path.unlink()
    assert bench.store.scores(receipt.submission, "tiny") == before
    assert path.read_bytes() == content


def test_matrix_keeps_the_order_asked_for(bench: Bench) -> None:
    ids = [
        submit(bench.run(f"m{i}", accuracy=i / 4), str(bench.board))[0].submission for i in range(5)
    ]
    for order in (ids, ids[::-1]):
        matrix = bench.store.matrix("tiny", order)
        assert matrix.values["hits1"].shape == (24, 5)
        for column, submission in enumerate(order):
            expected = [value(score, "hits1") for score in bench.store.scores(submission, "tiny")]
            assert matrix.values["hits1"][:, column].tolist() == expected


def three_lines(bench: Bench) -> Path:
    for name in "abc":
        submit(bench.run(name), str(bench.board))
    return bench.store.ledger_path


@pytest.mark.parametrize("line", [0, 1, 2])
def test_changed_line_is_found(bench: Bench, line: int) -> None:
    path = three_lines(bench)
    lines = path.read_text().splitlines()
    event = json.loads(lines[line])
    event["time"] = "2020-01-01T00:00:00+00:00"
    lines[line] = json.dumps(event)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(LedgerError, match=f"line {line + 1}: was changed"):
        bench.store.verify()


def test_changed_line_with_its_hash_made_anew_is_found(bench: Bench) -> None:
    path = three_lines(bench)
    events = ledger.read_ledger(path)
    forged = events[1].model_copy(update={"reason": "nothing to see"})
    forged = forged.model_copy(update={"hash": forged.expected_hash()})
    lines = [e.model_dump_json() for e in (events[0], forged, events[2])]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(LedgerError, match="line 3: does not follow"):
        bench.store.verify()


def test_dropped_and_swapped_lines_are_found(bench: Bench) -> None:
    path = three_lines(bench)
    lines = path.read_text().splitlines(keepends=True)
    for wrong in (lines[1:], [lines[0], lines[2]], [lines[1], lines[0], lines[2]]):
        path.write_text("".join(wrong))
        with pytest.raises(LedgerError):
            bench.store.verify()


def test_changed_entry_file_is_found(bench: Bench) -> None:
    (receipt,) = submit(bench.run("a"), str(bench.board))
    path = bench.board / "entries" / f"{receipt.submission}.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"0")
    with pytest.raises(DataError, match=r"is not the file that line 1 recorded"):
        bench.store.verify()


def test_torn_last_line_is_dropped_by_the_next_writer(bench: Bench) -> None:
    path = three_lines(bench)
    with path.open("ab") as stream:
        stream.write(b'{"number": 4, "time": "2026')
    assert len(bench.store.submissions()) == 3
    submit(bench.run("d"), str(bench.board))
    assert [event.number for event in bench.store.verify()] == [1, 2, 3, 4]


def test_file_without_ledger_line_does_not_exist(bench: Bench) -> None:
    three_lines(bench)
    stray = bench.board / "entries" / "00000000000000000000.parquet"
    stray.write_bytes(b"half a fi")
    assert len(bench.store.submissions()) == 3
    bench.store.verify()


def _submit(board: str, runs: list[str]) -> None:
    for run in runs:
        submit(Path(run), board)


def test_processes_at_once_lose_nothing(bench: Bench) -> None:
    runs = [str(bench.run(f"m{i}", seed=i, tasks=("tiny_swapped",))) for i in range(24)]
    context = multiprocessing.get_context("fork")
    workers = [
        context.Process(target=_submit, args=(str(bench.board), runs[i::6])) for i in range(6)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 6
    assert len(bench.store.verify()) == 24
    assert len({stored.id for stored in bench.store.submissions()}) == 24


def test_drafts_of_killed_writers_go_with_the_next_submission(bench: Bench) -> None:
    submit(bench.run("a"), str(bench.board))
    draft = bench.board / "entries" / ".0123456789abcdef.part"
    draft.write_bytes(b"half a fi")
    submit(bench.run("b"), str(bench.board))
    assert not draft.exists()
    assert len(list((bench.board / "entries").iterdir())) == 2


@pytest.mark.slow
def test_writers_killed_at_random_moments_lose_nothing() -> None:
    """The measuring script in small: it ends with an error where anything is lost or left half."""
    script = Path(__file__).resolve().parents[2] / "tools" / "bench" / "bench_store.py"
    sizes = ["--processes", "4", "--each", "5", "--kills", "4"]
    done = subprocess.run(
        [sys.executable, str(script), *sizes, "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    at_once, killed = found["at_once"], found["killed"]
    assert [at_once[key] for key in ("acknowledged", "stored", "ledger_lines_verified")] == [20] * 3
    assert killed["acknowledged_before_kills"] >= killed["kills"] == 4
    assert killed["stored_in_the_end"] == killed["ledger_lines_verified"] == 160


def test_no_board(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no board at"):
        open_store(tmp_path / "none")
    assert create_store(tmp_path / "none").submissions() == []
