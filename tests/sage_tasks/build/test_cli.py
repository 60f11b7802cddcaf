"""The commands as they are typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sage_tasks.build.cli import app
from sage_tasks.package import open_package
from wordsight.errors import DataError

run = CliRunner()


def test_importing_the_commands_is_cheap() -> None:
    program = (
        "import sys; import sage_tasks.build.cli, sage_tasks.hub_cli\n"
        "heavy = {'pyarrow', 'datasets', 'numpy', 'PIL', 'pydantic', 'huggingface_hub', 'yaml'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_vwsd_dry_run_prints_one_json_object(vwsd_source: Path) -> None:
    result = run.invoke(app, ["vwsd", "--dry-run", "--source", str(vwsd_source), "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["dry_run"] is True
    assert report["configs"]["vwsd"]["trial"]["items"] == 3


def test_spis_from_options_to_folder(verse_options: dict[str, Any], tmp_path: Path) -> None:
    arguments = ["spis", "--annotations", str(verse_options["annotations"])]
    for path in verse_options["captions"]:
        arguments += ["--captions", str(path)]
    arguments += ["--coco-images", str(verse_options["coco_images"])]
    arguments += ["--neutral-verb", "act", "--out", str(tmp_path / "out")]
    result = run.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "| verse_neutral | test |" in result.stdout
    query = open_package(tmp_path / "out", "verse_neutral").queries[0]
    assert query.term == "act"
    assert query.context == "A person acting it."


def test_wikidiverse_from_options_to_folder(
    wikidiverse_source: dict[str, Path], tmp_path: Path
) -> None:
    arguments = ["wikidiverse", "--source", str(wikidiverse_source["source"])]
    arguments += ["--images", str(wikidiverse_source["images"]), "--out", str(tmp_path / "out")]
    result = run.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert len(open_package(tmp_path / "out", "wikidiverse", "validation").queries) == 12


@pytest.mark.parametrize(
    "arguments",
    [
        ["verse", "--annotations", "x.csv", "--out", "out"],
        ["wikidiverse", "--source", ".", "--out", "out"],
        ["vwsd", "--source", ".", "--language", "de"],
    ],
)
def test_missing_options_are_usage_errors(arguments: list[str]) -> None:
    assert run.invoke(app, arguments).exit_code == 2


def test_a_wrong_folder_is_an_error_with_its_name(tmp_path: Path) -> None:
    result = run.invoke(app, ["vwsd", "--dry-run", "--source", str(tmp_path)])
    assert isinstance(result.exception, DataError)
    assert "en.test.data.v1.1.txt" in str(result.exception)
