"""SymbalBench on the board: scores, groups of settings, parts, pages, exports."""

from __future__ import annotations

import csv
import itertools
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from leaderboard.board import build_board
from leaderboard.comparison import disagreeing, duel, sentence
from leaderboard.examine import examine
from leaderboard.exporters import WRITERS
from leaderboard.importers import read_every_eval_ever
from leaderboard.kinds.naming_gold import NamingGold
from leaderboard.kinds.naming_score import NamingScore, score_setting
from leaderboard.records import Row
from leaderboard.schema import SubmissionError
from leaderboard.site.export import export_site
from leaderboard.site.naming_view import page
from leaderboard.store import Store, create_store
from leaderboard.submit import submit
from symbal_tasks.evaluate import read_answer, score
from symbal_tasks.judge import OfflineJudge
from symbal_tasks.records import BaseRow, Domain, Pair, Setting
from symbal_tasks.settings import make_settings
from symbal_tasks.store import write_benchmark
from tests.leaderboard.browser import CHROMIUM, Browser
from tests.leaderboard.settings import TASK, demo, right, told, write_run
from wordsight.errors import DataError


@dataclass
class Filled:
    store: Store
    root: Path

    def row(self, name: str) -> Row:
        (track,) = build_board(self.store).tracks
        return next(row for row in track.rows if row.label == f"org/{name}")


def only_kites(setting: Setting) -> str:
    """Right on the settings of one error; elsewhere a near miss."""
    return right(setting) if setting.t == "kite" else told("dog, " + setting.t, "sky")


def with_holes(setting: Setting) -> str | None:
    """One setting left out, one without an answer, one with half of it; else right."""
    special = {
        demo().settings[0].id: None,
        demo().settings[1].id: "I see nothing wrong.",
        demo().settings[2].id: f"Textual Error: {demo().settings[2].t}",
    }
    return special.get(setting.id, right(setting))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    root = tmp_path_factory.mktemp("naming")
    runs = {
        "all": lambda s: told(f"{s.t}, x", f"{s.v}, y"),
        "kites": only_kites,
        "holes": with_holes,
        "same": lambda s: told("zebra", "sky"),
        "copied": right,
    }
    for name, answer in runs.items():
        run = write_run(root / "runs", name, answer)
        submit(run, str(root / "board"), partial=name == "holes")
    return Filled(create_store(root / "board"), root)


def test_an_answer_counts_by_the_place_of_the_right_name() -> None:
    setting = demo().setting("natural__kite__person__0.3")
    found = score_setting(setting, [told("dog, some kites in the sky", "man, people, sky")])
    assert (found.t_at, found.status, found.interface) == (2, "ok", "text")
    assert (found.acc1_t, found.acc5_t, found.acc1_both) == (0.0, 1.0, 0.0)
    late = score_setting(setting, [told("a, b, c, d, e, kite", "person")])
    assert (late.acc5_t, late.acc1_v, late.acc5_both) == (0.0, 1.0, 0.0)


def test_scores_are_those_of_the_lmms_eval_task() -> None:
    settings = list(demo().settings)
    texts = [told(f"dog, {s.t}s", f"a {s.v} on the left, x") for s in settings]
    theirs = score(settings, [read_answer(text) for text in texts], OfflineJudge())
    for setting, text, scored in zip(settings, texts, theirs, strict=True):
        ours = score_setting(setting, [text])
        for measure, value in scored.right.items():
            what, top = measure.split("@")
            assert getattr(ours, f"acc{top}_{what}") == float(value)


def test_missing_and_unreadable_answers(filled: Filled) -> None:
    (cell,) = filled.row("holes").cells.values()
    assert (cell.items, cell.missing, cell.invalid) == (18, 1, 2)
    assert cell.scores["acc1_both"].value == pytest.approx(15 / 18)
    # the line that is there is judged
    assert cell.scores["acc1_t"].value == pytest.approx(16 / 18)
    assert filled.row("holes").notes == ["1 of 18 missing (5.6%)", "2 of 18 invalid (11.1%)"]


def test_intervals_and_tests_take_a_pair_as_one_trial(filled: Filled) -> None:
    scores = filled.row("kites").scores["acc1_both"]
    assert scores.value == pytest.approx(3 / 18)
    assert "clusters" in scores.method
    found = duel(filled.store, TASK, "org/all", "org/kites")
    assert (found.groups, found.wins, found.losses) == (6, 15, 0)
    # independent: signs of six groups, one of which does not differ
    differences = np.array([0, 3, 3, 3, 3, 3])
    sums = [abs(np.dot(s, differences)) for s in itertools.product((-1, 1), repeat=6)]
    assert found.p == pytest.approx(np.mean([one >= differences.sum() for one in sums]))
    assert found.answer == "cannot tell", "six pairs are too few, though 15 settings differ"
    assert "one trial" in sentence(found)
    (track,) = build_board(filled.store).tracks
    assert {row.versus_best.method for row in track.rows if row.versus_best} == {
        "sign flips, Student, whole groups"
    }


