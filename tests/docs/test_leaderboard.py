"""docs/leaderboard.md: its commands run, its example of a board is one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leaderboard.lines import read_submission
from leaderboard.store import open_store
from tests.docs.follow import Scene, follow
from tests.docs.pages import blocks, read_page
from tests.leaderboard.service import TOKEN, free_port, start
from tests.leaderboard.test_hub import PullRequests
from tests.wordsight import hub_server

PAGE = "docs/leaderboard.md"
TAKE = "leaderboard take"


@pytest.fixture
def board_address(tmp_path: Path) -> Iterator[str]:
    """An empty board that takes submissions."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    task = {"name": "sage_demo", "label": "Demo", "dataset": "demo", "config": "demo"}
    track = {"name": "demo", "label": "Demo", "tasks": [task]}
    text = json.dumps({"title": "Elsewhere", "tracks": [track]})
    (folder / "board.json").write_text(text, encoding="utf-8")
    port = free_port()
    process = start(folder, port)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(timeout=60)


@pytest.fixture
def hub_address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A Hub with the empty dataset repository ``my-lab/board``."""
    monkeypatch.setattr(hub_server, "Handler", PullRequests)
    server, state, address = hub_server.start()
    state.repositories["my-lab/board"] = hub_server.Repository()
    state.repositories["my-lab/board"].commit("main", {"README.md": b"# board\n"})
    yield address
    server.shutdown()


def merge_pull_requests(folder: Path) -> None:
    """What a clone of the board's repository holds after a merge."""
    (folder / "incoming").mkdir()
    shutil.copy(folder / "run.jsonl", folder / "incoming")


def look_up_submission(folder: Path) -> dict[str, str]:
    """The id and the hash that ``submit`` printed."""
    lines = (folder / "board" / "ledger.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    return {"SUBMISSION": first["submission"], "HASH": first["hash"]}


def send_for_approval(folder: Path) -> dict[str, str]:
    """A submission that waits, as a board served with --approve takes it; and its id."""
    store = open_store(folder / "board")
    packed = read_submission((folder / "run.jsonl").read_bytes())
    header = packed.header.model_copy(update={"model": "another/model"})
    receipt = store.add(replace(packed, header=header), partial=True, pending=True)
    return {"SUBMISSION approved": f"{receipt.submission} approved"}


@pytest.mark.slow
def test_commands_run(tmp_path: Path, board_address: str, hub_address: str) -> None:
    environment = hub_server.settings(hub_address, tmp_path) | {"WORDSIGHT_TOKEN": TOKEN}
    stand_ins = {
        "https://board.example": board_address,
        "--tasks": "--limit 12 --tasks",
        **{f"wordsight {part} ": f"wordsight {part} --partial " for part in ("submit", TAKE)},
    }
    before = {
        f"wordsight {TAKE}": merge_pull_requests,
        "wordsight leaderboard pending": send_for_approval,
        "wordsight leaderboard decide": look_up_submission,
        "wordsight ledger verify": look_up_submission,
    }
    follow(PAGE, tmp_path, Scene(stand_ins, environment, before))


def test_board_of_your_own(tmp_path: Path) -> None:
    """The page's board.json, over a dataset that lies where it says."""
    from sage_tasks.sources import dataset_root

    (example,) = [block.text for block in blocks(read_page(PAGE)) if block.language == "json"]
    demo = dataset_root("demo")
    shutil.copytree(demo / "demo", tmp_path / "data" / "ours")
    (tmp_path / "data" / "images").symlink_to(demo / "images")
    shutil.copy(demo / "images.jsonl", tmp_path / "data")
    (tmp_path / "board").mkdir()
    (tmp_path / "board" / "board.json").write_text(example, encoding="utf-8")
    store = open_store(tmp_path / "board")
    assert store.catalog.title == "Our board"
    assert len(store.gold("ours")) == 192
