"""The board's numbers, against ones computed here by other means."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats

from leaderboard.board import build_board
from leaderboard.records import Board, Row
from leaderboard.scoring import value
from leaderboard.snapshot import current_board, rebuild, snapshot_path
from leaderboard.store import create_store
from leaderboard.submit import submit
from tests.leaderboard.bench import BOARD, Bench, make_bench
from wordsight.errors import DataError

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = make_bench(tmp_path_factory.mktemp("big"), items=120)
    for name, accuracy in (("strong", 0.85), ("middle", 0.5), ("twin", 0.55), ("weak", 0.1)):
        submit(bench.run(name, accuracy=accuracy, seed=len(name)), str(bench.board))

    def holes(task: str, lines: list[dict[str, object]]) -> None:
        del lines[::10]
        for line in lines[::12]:
            record = line["wordsight"]
            assert isinstance(record, dict)
            record["responses"] = ["perhaps"] * 10

    run = bench.run("holes", accuracy=0.7, tasks=("tiny",), edit=holes)
    submit(run, str(bench.board), partial=True)
    return bench


@lru_cache(maxsize=8)
def computed(root: Path, ledger: str, base: str) -> Board:
    """The board of a store whose ledger reads so; computed once for all tests that look at it."""
    return build_board(create_store(root), base=base)


def row(bench: Bench, name: str, base: str = "") -> Row:
    (track,) = computed(bench.board, bench.store.ledger_path.read_text(), base).tracks
    return next(r for r in track.rows if r.model == f"org/{name}")


def hits(
    bench: Bench, name: str, task: str = "tiny"
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    scores = bench.store.scores(row(bench, name).cells[task].submission, task)
    return np.array([value(score, "hits1") for score in scores])


def test_estimate_and_interval(big: Bench) -> None:
    found = row(big, "middle").scores.get("hits1")
    values = hits(big, "middle")
    assert found is not None
    assert found.value == pytest.approx(values.mean(), abs=1e-12)
    expected = scipy_stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=1
    ).confidence_interval
    assert found.low == pytest.approx(expected.low, abs=0.02)
    assert found.high == pytest.approx(expected.high, abs=0.02)


def test_order_and_ranges(big: Bench) -> None:
    (track,) = build_board(big.store).tracks
    order = [(*r.rank, -r.scores["hits1"].value, r.label) for r in track.rows if r.rank]
    assert order == sorted(order), "by range, then by score and name"
    assert track.rows[0].model == "org/strong"
    assert track.best == track.rows[0].entry
    assert track.rows[0].rank == (1, 1)
    twins = {r.model: r.rank for r in track.rows}
    assert twins["org/middle"] == twins["org/twin"], "two models that the data cannot tell apart"


def test_mcnemar_against_the_best_and_a_base(big: Bench) -> None:
    ours, theirs = hits(big, "middle"), hits(big, "strong")
    wins, losses = int((ours > theirs).sum()), int((ours < theirs).sum())
    expected = scipy_stats.binomtest(wins, wins + losses, 0.5).pvalue
    found = row(big, "middle", base="org/weak")
    assert found.versus_best is not None
    assert found.versus_best.method == "exact McNemar"
    assert found.versus_best.p == pytest.approx(expected, rel=1e-9)
    assert found.versus_best.p_adjusted >= found.versus_best.p
    assert found.versus_best.difference == pytest.approx((ours - theirs).mean())
    assert found.versus_base is not None
    assert found.versus_base.difference > 0
    assert row(big, "weak", base="org/weak").versus_base is None


def test_holm_over_all_rows(big: Bench) -> None:
    (track,) = build_board(big.store).tracks
    tests = [r.versus_best for r in track.rows if r.versus_best]
    p = sorted(test.p for test in tests)
    running, expected = 0.0, []
    for place, one in enumerate(p):
        running = max(running, min(1.0, one * (len(p) - place)))
        expected.append(running)
    assert sorted(test.p_adjusted for test in tests) == pytest.approx(expected)


def test_missing_and_invalid_score_zero_and_are_shown(big: Bench) -> None:
    found = row(big, "holes")
    cell = found.cells["tiny"]
    assert (cell.items, cell.missing, cell.invalid) == (120, 12, 9)
    scores = big.store.scores(cell.submission, "tiny")
    right = math.fsum(value(score, "hits1") for score in scores if score.status == "ok")
    assert cell.scores["hits1"].value == pytest.approx(right / 120)
    assert found.notes == ["12 of 120 missing (10.0%)", "9 of 120 invalid (7.5%)"]
    assert found.deltas == {}


def test_delta_is_paired_by_source(big: Bench) -> None:
    found = row(big, "strong").deltas["swap delta"]
    base = dict(
        zip((q.source_id for q in big.packages["tiny"].queries), hits(big, "strong"), strict=True)
    )
    swapped = dict(
        zip(
            (q.source_id for q in big.packages["tiny_swapped"].queries),
            hits(big, "strong", "tiny_swapped"),
            strict=True,
        )
    )
    differences = [base[source] - value for source, value in swapped.items()]
    assert len(differences) == 60
    assert found.difference == pytest.approx(math.fsum(differences) / 60)
    assert found.low <= found.difference <= found.high


def test_rows_without_all_ranked_tasks_are_not_ranked(bench: Bench) -> None:
    submit(bench.run("whole"), str(bench.board))
    submit(bench.run("part", tasks=("tiny_swapped",)), str(bench.board))
    (track,) = build_board(bench.store).tracks
    part = next(r for r in track.rows if r.model == "org/part")
    assert (part.scores, part.rank, part.versus_best) == ({}, None, None)
    assert track.rows[-1] is part


def test_one_entry_alone(bench: Bench) -> None:
    submit(bench.run("alone"), str(bench.board))
    (track,) = build_board(bench.store).tracks
    assert track.rows[0].rank == (1, 1)
    assert track.rows[0].versus_best is None


def test_later_submission_replaces_and_withdrawal_restores(bench: Bench) -> None:
    (first,) = submit(bench.run("a", seed=1), str(bench.board))
    (second,) = submit(bench.run("a", seed=2), str(bench.board))
    assert row(bench, "a").cells["tiny"].submission == second.submission
    assert row(bench, "a").attempts == 2
    bench.store.decide(second.submission, "withdrawn", "wrong prompt")
    assert row(bench, "a").cells["tiny"].submission == first.submission
    assert build_board(bench.store).withdrawn[0].reason == "wrong prompt"


def test_pending_is_not_shown_until_approved(bench: Bench) -> None:
    from leaderboard.runs import read_runs

    (submission,) = read_runs(bench.run("a"))
    receipt = bench.store.add(submission, pending=True)
    assert build_board(bench.store).tracks == []
    bench.store.decide(receipt.submission, "approved")
    assert row(bench, "a").verified is False
    bench.store.decide(receipt.submission, "verified")
    assert row(bench, "a").verified is True


def test_unknown_base_lists_the_entries(big: Bench) -> None:
    with pytest.raises(DataError, match="'org/nobody' is not on the board; entries: 'org/strong'"):
        build_board(big.store, base="org/nobody")
    with pytest.raises(DataError, match="no track 'sage'"):
        build_board(big.store, tracks=["sage"])


def test_rebuild_reproduces_the_snapshot_byte_for_byte(big: Bench) -> None:
    current_board(big.store)
    assert rebuild(big.store, check=True) == snapshot_path(big.store)
    path = snapshot_path(big.store)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"value":', b'"value" :', 1))
    with pytest.raises(DataError, match="differs from what the raw responses give"):
        rebuild(big.store, check=True)
    path.write_bytes(content)


def test_macro_average_over_two_ranked_tasks(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, items=60)
    board = json.loads(json.dumps(BOARD))
    board["tracks"][0]["tasks"][1]["variant"] = False
    (bench.board / "board.json").write_text(json.dumps(board))
    for name, accuracy in (("good", 0.9), ("middle", 0.6), ("bad", 0.3), ("worse", 0.1)):
        submit(bench.run(name, accuracy=accuracy), str(bench.board))
    submit(bench.run("part", tasks=("tiny",)), str(bench.board))
    (track,) = build_board(bench.store).tracks
    for one in track.rows[:-1]:
        hits = one.scores["hits1"]
        means = [one.cells[task].scores["hits1"].value for task in ("tiny", "tiny_swapped")]
        assert hits.value == pytest.approx(sum(means) / 2)
        assert hits.low < hits.value < hits.high
    assert (track.rows[-1].model, track.rows[-1].scores) == ("org/part", {})
    found = track.rows[1].versus_best
    assert found is not None
    assert found.method == "sign flips, Student, macro average"
    (agreement,) = track.agreements
    assert agreement.tau == pytest.approx(1.0)


def test_detectable_difference_is_given_per_task(big: Bench) -> None:
    (track,) = build_board(big.store).tracks
    whole, half = (task.detectable for task in track.tasks)
    assert whole is not None
    assert half is not None
    assert 0.05 < whole < half < 0.5, "fewer items show only larger differences"


def test_interval_by_term(big: Bench) -> None:
    """Two items per term: the interval resamples the 60 terms, and says so."""
    cell = row(big, "middle").cells["tiny"]
    assert cell.by_term is not None
    assert cell.by_term.value == cell.scores["hits1"].value
    assert cell.by_term.method != cell.scores["hits1"].method
    assert cell.by_term.low < cell.scores["hits1"].value < cell.by_term.high
    # every second item: one per term
    assert row(big, "middle").cells["tiny_swapped"].by_term is None


def test_new_task_version_archives_old_answers(bench: Bench) -> None:
    submit(bench.run("a"), str(bench.board))
    current_board(bench.store)
    board = json.loads(json.dumps(BOARD))
    board["tracks"][0]["tasks"][0]["version"] = "2"
    (bench.board / "board.json").write_text(json.dumps(board))
    found = current_board(bench.store)
    assert [(one.task, one.version) for one in found.archived] == [("tiny", "1")]
    (only,) = found.tracks[0].rows
    assert set(only.cells) == {"tiny_swapped"}
    assert only.rank is None


def test_new_dataset_build_rescores_old_answers(bench: Bench) -> None:
    """The gold of one item is corrected; its id stays, so the same responses are scored anew."""
    (receipt,) = submit(bench.run("a", accuracy=1.0), str(bench.board))
    assert row(bench, "a").cells["tiny"].scores["hits1"].value == 1.0
    path = bench.root / "data" / "base" / "test.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    old = lines[0]["gold"]
    lines[0]["gold"] = (old + 1) % 10
    lines[0]["kinds"][old], lines[0]["kinds"][(old + 1) % 10] = "random", "gold"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    fresh = subprocess.run(
        [
            *(sys.executable, "-c", "from leaderboard.cli import app; app()"),
            *("rank", "--json", "--store", str(bench.board)),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    (track,) = Board.model_validate_json(fresh.stdout).tracks
    assert track.rows[0].cells["tiny"].scores["hits1"].value == pytest.approx(23 / 24)
    assert track.rows[0].cells["tiny"].submission == receipt.submission