def test_parts_add_up(filled: Filled) -> None:
    (cell,) = filled.row("kites").cells.values()
    for family in ("strength", "feature size", "kind"):
        groups = [group for group in cell.groups if group.family == family]
        assert sum(group.items for group in groups) == 18
        right_ones = sum(group.items * group.scores["acc1_both"].value for group in groups)
        assert right_ones == pytest.approx(3)
    assert [g.group for g in cell.groups if g.family == "strength"] == ["0.3", "0.6", "0.9"]
    by_size = {g.group: g for g in cell.groups if g.family == "feature size"}
    kites = [s for s in demo().settings if s.t == "kite"]
    assert {s.v for s in kites} == {"person"}
    assert by_size["0.2 to 0.4"].scores["acc1_both"].value == pytest.approx(
        len(kites) / by_size["0.2 to 0.4"].items
    )


def test_signs(filled: Filled) -> None:
    signs = {
        one.label: " / ".join(one.signs) for one in examine(filled.store, build_board(filled.store))
    }
    assert "names 'zebra' first in 18 of 18 settings" in signs["org/same"]
    assert "two names and nothing else in 18 of 18 settings" in signs["org/copied"]
    assert "org/holes" not in signs


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"item": "natural__no__such__0.3"}, "unknown to task"),
        ({"responses": ["a", "b"]}, "responses: 2 stand here"),
        ({"item": "../../natural__x"}, "item"),
    ],
)
def test_what_does_not_fit_is_named(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    run = write_run(tmp_path, "odd", right)
    (path,) = run.rglob("*_samples_*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines[3]["wordsight"] |= change
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises((DataError, SubmissionError), match=message):
        submit(run, str(tmp_path / "board"))


def test_another_build_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path, "old", right, fingerprint="0" * 20)
    with pytest.raises(SubmissionError, match=f"dataset version {'0' * 20}"):
        submit(run, str(tmp_path / "board"))


def test_endless_texts_are_read_all_the_same() -> None:
    assert read_answer('{"textual_error": ' + "[" * 60_000 + "}").errors == ()
    long = "a " * 30_000
    assert [len(name) for name in read_answer(f"Textual Error: {long}").errors] == [100]
    assert read_answer("<think>" * 9000 + "\n" + right(demo().settings[0])).errors == ("kite",)
    assert read_answer("\n" * 60_000 + "Visual Feature: x").features == ("x",)
    assert read_answer("<think>Textual Error: a</think>Textual Error: b").errors == ("b",)


def test_exports(filled: Filled, tmp_path: Path) -> None:
    board = build_board(filled.store)
    for form in ("csv", "parquet", "latex"):
        WRITERS[form](filled.store, board, tmp_path / f"board.{form}")
    lines = list(csv.DictReader((tmp_path / "board.csv").read_text().splitlines()))
    (strongest,) = [
        line for line in lines if line["label"] == "org/kites" and line["group"] == "strength: 0.9"
    ]
    assert float(strongest["acc1_both"]) == pytest.approx(1 / 6)
    assert "hits1" not in strongest
    assert "both@1 & both@5 & t@1" in (tmp_path / "board.latex").read_text()
    written = WRITERS["every_eval_ever"](filled.store, board, tmp_path / "eee")
    records = [path for path in written if path.suffix == ".json"]
    again = {read_every_eval_ever(path).header.label: path for path in records}
    imported = read_every_eval_ever(again["org/kites"])
    assert imported.items[0].responses == [only_kites(demo().settings[0])]
    other = create_store(tmp_path / "other")
    other.add(imported)
    (track,) = build_board(other).tracks
    assert track.rows[0].scores == filled.row("kites").scores


def test_pages(filled: Filled, tmp_path: Path) -> None:
    folder = export_site(filled.store, tmp_path / "site").parent
    setting = demo().setting("natural__surfboard__person__0.6")
    text = (folder / "tasks" / TASK / f"{setting.id}.html").read_text(encoding="utf-8")
    assert '<span class="tag right">surfboard, right</span>' in text
    sentence_put = demo().stored.sentences[setting.sentences[0]].replace("'", "&#39;")
    assert f"<mark>{sentence_put}</mark>" in text
    parts = (folder / "tasks" / TASK / "parts.html").read_text(encoding="utf-8")
    assert "By feature size" in parts
    index = (folder / "index.html").read_text(encoding="utf-8")
    assert f"tasks/{TASK}/parts.html" in index
    assert "Guessing is right" not in index
    found = duel(filled.store, TASK, "org/kites", "org/same")
    assert [one.item for one in disagreeing(filled.store, found)] == [
        s.id for s in demo().settings if s.t == "kite"
    ]


def test_reports_of_the_medical_domain_are_not_shown(tmp_path: Path) -> None:
    """MIMIC-CXR may not be passed on; its settings are scored all the same."""
    rows = tuple(
        BaseRow(
            id=str(i),
            file=f"{i}.jpg",
            width=1,
            height=1,
            caption=("A secret report.",),
            reference="A secret finding.",
            features=("tube",) if i < 20 else (),
        )
        for i in range(40)
    )
    domain = Domain("medical", rows, {"edema": frozenset()}, {"edema": ("There is edema.",)})
    settings, _ = make_settings(domain, [Pair("edema", "tube")])
    write_benchmark(tmp_path / "data", domain, settings)
    (tmp_path / "board").mkdir()
    task = {
        "name": "med",
        "label": "Medical",
        "dataset": "../data",
        "config": "medical",
        "kind": "naming",
    }
    board = {"title": "M", "tracks": [{"name": "med", "label": "Medical", "tasks": [task]}]}
    (tmp_path / "board" / "board.json").write_text(json.dumps(board), encoding="utf-8")
    gold = create_store(tmp_path / "board").gold("med")
    assert isinstance(gold, NamingGold)
    assert gold.benchmark.captions(gold.settings[0])[0].startswith("A secret report.")
    shown = page(gold, gold.summaries[0].id, [])
    assert shown["captions"] == []


def test_scoring_needs_no_torch() -> None:
    script = (
        "import sys\n"
        "from leaderboard.catalog import DEFAULT\n"
        "from leaderboard.gold import load_gold\n"
        f"gold = load_gold(DEFAULT.task({TASK!r}))\n"
        "gold.score(gold.summaries[0].id, ['Textual Error: kite'])\n"
        "print([m for m in ('torch', 'lmms_eval', 'transformers', 'datasets') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_what_is_stored_is_what_was_scored(filled: Filled) -> None:
    (cell,) = filled.row("kites").cells.values()
    stored = filled.store.scores(cell.submission, TASK)
    gold = filled.store.gold(TASK)
    assert isinstance(gold, NamingGold)
    assert stored == [gold.score(s.id, [only_kites(s)]) for s in gold.settings]
    assert all(isinstance(one, NamingScore) for one in stored)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_script_in_an_answer_is_shown_as_text(tmp_path: Path) -> None:
    script = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    run = write_run(tmp_path / "runs", "script", lambda s: told(f"{script}, {s.t}", script))
    submit(run, str(tmp_path / "board"))
    submit(write_run(tmp_path / "runs", "right", right), str(tmp_path / "board"))
    folder = export_site(create_store(tmp_path / "board"), tmp_path / "site").parent / "tasks"
    with Browser(390) as browser:
        for name in ("compare", demo().settings[0].id, "parts"):
            browser.open((folder / TASK / f"{name}.html").as_uri())
            assert browser.run("document.documentElement.scrollWidth") <= 390
            if name != "parts":
                assert script in browser.run("document.body.innerText")
        assert browser.log == []


@pytest.mark.slow
def test_the_whole_way(tmp_path: Path) -> None:
    """A run of Symbal by command, submitted, ranked, exported, compared with another."""

    def wordsight(*arguments: str) -> str:
        command = [sys.executable, "-m", "wordsight", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    wordsight(
        *("eval", "--model", "symbal", "--model_args", "composition=offline"),
        *("--tasks", TASK, "--output_path", "out"),
    )
    wordsight("submit", "out", "--to", "board")
    submit(write_run(tmp_path / "runs", "right", right), str(tmp_path / "board"))
    board = json.loads(wordsight("leaderboard", "rank", "--track", "symbalbench", "--json"))
    rows = {row["label"]: row for track in board["tracks"] for row in track["rows"]}
    results = json.loads(next((tmp_path / "out").rglob("*_results.json")).read_text())
    for measure, estimate in rows["symbal (composition=offline)"]["scores"].items():
        assert estimate["value"] == pytest.approx(results["results"][TASK][f"{measure},none"])
    said = wordsight(
        *("leaderboard", "compare", "org/right", "symbal (composition=offline)", "--task", TASK),
        *("--limit", "3"),
    )
    assert "--limit" in said
    assert wordsight("leaderboard", "export", "site").strip().endswith("index.html")
    wordsight("leaderboard", "rebuild")
    assert "equal, byte for byte" in wordsight("leaderboard", "rebuild", "--check")
