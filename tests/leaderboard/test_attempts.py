"""Which of several attempts at one row counts, and what the row says about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leaderboard.board import build_board
from leaderboard.exporters import WRITERS
from leaderboard.ledger import read_ledger
from leaderboard.records import Receipt, Row
from leaderboard.runs import read_runs
from leaderboard.schema import SubmissionError
from leaderboard.server.frames import frame_of, table_of
from leaderboard.site.links import ServerLinks
from leaderboard.site.render import index_page
from leaderboard.submit import submit
from tests.leaderboard.bench import Bench

Lines = list[dict[str, Any]]


def half(task: str, lines: Lines) -> None:
    """What ``--limit`` leaves."""
    del lines[len(lines) // 2 :]


def attempt(bench: Bench, seed: int, edit: Any = None, **wishes: Any) -> Receipt:
    """One more attempt at the row of org/a, on the task ``tiny``."""
    args = "pretrained=org/a"
    run = bench.run(f"a{seed}", seed=seed, tasks=("tiny",), edit=edit, model_args=args)
    (receipt,) = submit(run, str(bench.board), **wishes)
    return receipt


def row(bench: Bench) -> Row:
    (track,) = build_board(bench.store).tracks
    (found,) = track.rows
    return found


def test_a_part_does_not_take_the_row_of_the_whole(bench: Bench) -> None:
    whole = attempt(bench, 0)
    part = attempt(bench, 1, half, partial=True)
    assert part.attempts == 2
    left_out = "tiny: a later attempt answers 12 items, not 24: left out"
    assert part.notes[0] == left_out
    assert "--replace" in part.notes[1]
    found = row(bench)
    assert (found.attempts, found.cells["tiny"].submission) == (2, whole.submission)
    assert found.remarks == [left_out]


def test_a_part_takes_the_row_when_it_is_said(bench: Bench) -> None:
    attempt(bench, 0)
    part = attempt(bench, 1, half, partial=True, replace=True)
    found = row(bench)
    assert found.cells["tiny"].submission == part.submission
    assert "by request, 12 answers take the place of an attempt with 24" in " ".join(found.remarks)
    kinds = [event.kind for event in bench.store.verify()]
    assert kinds == ["submitted", "submitted", "preferred"]


def test_it_can_be_said_later(bench: Bench) -> None:
    attempt(bench, 0)
    part = attempt(bench, 1, half, partial=True)
    again = attempt(bench, 1, half, partial=True, replace=True)
    assert (again.new, again.submission) == (False, part.submission)
    assert row(bench).cells["tiny"].submission == part.submission
    attempt(bench, 1, half, partial=True, replace=True)
    assert len(read_ledger(bench.store.ledger_path)) == 3


def test_the_whole_takes_the_row_of_a_part(bench: Bench) -> None:
    attempt(bench, 0, half, partial=True)
    whole = attempt(bench, 1)
    found = row(bench)
    assert (found.cells["tiny"].submission, found.remarks) == (whole.submission, [])
    other = attempt(bench, 2)
    assert row(bench).cells["tiny"].submission == other.submission


def test_failed_requests_count_as_unanswered(bench: Bench) -> None:
    """As many items, but the requests of some failed."""
    from wordsight.answers import failed

    def edit(task: str, lines: Lines) -> None:
        lines[0]["wordsight"]["responses"][3] = failed("server answered 503")

    whole = attempt(bench, 0)
    assert attempt(bench, 1, edit).tasks[0].missing == 1
    assert row(bench).cells["tiny"].submission == whole.submission


def test_a_withdrawn_whole_leaves_its_row_to_the_part(bench: Bench) -> None:
    whole = attempt(bench, 0)
    part = attempt(bench, 1, half, partial=True)
    bench.store.decide(whole.submission, "withdrawn", "mistake")
    found = row(bench)
    assert (found.cells["tiny"].submission, found.attempts) == (part.submission, 2)


def test_where_a_maintainer_approves_a_submitter_cannot_replace_later(bench: Bench) -> None:
    attempt(bench, 0)
    (part,) = read_runs(bench.run("a", seed=1, tasks=("tiny",), edit=half))
    receipt = bench.store.add(part, partial=True, pending=True)
    bench.store.decide(receipt.submission, "approved")
    other = bench.run("b", seed=2, tasks=("tiny",), edit=half, model_args="pretrained=org/a")
    submit(other, str(bench.board), partial=True)  # before approval was asked for here
    for one in (part, *read_runs(other)):
        with pytest.raises(SubmissionError, match="for the board's maintainer to decide"):
            bench.store.add(one, partial=True, pending=True, replace=True)
    bench.store.decide(receipt.submission, "preferred", "the rest is lost")
    assert row(bench).cells["tiny"].submission == receipt.submission


def test_a_withdrawn_attempt_stays_off_the_board(bench: Bench) -> None:
    first = attempt(bench, 0)
    bench.store.decide(first.submission, "withdrawn", "mistake")
    again = attempt(bench, 0)
    assert not again.new
    assert again.notes == ["was withdrawn (mistake) and stays off the board"]
    assert build_board(bench.store).tracks == []


def test_a_difference_of_two_attempts_is_marked(bench: Bench) -> None:
    both = submit(bench.run("a", seed=0), str(bench.board))[0]
    (delta,) = row(bench).deltas.values()
    assert delta.method == "paired over 12 sources"
    later = attempt(bench, 1)
    found = row(bench)
    assert (found.cells["tiny"].submission, found.cells["tiny_swapped"].submission) == (
        later.submission,
        both.submission,
    )
    (delta,) = found.deltas.values()
    assert delta.method == "paired over 12 sources, from two attempts"
    assert found.remarks == ["swap delta joins two attempts"]


def test_remarks_are_shown_wherever_the_row_is(bench: Bench, tmp_path: Path) -> None:
    attempt(bench, 0)
    attempt(bench, 1, half, partial=True, replace=True)
    board = build_board(bench.store)
    (track,) = board.tracks
    says = "by request, 12 answers take the place"
    assert says in frame_of(track, track.rows, table_of(track)).to_html()
    assert says in index_page(board, ServerLinks())
    for form in ("csv", "latex"):
        (path,) = WRITERS[form](bench.store, board, tmp_path / f"board.{form}")
        assert says in path.read_text(encoding="utf-8")
