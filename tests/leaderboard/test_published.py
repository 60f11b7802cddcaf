"""The papers' figures, against the papers' text."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from leaderboard.published import PublishedTable, published
from wordsight.errors import DataError

# the paper's dash, and what it puts behind significant figures
NONE = "\N{EN DASH}"
MARKS = "\N{DAGGER}\N{ASTERISK OPERATOR}* "


def table(paper: int, number: str) -> PublishedTable:
    return next(one for one in published()[paper].tables if one.table == number)


def test_schema_and_names() -> None:
    papers = published()
    assert [paper.paper.split(":")[0] for paper in papers] == ["SAGE", "Symbal"]
    for paper in papers:
        numbers = [one.table for one in paper.tables]
        assert len(set(numbers)) == len(numbers)


def test_macro_averages_are_the_mean_of_the_subsets() -> None:
    """Printed macro averages follow from the printed subsets, up to rounding."""
    for number in ("2", "5"):
        for row in table(0, number).rows:
            values = [cell.value for cell in row.cells if cell]
            for metric in (0, 1):
                mean = sum(values[metric:6:2]) / 3
                assert values[6 + metric] == pytest.approx(mean, abs=0.1), row.label


def test_spis_deltas_are_differences() -> None:
    for row in table(0, "4").rows:
        original, _, spis, neutral, spis_delta, verb_delta = (c.value for c in row.cells if c)
        assert spis_delta == pytest.approx(original - spis, abs=0.051)
        assert verb_delta == pytest.approx(spis - neutral, abs=0.051)


def test_accuracy_at_5_is_not_below_accuracy_at_1() -> None:
    for one in published()[1].tables:
        for row in one.rows:
            first, fifth, first_with, fifth_with = (c.value for c in row.cells if c)
            assert first <= fifth
            assert first_with <= fifth_with


@pytest.mark.shared_data
def test_every_figure_of_sage_stands_in_its_row_of_the_paper(shared: Path) -> None:
    text = (shared / "seeds" / "sage.txt").read_text(encoding="utf-8")
    lines = [re.sub(r"\s*\$\\pm\$\s*", " ± ", line).split("\t") for line in text.split("\n")]
    rows = [[cell.strip().rstrip("%") for cell in line] for line in lines if len(line) > 2]
    for one in published()[0].tables:
        for row in one.rows:
            figures = [
                NONE if cell is None else _as_printed(cell.value, cell.half_width)
                for cell in row.cells
            ]
            wanted = [f.rstrip(MARKS) for f in figures]
            found = any(
                [c.rstrip(MARKS) for c in printed[-len(wanted) :]] == wanted for printed in rows
            )
            assert found, f"table {one.table}, {row.label}: {figures}"


def _as_printed(value: float, half_width: float | None) -> str:
    # Table 8 prints two decimals, all others one
    text = f"{value:.1f}" if round(value, 1) == value else f"{value:.2f}"
    return text if half_width is None else f"{text} ± {half_width:.1f}"


@pytest.mark.shared_data
def test_every_figure_of_symbal_stands_in_its_row_of_the_paper(shared: Path) -> None:
    text = (shared / "seeds" / "symbal.txt").read_text(encoding="utf-8")
    squeezed = re.sub(r"\s+", "", text)
    for one in published()[1].tables:
        for row in one.rows:
            figures = "".join(f"{cell.value:.1f}" for cell in row.cells if cell)
            label = re.sub(r"[,\s]", "", row.label)
            assert f"{label}{figures}" in squeezed, f"table {one.table}, {row.label}"


def test_broken_file_is_named(tmp_path: Path) -> None:
    row = {"label": "a", "cells": [{"value": 1.0}]}
    one = {"table": "1", "title": "t", "track": "sage", "columns": ["x", "y"], "rows": [row]}
    paper = {"paper": "p", "authors": "a", "unit": "percent", "tables": [one]}
    (tmp_path / "bad.json").write_text(json.dumps(paper))
    with pytest.raises(DataError, match=r"bad\.json: tables\.0: .*row 'a' has 1 cells"):
        published(tmp_path)
