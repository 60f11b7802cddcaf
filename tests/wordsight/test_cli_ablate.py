"""``wordsight ablate``: both methods by name, GAR without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from wordsight.cli import app


def test_help_names_both_methods() -> None:
    for words in (["ablate", "--help"], ["ablate"]):
        printed = CliRunner().invoke(app, words).output
        assert "gar" in printed
        assert "symbal" in printed


@pytest.mark.parametrize("name", [[], ["gar"]])
def test_gar_runs_with_and_without_its_name(name: list[str], tmp_path: Path) -> None:
    asked = ["ablate", *name, "--tasks", "sage_demo", "--output_path", str(tmp_path / "none")]
    assert "no finished run" in str(CliRunner().invoke(app, asked).exception)


def test_symbal_runs_by_its_name(tmp_path: Path) -> None:
    asked = ["ablate", "symbal", "--benchmark", str(tmp_path)]
    assert "no SymbalBench domain" in str(CliRunner().invoke(app, asked).exception)


def test_another_name_is_refused() -> None:
    result = CliRunner().invoke(app, ["ablate", "symball"])
    assert result.exit_code == 2
    assert "symball" in result.output
