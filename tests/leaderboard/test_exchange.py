"""The board's formats for others, and others' formats for the board."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from leaderboard.board import build_board
from leaderboard.exporters import WRITERS
from leaderboard.exporters.latex import escape
from leaderboard.exporters.tables import safe_cell
from leaderboard.importers import read_every_eval_ever, read_inspect
from leaderboard.submit import submit
from tests.leaderboard.bench import Bench
from wordsight.errors import DataError


@pytest.fixture
def filled(bench: Bench) -> Bench:
    for name, accuracy in (("good", 0.9), ("bad", 0.2)):
        run = bench.run(name, accuracy=accuracy, model_args=f"pretrained=org/{name},text=gloss")
        submit(run, str(bench.board))
    return bench


def write(bench: Bench, form: str, out: Path) -> list[Path]:
    return WRITERS[form](bench.store, build_board(bench.store), out)


def test_csv_and_parquet_hold_the_same_numbers(filled: Bench, tmp_path: Path) -> None:
    (first,) = write(filled, "csv", tmp_path / "board.csv")
    (second,) = write(filled, "parquet", tmp_path / "board.parquet")
    lines = list(csv.DictReader(first.read_text().splitlines()))
    rows = pq.read_table(second).to_pylist()
    assert len(lines) == len(rows) == 2 * 3
    for line, row in zip(lines, rows, strict=True):
        assert line["label"] == row["label"]
        assert float(line["hits1"]) == row["hits1"]
    (track,) = build_board(filled.store).tracks
    assert rows[0]["hits1"] == track.rows[0].cells["tiny"].scores["hits1"].value


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(1)", "\tx", "\rx"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert safe_cell(text) == f"'{text}"
    assert safe_cell("org/name") == "org/name"
    assert safe_cell(-0.5) == -0.5


def test_latex(filled: Bench, tmp_path: Path) -> None:
    (path,) = write(filled, "latex", tmp_path / "board.tex")
    text = path.read_text()
    (track,) = build_board(filled.store).tracks
    for row in track.rows:
        one = row.scores["hits1"]
        low, shown, high = (round(100 * x, 1) for x in (one.low, one.value, one.high))
        line = next(line for line in text.splitlines() if line.startswith(row.label))
        pattern = (
            r"(?:\\text\w\w\{)?([\d.]+)\}? \$(?:\\pm\$ ([\d.]+)|\^\{\+([\d.]+)\}_\{-([\d.]+)\}\$)"
        )
        value, half, above, below = re.search(pattern, line).groups()  # type: ignore[union-attr]
        assert float(value) == shown
        assert float(value) + float(above or half) == pytest.approx(high)
        assert float(value) - float(below or half) == pytest.approx(low)
        assert 0 <= low <= high <= 100
    columns = {line.count(" & ") for line in text.splitlines() if line.endswith(r"\\")}
    assert columns == {1, 2}, "the heading spans two columns, every other line has both"
    assert escape(r"a_b & 50% \x {y}") == r"a\_b \& 50\% \textbackslash{}x \{y\}"


def test_hub_needs_a_pinned_dataset(
    filled: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORDSIGHT_REVISIONS", str(tmp_path / "revisions.json"))
    with pytest.raises(DataError, match="dataset is on the Hub"):
        write(filled, "hub", tmp_path / "hub")
    dataset = filled.store.catalog.task("tiny").dataset
    pin = {dataset: {"repo": "org/tiny", "revision": "c" * 40}}
    (tmp_path / "revisions.json").write_text(json.dumps(pin))
    paths = write(filled, "hub", tmp_path / "hub")
    assert sorted(str(p.relative_to(tmp_path / "hub")) for p in paths) == [
        "org/bad/.eval_results/wordsight.yaml",
        "org/good/.eval_results/wordsight.yaml",
    ]
    entries = yaml.safe_load(paths[0].read_text())
    assert entries[0]["dataset"] == {"id": "org/tiny", "task_id": "tiny", "revision": "c" * 40}
    (track,) = build_board(filled.store).tracks
    assert entries[0]["value"] == round(100 * track.rows[0].cells["tiny"].scores["hits1"].value, 2)


def test_every_eval_ever_there_and_back(filled: Bench, tmp_path: Path) -> None:
    written = write(filled, "every_eval_ever", tmp_path)
    aggregates = [p for p in written if p.suffix == ".json"]
    assert len(aggregates) == 4
    for path in aggregates:
        assert re.fullmatch(
            r"data/tiny(_swapped)?/org/(good|bad)/[0-9a-f-]{36}\.json",
            str(path.relative_to(tmp_path)),
        )
        record = json.loads(path.read_text())
        named = tmp_path / record["detailed_evaluation_results"]["file_path"]
        digest = hashlib.sha256(named.read_bytes()).hexdigest()
        assert record["detailed_evaluation_results"]["checksum"] == digest
        back = read_every_eval_ever(path)
        (task,) = [run.name for run in back.header.tasks]
        stored = next(s for s in filled.store.submissions() if s.header.model == back.header.model)
        given = filled.store.responses(stored.id, task)
        assert {item.item: list(item.responses) for item in back.items} == given
        assert back.header.label == stored.header.label
        assert filled.store.check(back)[0].missing == ()


def test_imported_file_is_submitted_by_command(filled: Bench, tmp_path: Path) -> None:
    path = write(filled, "every_eval_ever", tmp_path)[0]
    (receipt,) = submit(path, str(filled.board), source="every_eval_ever")
    assert receipt.attempts == 2
    assert filled.store.header(receipt.submission).source == "import"


def inspect_log(bench: Bench) -> dict[str, Any]:
    samples = [
        {"id": line["wordsight"]["item"], "epoch": 1, "metadata": {"wordsight": line["wordsight"]}}
        for line in bench.lines("tiny", 0.7)
    ]
    described = {"model": "hf/org/name", "task": "tiny", "packages": {"inspect_ai": "0.3.285"}}
    return {"version": 2, "status": "success", "eval": described, "samples": samples}


def test_inspect_log(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log(bench)))
    (receipt,) = submit(path, str(bench.board), source="inspect")
    assert (receipt.label, receipt.tasks[0].items) == ("org/name", 24)


def test_inspect_log_of_another_task(bench: Bench, tmp_path: Path) -> None:
    log = inspect_log(bench)
    del log["samples"][3]["metadata"]["wordsight"]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    with pytest.raises(DataError, match=r"log\.json: sample 3: .*no record \"wordsight\""):
        read_inspect(path)


def test_files_that_are_not_what_they_should_be(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for content in (b"[]", b"{}", b"not json", b"\xff\xfe", b"[" * 100_000):
        path.write_bytes(content)
        for reader in (read_every_eval_ever, read_inspect):
            with pytest.raises(DataError, match=r"x\.json"):
                reader(path)
