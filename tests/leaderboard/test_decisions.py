"""Submissions that wait for approval, and decisions that would change nothing."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from leaderboard.board import build_board
from leaderboard.cli import app, ledger_app
from leaderboard.ledger import Kind, read_ledger
from leaderboard.records import Receipt
from leaderboard.runs import read_runs
from tests.leaderboard.bench import Bench
from wordsight.errors import DataError

runner = CliRunner()


def wait(bench: Bench, name: str = "a") -> Receipt:
    """A submission that waits, as a service started with --approve takes it."""
    (submission,) = read_runs(bench.run(name, tasks=("tiny",)))
    return bench.store.add(submission, pending=True)


def test_what_waits_is_listed(bench: Bench) -> None:
    store = ["--store", str(bench.board)]
    assert runner.invoke(app, ["pending", *store]).output == "Nothing waits.\n"
    first, second, third = (wait(bench, name) for name in "abc")
    bench.store.decide(second.submission, "approved")
    bench.store.decide(third.submission, "withdrawn", "spam")
    result = runner.invoke(app, ["pending", *store])
    assert result.output.startswith(f"{first.submission} org/a, submitted 20")
    assert "tiny: 24 of 24 items answered, 0 missing, 0 unreadable" in result.output
    assert "org/b" not in result.output
    assert "org/c" not in result.output
    (listed,) = json.loads(runner.invoke(app, ["pending", "--json", *store]).output)
    assert (listed["submission"], listed["label"]) == (first.submission, "org/a")
    assert listed["tasks"] == [report.model_dump() for report in first.tasks]
    assert listed["submitted"] == read_ledger(bench.store.ledger_path)[0].time


def test_what_was_never_shown_stays_unshown_when_it_is_rejected(bench: Bench) -> None:
    rejected, shown = wait(bench, "a"), wait(bench, "b")
    bench.store.decide(shown.submission, "approved")
    for one in (rejected, shown):
        bench.store.decide(one.submission, "withdrawn", "spam")
    found = build_board(bench.store)
    assert [one.submission for one in found.withdrawn] == [shown.submission]
    for words in (["rank"], ["rank", "--json"]):
        output = runner.invoke(app, [*words, "--store", str(bench.board)]).output
        assert rejected.submission not in output
        assert shown.submission in output
    assert read_ledger(bench.store.ledger_path)[3].reason == "spam"
    assert wait(bench, "a").notes == ["was rejected (spam) and is not shown"]


def test_file_of_a_rejected_submission_may_be_lost(bench: Bench) -> None:
    rejected = wait(bench)
    bench.store.entry_files.path(rejected.submission).unlink()
    bench.store.decide(rejected.submission, "withdrawn", "spam")
    assert build_board(bench.store).tracks == []


@pytest.mark.parametrize(
    ("before", "decision", "says"),
    [
        ([], "verified", "waits for approval; decide approved first"),
        ([], "preferred", "waits for approval; decide approved first"),
        (["approved"], "approved", "does not wait for approval"),
        (["approved", "verified"], "verified", "is verified already"),
        (["approved", "preferred"], "preferred", "is preferred already"),
        (["withdrawn"], "approved", "was rejected (spam), which is final"),
        (["withdrawn"], "withdrawn", "was rejected (spam), which is final"),
        (["approved", "withdrawn"], "approved", "was withdrawn (spam), which is final"),
        (["approved", "withdrawn"], "verified", "was withdrawn (spam), which is final"),
        (["approved", "withdrawn"], "withdrawn", "was withdrawn (spam), which is final"),
    ],
)
def test_decision_without_effect_is_refused(
    bench: Bench, before: list[Kind], decision: Kind, says: str
) -> None:
    one = wait(bench).submission
    for kind in before:
        bench.store.decide(one, kind, "spam")
    lines = bench.store.ledger_path.read_bytes()
    words = ["decide", one, decision, "--reason", "spam", "--store", str(bench.board)]
    result = runner.invoke(app, words)
    assert isinstance(result.exception, DataError)
    assert str(result.exception).startswith(f"{one}: nothing recorded: it ")
    assert says in str(result.exception)
    assert bench.store.ledger_path.read_bytes() == lines


def test_preferred_again_after_another_attempt_has_an_effect(bench: Bench) -> None:
    first, second = (
        bench.store.add(read_runs(bench.run("a", seed=seed, tasks=("tiny",)))[0]).submission
        for seed in range(2)
    )
    for one in (first, second, first):
        bench.store.decide(one, "preferred")
        (entry,) = build_board(bench.store).tracks[0].rows
        assert entry.cells["tiny"].submission == one


def test_reason_of_a_withdrawal_can_be_mended(bench: Bench) -> None:
    one = wait(bench).submission
    for kind, reason in (("approved", ""), ("withdrawn", "spam"), ("withdrawn", "wrong model")):
        bench.store.decide(one, kind, reason)  # type: ignore[arg-type]
    assert [w.reason for w in build_board(bench.store).withdrawn] == ["wrong model"]


def test_head_of_an_earlier_check_says_its_line(bench: Bench) -> None:
    wait(bench, "a")
    head = wait(bench, "b").head
    wait(bench, "c")
    result = runner.invoke(ledger_app, ["verify", "--head", head, "--store", str(bench.board)])
    assert f"the hash {head} is that of line 2\n" in result.output
