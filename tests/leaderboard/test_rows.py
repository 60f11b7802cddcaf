"""What rows say about themselves, and in what order they stand."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from leaderboard import table
from leaderboard.board import build_board, with_bca
from leaderboard.catalog import DEFAULT
from leaderboard.comparison import duel
from leaderboard.exporters.latex import latex_table
from leaderboard.exporters.tables import flat_rows
from leaderboard.gold import load_gold
from leaderboard.kinds.ranking_score import RankingScore
from leaderboard.scoring import value
from leaderboard.server.frames import frame_of, matching, table_of
from leaderboard.site.export import export_site
from leaderboard.site.formats import utc
from leaderboard.site.render import printed_beside
from leaderboard.submit import submit
from leaderboard.table import print_board
from tests.leaderboard.bench import BOARD, Bench, make_bench
from wordsight.answers import choice_answer
from wordsight.errors import DataError

Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = make_bench(tmp_path_factory.mktemp("rows"), items=150)
    for name, accuracy in (("weak", 0.3), ("anna", 0.6), ("zoe", 0.62), ("best", 0.9)):
        submit(bench.run(name, accuracy=accuracy, tasks=("tiny",)), str(bench.board))
    return bench


def choose(bench: Bench, task: str, lines: Lines) -> None:
    """One letter for ten pictures; the gold's on every item but each third."""
    letters = "ABCDEFGHIJ"
    for number, (line, query) in enumerate(zip(lines, bench.packages[task].queries, strict=True)):
        chosen = letters[query.gold if number % 3 else (query.gold + 1) % 10]
        line["wordsight"]["responses"] = [choice_answer(chosen, letter) for letter in letters]


def test_a_choice_has_no_reciprocal_rank(bench: Bench, tmp_path: Path) -> None:
    run = bench.run("letters", tasks=("tiny",), edit=lambda t, lines: choose(bench, t, lines))
    submit(run, str(bench.board))
    submit(bench.run("other", tasks=("tiny",)), str(bench.board))
    board = build_board(bench.store)
    row = next(row for row in board.tracks[0].rows if row.label == "org/letters")
    assert row.interface == "choice"
    assert set(row.scores) == set(row.cells["tiny"].scores) == {"hits1"}
    assert row.scores["hits1"].value == pytest.approx(16 / 24)
    lines = [one for one in flat_rows(board) if one["label"] == "org/letters"]
    assert {one["mrr"] for one in lines} == {one["mrr_low"] for one in lines} == {None}
    (latex,) = [t for t in latex_table(board.tracks[0]).splitlines() if t.startswith("org/letters")]
    assert latex.endswith(r"& -- \\")
    scores = bench.store.scores(row.cells["tiny"].submission, "tiny")
    assert all(isinstance(one, RankingScore) and one.hard is None for one in scores)
    page = export_site(bench.store, tmp_path / "site").read_text(encoding="utf-8")
    (shown,) = re.findall(r"org/letters<small>.*?</tr>", page, re.DOTALL)
    assert re.search(r'data-label="MRR, %">\N{EN DASH}<small></small>', shown)


def test_a_choice_task_has_no_reciprocal_rank_without_a_readable_answer(bench: Bench) -> None:
    task = {"name": "tiny_choice", "label": "Letters", "dataset": "../data", "config": "base"}
    track = {"name": "letters", "label": "Letters", "tasks": [task]}
    (bench.board / "board.json").write_text(json.dumps({"title": "Tiny", "tracks": [track]}))
    bench.packages["tiny_choice"] = bench.packages["tiny"]

    def babble(task: str, lines: Lines) -> None:
        for line in lines:
            answers = [choice_answer("I see birds.", letter) for letter in "ABCDEFGHIJ"]
            line["wordsight"]["responses"] = answers

    for name in ("one", "two"):
        submit(bench.run(name, tasks=("tiny_choice",), edit=babble), str(bench.board))
    (found,) = build_board(bench.store).tracks
    for row in found.rows:
        assert row.cells["tiny_choice"].invalid == 24
        assert set(row.scores) == set(row.cells["tiny_choice"].scores) == {"hits1"}
    told = duel(bench.store, "tiny_choice", "org/one", "org/two")
    assert [gap.measure for gap in told.gaps] == ["hits1"]


