"""Explaining, sorting failures and ablating, from one run with method=all."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sage_tasks.gar.ablate import axis_table, method_table
from sage_tasks.gar.cli import app
from sage_tasks.gar.errors import KINDS, guess
from sage_tasks.gar.methods import Answers, Settings
from sage_tasks.gar.records import Definition, ItemText
from sage_tasks.gar.results import find_item, read_result
from sage_tasks.lexicons.base import Gloss
from sage_tasks.records import Query
from wordsight.errors import DataError


@pytest.fixture(scope="module")
def folder(words: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of every method."""
    from tests.sage_tasks.gar.conftest import ITEMS
    from wordsight.run.report import evaluate
    from wordsight.run.spec import RunSpec

    path = tmp_path_factory.mktemp("run")
    args = f"base=conse,definitions={words},method=all"
    spec = RunSpec(model="gar", tasks=("sage_demo",), model_args=args, limit=ITEMS)
    evaluate(spec, path, quiet=True)
    return path


def test_explanation_shows_words_questions_and_every_candidate(
    folder: Path, queries: list[Query], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    item = queries[0].id
    shown = CliRunner().invoke(app, ["explain", str(folder), item[:8], "--page", str(page)])
    assert shown.exit_code == 0, shown.output
    assert queries[0].gloss in shown.output
    assert "object 1: cocktail bar" in shown.output
    heading = re.search(r"\* is the gold\s+(.*)", shown.output)
    assert heading is not None
    columns = heading.group(1).split()
    assert sorted(int(name.strip("*")) for name in columns) == list(range(10))
    assert [name for name in columns if name.startswith("*")] == [f"*{queries[0].gold}"]
    html = page.read_text()
    assert html.count('<img src="data:image/webp;base64,') == 10
    assert html.count('class="gold"') == 1
    # 3 holistic questions and 3 constraints, each with ten cells
    assert html.count('<td style="background') == 60


def test_items_are_found_by_id_or_by_a_term_that_stands_once(folder: Path) -> None:
    tasks = read_result(folder)
    with pytest.raises(DataError, match="2 items fit 'bat'"):
        find_item(tasks, "bat")
    with pytest.raises(DataError, match="no item 'zebra'"):
        find_item(tasks, "zebra")
    assert read_result(next(folder.rglob("*_samples_*.jsonl")))[0].items == tasks[0].items


def test_ablation_agrees_with_the_runs_own_metrics(folder: Path) -> None:
    tasks = read_result(folder)
    results = json.loads(next(folder.rglob("*_results.json")).read_text())["results"]["sage_demo"]
    table = method_table(tasks)
    assert list(table.rows) == ["Base", "Generated Def.", "Lexical Def.", "CGR", "Full GAR"]
    full = table.rows["Full GAR"]
    assert full["sage_demo", "Hits@1"].value == pytest.approx(100 * results["hits1,none"])
    assert full["sage_demo", "MRR"].value == pytest.approx(100 * results["mrr,none"])
    assert table.rows["Base"]["sage_demo", "MRR"].p is None
    for cells in table.rows.values():
        for cell in cells.values():
            assert cell.low <= cell.value <= cell.high
    axes = axis_table(tasks).rows
    assert len(axes) == 7
    assert axes["All"]["sage_demo", "MRR"].value == table.rows["CGR"]["sage_demo", "MRR"].value


def test_commands_print_tables_failures_and_definitions(
    folder: Path, words: Path, tmp_path: Path
) -> None:
    runner = CliRunner()
    asked = ["ablate", "--tasks", "sage_demo", "--output_path", str(folder)]
    text = runner.invoke(app, asked)
    assert text.exit_code == 0, text.output
    assert "Full GAR" in text.output
    assert "object+state" in text.output
    tables = json.loads(runner.invoke(app, [*asked, "--json"]).output)
    assert [table["reference"] for table in tables] == ["Base", "All", "CGR, mean"]
    listed = json.loads(runner.invoke(app, ["errors", str(folder), "--json"]).output)
    assert listed["items"] == 4
    assert sum(listed["kinds"].values()) == len(listed["failures"])
    out = tmp_path / "exported.jsonl"
    assert runner.invoke(app, ["definitions", str(folder), "--out", str(out)]).exit_code == 0
    assert out.read_text() == words.read_text()


TEXT = ItemText(
    term="bat",
    context="bat cave",
    glosses=(Gloss("wordnet", "1", "flying mammal of the night"), Gloss("wordnet", "2", "a club")),
    lexical=Definition(text="A flying mammal."),
)


@pytest.mark.parametrize(
    ("definition", "objects", "states", "lexical", "kind"),
    [
        ("A wooden club.", (0.2, 0.8), (0.2, 0.8), (0.0, 1.0), "upstream semantic"),
        ("A flying mammal.", (0.8, 0.2), (0.2, 0.8), (0.0, 1.0), "cross-axis conflict"),
        ("A flying mammal.", (0.50, 0.55), (0.4, 0.4), (0.0, 1.0), "non-discriminative"),
        ("A flying mammal.", (0.2, 0.8), (0.4, 0.4), (1.0, 0.0), "decomposition drift"),
        ("A flying mammal.", (0.2, 0.8), (0.4, 0.4), (0.0, 1.0), "visual verification"),
    ],
)
def test_first_guess_at_the_kind_of_an_error(
    definition: str,
    objects: tuple[float, float],
    states: tuple[float, float],
    lexical: tuple[float, float],
    kind: str,
) -> None:
    answers = Answers(
        names=("lexical", "object 1", "state 1"),
        axes=(None, "object", "state"),
        keys=[lexical, objects, states],
        probabilities=[lexical, objects, states],
    )
    text = TEXT.model_copy(update={"lexical": Definition(text=definition)})
    found, evidence = guess(answers, Settings(), text, 0, 1, "flying mammal of the night")
    assert found == kind
    assert evidence
    assert found in KINDS
    # without a gold gloss nothing is known about the sense
    blind, _ = guess(answers, Settings(), text, 0, 1, "")
    assert blind != "upstream semantic"
