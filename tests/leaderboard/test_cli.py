"""The commands, as a user types them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from leaderboard.cli import app, ledger_app, submit_command
from leaderboard.lines import read_submission
from leaderboard.records import Board
from tests.leaderboard.bench import Bench

runner = CliRunner()
submit_app = typer.Typer()
submit_app.command()(submit_command)


def test_submit_then_rank(bench: Bench) -> None:
    for name, accuracy in (("good", 0.9), ("bad", 0.1)):
        run = bench.run(name, accuracy=accuracy)
        result = runner.invoke(submit_app, [str(run), "--to", str(bench.board)])
        assert result.exit_code == 0, result.output
        assert f"org/{name}: submitted as" in result.output
    result = runner.invoke(app, ["rank", "--store", str(bench.board), "--base", "org/bad"])
    assert result.exit_code == 0, result.output
    assert result.output.index("org/good") < result.output.index("org/bad")
    assert "- base" in result.output


def test_json_has_the_same_rows(bench: Bench) -> None:
    runner.invoke(submit_app, [str(bench.run("a")), "--to", str(bench.board)])
    result = runner.invoke(app, ["rank", "--store", str(bench.board), "--json"])
    board = Board.model_validate_json(result.output)
    assert [row.model for row in board.tracks[0].rows] == ["org/a"]


def test_receipt_as_json(bench: Bench) -> None:
    result = runner.invoke(
        submit_app, [str(bench.run("a")), "--to", str(bench.board), "--json", "--cost", "1.5"]
    )
    (receipt,) = json.loads(result.output)
    assert receipt["attempts"] == 1
    assert bench.store.header(receipt["submission"]).cost == 1.5


def test_export(bench: Bench) -> None:
    runner.invoke(submit_app, [str(bench.run("a")), "--to", str(bench.board)])
    out = bench.root / "out"
    result = runner.invoke(app, ["export", str(out), "--store", str(bench.board)])
    assert result.output.strip() == str(out / "index.html")
    assert (out / "index.html").is_file()


HEAVY = ("torch", "lmms_eval", "datasets", "transformers", "duckdb", "gradio", "scipy", "pandas")


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        ("import leaderboard.cli", (*HEAVY, "pydantic", "numpy", "rich.console")),
        (
            "import leaderboard.server.app, leaderboard.submit, leaderboard.site.export",
            ("torch", "lmms_eval", "datasets", "transformers"),
        ),
    ],
)
def test_imports_stay_light(statement: str, forbidden: tuple[str, ...]) -> None:
    script = f"{statement}\nimport sys\nprint([m for m in {forbidden!r} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_compare_verdict_rebuild_decide(bench: Bench) -> None:
    receipts = {}
    for name, accuracy in (("good", 1.0), ("bad", 0.0)):
        result = runner.invoke(
            submit_app,
            [str(bench.run(name, accuracy=accuracy)), "--to", str(bench.board), "--json"],
        )
        receipts[name] = json.loads(result.output)[0]["submission"]
    store = ["--store", str(bench.board)]
    pair = ["org/good", "org/bad", "--task", "tiny"]
    badge = bench.root / "badge.svg"
    verdict = runner.invoke(app, ["verdict", *pair, *store, "--badge", str(badge)])
    assert verdict.output.startswith("Is org/good better than org/bad on tiny? Yes.")
    assert badge.read_text().startswith("<svg")
    compared = json.loads(runner.invoke(app, ["compare", *pair, *store, "--json"]).output)
    assert (compared["wins"], compared["losses"], len(compared["disagreements"])) == (24, 0, 20)
    assert "written" in runner.invoke(app, ["rebuild", *store]).output
    assert "equal, byte for byte" in runner.invoke(app, ["rebuild", "--check", *store]).output
    silent = runner.invoke(app, ["decide", receipts["bad"], "withdrawn", *store])
    assert silent.exit_code != 0
    runner.invoke(app, ["decide", receipts["bad"], "withdrawn", "--reason", "mistake", *store])
    assert "mistake" in runner.invoke(app, ["rank", *store]).output
    assert "3 lines" in runner.invoke(ledger_app, ["verify", *store]).output


def test_packed_file_can_be_sent_later(bench: Bench) -> None:
    packed = bench.root / "run.jsonl"
    runner.invoke(submit_app, [str(bench.run("a")), "--to", str(packed)])
    submission = read_submission(packed.read_bytes())
    assert bench.store.add(submission).label == "org/a"


PAGE = Path(__file__).resolve().parents[2] / "docs" / "leaderboard.md"


def test_page_names_every_command() -> None:
    text = PAGE.read_text(encoding="utf-8")
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    assert set(re.findall(r"wordsight leaderboard ([a-z]+)", text)) == set(group.commands)