def test_contact_and_cost_are_shown(bench: Bench, tmp_path: Path) -> None:
    run = bench.run("a", tasks=("tiny",))
    submit(run, str(bench.board), contact="<b>Anna</b> a@lab.example", cost=1.5)
    board = build_board(bench.store)
    (row,) = board.tracks[0].rows
    assert (row.contact, row.cost) == ("<b>Anna</b> a@lab.example", 1.5)
    page = export_site(bench.store, tmp_path / "site").read_text(encoding="utf-8")
    assert "cost $1.50, contact: &lt;b&gt;Anna&lt;/b&gt; a@lab.example" in page
    assert {(one["contact"], one["cost"]) for one in flat_rows(board)} == {(row.contact, 1.5)}
    shown = frame_of(board.tracks[0], [row], ["Contact", "Cost, $"]).to_string(delimiter="|")
    assert shown.endswith("|<b>Anna</b> a@lab.example|1.5\n")


def test_flat_rows_have_the_differences(bench: Bench) -> None:
    submit(bench.run("a", accuracy=0.8), str(bench.board))
    board = build_board(bench.store)
    test = board.tracks[0].rows[0].deltas["swap delta"]
    *tasks, whole = flat_rows(board)
    assert {one["swap delta"] for one in tasks} == {None}
    assert (whole["swap delta"], whole["swap delta_low"]) == (test.difference, test.low)
    assert whole["swap delta_p_holm"] == test.p_adjusted


