"""docs/statistics.md: its examples run, its figures are those that its command prints."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "statistics.md"


def simulate(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "coverage_simulation.py"), *options],
        capture_output=True,
        text=True,
        check=False,
    )


def figures(name: str) -> list[list[float]]:
    """Rows of one table of the page, as numbers; percentages as shares."""
    text = PAGE.read_text(encoding="utf-8")
    block = text.split(f"<!-- figures: {name} -->")[1].split(f"<!-- end: {name} -->")[0]
    rows = block.partition("---|\n")[2].split("\n")[:-1]
    return [[number(cell) for cell in row.strip("|").split("|")] for row in rows]


def number(cell: str) -> float:
    found = re.fullmatch(r"\s*([\d.,]+)(%?)\s*", cell)
    if found is None:
        return float("nan")
    return float(found[1].replace(",", "")) / (100 if found[2] else 1)


def test_examples_print_what_the_page_shows() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 5
    assert failed == 0


def test_hits_table_is_what_the_command_prints(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split("<!-- figures: hits -->")
    _, after = rest.split("<!-- end: hits -->")
    page = tmp_path / "page.md"
    page.write_text(f"{before}<!-- figures: hits -->\n<!-- end: hits -->{after}", encoding="utf-8")
    run = simulate("--only", "hits", "--write", str(page))
    assert run.returncode == 0, run.stderr
    assert page.read_text(encoding="utf-8") == text


def test_a_page_with_other_figures_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- figures: hits -->\n| 30 | 99% |\n<!-- end: hits -->\n", encoding="utf-8")
    run = simulate("--only", "hits", "--check", str(page))
    assert run.returncode == 1
    assert "other figures for: hits" in run.stderr
    page.write_text("no place", encoding="utf-8")
    run = simulate("--only", "hits", "--check", str(page))
    assert run.returncode != 0
    assert "no place for this table: <!-- figures: hits -->" in run.stderr


@pytest.mark.simulation
def test_all_tables_are_what_the_command_prints() -> None:
    run = simulate("--check", str(PAGE))
    assert run.returncode == 0, run.stderr


def test_single_scores_are_covered() -> None:
    for items, mean, worst, at_95, *_ in figures("hits"):
        if items == 30:
            assert min(worst, at_95) >= 0.93
        if items >= 100:
            assert 0.94 <= mean <= 0.96
    for items, mean, worst, *_ in figures("mrr"):
        if items == 30:
            assert worst >= 0.93
        if items >= 100:
            assert 0.94 <= mean <= 0.96
    assert len(figures("hits")) == len(figures("mrr")) == 6


def test_grouped_scores_are_covered() -> None:
    rows = figures("clusters")
    assert len(rows) == 18
    for _, groups, _, grouped, naive in rows:
        assert 0.93 <= grouped <= (0.97 if groups < 100 else 0.96)
        assert naive < 0.8


def test_rank_sets_and_claims_hold() -> None:
    for _, _, inside, *_ in figures("ranks"):
        assert inside >= 0.95
    for _, _, _, made, _ in figures("null"):
        assert made <= 0.05
    assert len(figures("ranks")) == 6
    assert len(figures("null")) == 12