def test_names_are_folded_in_a_narrow_terminal(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("gloss", "word"):
        args = f"pretrained=org/{'long' * 20},composition=offline,text={text}"
        submit(bench.run(text, accuracy=0.6, model_args=args), str(bench.board))
    monkeypatch.setattr(table, "PIPE_WIDTH", 80)
    board = build_board(bench.store)
    print_board(board)
    out = capsys.readouterr().out
    assert "\N{HORIZONTAL ELLIPSIS}" not in out
    assert max(map(len, out.splitlines())) <= 80
    names = [line.split("\N{BOX DRAWINGS LIGHT VERTICAL}") for line in out.splitlines()]
    column = "".join(cells[2].strip() for cells in names if len(cells) > 3)
    for row in board.tracks[0].rows:
        assert row.label.replace(" ", "") in column.replace(" ", "")


def test_a_track_without_entries_says_so(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    task = {"name": "tiny_empty", "label": "Empty", "dataset": "../data", "config": "base"}
    empty = {"name": "empty", "label": "Empty", "tasks": [task]}
    whole = {**BOARD, "tracks": [*BOARD["tracks"], empty]}
    (bench.board / "board.json").write_text(json.dumps(whole))
    (receipt,) = submit(bench.run("a", tasks=("tiny",)), str(bench.board))
    bench.store.decide(receipt.submission, "withdrawn", "wrong prompt")
    print_board(build_board(bench.store, tracks=["empty"]))
    assert capsys.readouterr().out == "Empty (empty): no entries yet.\n"
    print_board(build_board(bench.store, tracks=["tiny"]))
    assert "wrong prompt" in capsys.readouterr().out


def test_order_is_the_same_everywhere(many: Bench, tmp_path: Path, capsys: Any) -> None:
    board = build_board(many.store)
    (track,) = board.tracks
    labels = [row.label for row in track.rows]
    assert labels[0] == "org/best"
    assert labels[-1] == "org/weak"
    assert [one["label"] for one in flat_rows(board)] == [n for n in labels for _ in range(2)]
    assert [row.label for row in matching(track, "", "rank")] == labels
    print_board(board)
    assert re.findall(r"org/\w+", capsys.readouterr().out) == labels
    page = export_site(many.store, tmp_path / "site").read_text(encoding="utf-8")
    assert re.findall(r'<th scope="row">(org/\w+)', page) == labels


def test_bca_limits_against_scipy(many: Bench) -> None:
    board = build_board(many.store)
    usual = {row.label: row for row in board.tracks[0].rows}
    shown = {row.label: row for row in with_bca(board).tracks[0].rows}
    row = usual["org/anna"]
    scores = many.store.scores(row.cells["tiny"].submission, "tiny")
    hits = np.array([value(score, "hits1") for score in scores])
    expected = scipy_stats.bootstrap(
        (hits,), np.mean, n_resamples=10_000, method="BCa", rng=3
    ).confidence_interval
    found = shown["org/anna"].scores["hits1"]
    assert found.method == "BCa bootstrap"
    # limits move in steps of an item
    assert found.low == pytest.approx(expected.low, abs=1.01 / 150)
    assert found.high == pytest.approx(expected.high, abs=1.01 / 150)
    assert row.scores["hits1"].method == "percentile bootstrap"


def test_bca_leaves_other_rules_alone(bench: Bench) -> None:
    submit(bench.run("few", tasks=("tiny",)), str(bench.board))
    board = build_board(bench.store)
    assert board.tracks[0].rows[0].bca == {}
    assert with_bca(board) == board


def test_screening_is_benjamini_and_hochberg(many: Bench) -> None:
    tests = [r.versus_best for r in build_board(many.store).tracks[0].rows if r.versus_best]
    expected = scipy_stats.false_discovery_control([test.p for test in tests], method="bh")
    assert [test.p_screening for test in tests] == pytest.approx(list(expected))
    assert all(test.p <= test.p_screening <= test.p_adjusted for test in tests)


def test_other_pictures_are_marked_wherever_the_row_is(bench: Bench) -> None:
    def resized(task: str, lines: Lines) -> None:
        for line in lines[:6]:
            line["wordsight"]["images"] = "0" * 16

    run = bench.run("copies", tasks=("tiny",), edit=resized)
    submit(run, str(bench.board), other_pictures=True)
    board = build_board(bench.store)
    (row,) = board.tracks[0].rows
    assert row.cells["tiny"].other_pictures == 6
    assert row.notes == ["6 of 24 on other pictures (25.0%)"]
    assert [one["other_pictures"] for one in flat_rows(board)] == [6, 6]
    assert "Other pictures, %" in table_of(board.tracks[0])
    assert "on other pictures" in latex_table(board.tracks[0])


def test_marks_are_shown_only_where_there_is_something_to_mark(many: Bench) -> None:
    (track,) = build_board(many.store).tracks
    assert not {"Missing, %", "Invalid, %", "Other pictures, %"} & set(table_of(track))


def test_a_long_table_is_shown_in_part_and_says_so(many: Bench) -> None:
    from leaderboard.server.ui import ROWS, shown_part

    (track,) = build_board(many.store).tracks
    long = track.model_copy(update={"rows": track.rows * 30})
    table, said = shown_part(long, "", "rank", ["Hits@1"])
    assert (len(table.data), said) == (ROWS, "100 of 120 entries shown.")
    table, said = shown_part(long, "", "rank", ["Hits@1"], whole=True)
    assert (len(table.data), said) == (120, "120 of 120 entries shown.")
    _, said = shown_part(long, "zoe", "rank", ["Hits@1"])
    assert said == "30 of 120 entries shown."


def test_a_name_stands_for_a_family_of_tracks() -> None:
    names = {track.name for track in DEFAULT.chosen(["symbalbench"])}
    assert names == {
        "symbalbench_demo",
        *(f"symbalbench_{d}{r}" for d in ("natural", "medical") for r in ("", "_ref")),
    }
    assert [track.name for track in DEFAULT.chosen(["sage_choice"])] == ["sage_choice"]
    with pytest.raises(DataError, match="no track 'symbal' on this board; it has demo, "):
        DEFAULT.chosen(["symbal"])


def test_every_task_of_the_demo_has_its_gold() -> None:
    sizes = {task.name: len(load_gold(task)) for task in DEFAULT.tasks if task.dataset == "demo"}
    assert sizes == {
        "sage_demo": 192,
        "sage_demo_swapped": 170,
        "sage_demo_scalar": 192,
        "sage_demo_choice": 192,
        "symbalbench_demo": 18,
    }


def test_published_rows_beside_a_track_are_those_of_its_domain(many: Bench) -> None:
    (track,) = build_board(many.store).tracks
    assert printed_beside(track) == []
    medical = track.model_copy(update={"printed": "symbal", "printed_group": "medical"})
    (table,) = printed_beside(medical)
    assert {row.group for row in table.rows} == {"medical"}
    assert len({row.label for row in table.rows}) == len(table.rows), "no row stands twice"


def test_times_are_utc() -> None:
    assert utc("2026-11-30T07:15:59+02:00") == "2026-11-30 05:15 UTC"


def test_csv_has_one_header_for_all_kinds(many: Bench) -> None:
    rows = list(flat_rows(build_board(many.store)))
    sink = io.StringIO()
    csv.DictWriter(sink, fieldnames=list(rows[0])).writerows(rows)
    assert all(list(row) == list(rows[0]) for row in rows)
