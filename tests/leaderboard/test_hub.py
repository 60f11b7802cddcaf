"""A board on the Hub, against a server on loopback that the real client talks to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from leaderboard.hub_store import take_in
from leaderboard.runs import read_runs
from leaderboard.space import write_space
from leaderboard.submit import submit
from tests.leaderboard.bench import BOARD, Bench
from tests.leaderboard.service import TOKEN, free_port, start
from tests.wordsight import hub_server
from wordsight.errors import DataError, WordsightError

REPO = "lab/board"


class PullRequests(hub_server.Handler):
    """Commits asked for as pull requests go to a branch of their own."""

    def commit(self, body: bytes, repo: str, rev: str) -> None:
        if "create_pr" not in parse_qs(urlsplit(self.path).query):
            super().commit(body, repo, rev)
            return
        repository = self.state.repositories[repo]
        repository.branches["refs/pr/1"] = repository.branches[rev]
        url = f"http://{self.headers['Host']}/datasets/{repo}/discussions/1"
        self._json = _with_pull_request(self._json, url)  # type: ignore[method-assign]
        super().commit(body, repo, "refs/pr/1")


def _with_pull_request(answer: Any, url: str) -> Any:
    return lambda payload, status=200: answer({**payload, "pullRequestUrl": url}, status)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SimpleNamespace]:
    monkeypatch.setattr(hub_server, "Handler", PullRequests)
    server, state, address = hub_server.start()
    repository = hub_server.Repository()
    repository.commit("main", {"README.md": b"# board\n"})
    state.repositories[REPO] = repository
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("HF_", "WORDSIGHT_"))},
        "HF_ENDPOINT": address,
        "HF_HOME": str(tmp_path / "hf"),
        "HF_TOKEN": "hf_local",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    yield SimpleNamespace(repository=repository, environment=environment)
    server.shutdown()


def tree(hub: SimpleNamespace, branch: str) -> dict[str, bytes]:
    found: dict[str, bytes] = hub.repository.commits[hub.repository.branches[branch]]
    return found


def test_submission_opens_a_pull_request_that_can_be_taken_in(
    hub: SimpleNamespace, bench: Bench
) -> None:
    run = bench.run("a")
    script = (
        "import sys; from leaderboard.cli import submit_command as c; import typer; typer.run(c)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(run), "--to", f"hf://datasets/{REPO}"],
        env=hub.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "pull request opened" in done.stdout
    main, asked = (
        hub.repository.commits[hub.repository.branches[b]] for b in ("main", "refs/pr/1")
    )
    (path,) = set(asked) - set(main)
    assert path.startswith("incoming/")
    incoming = bench.root / "incoming"
    incoming.mkdir()
    (incoming / Path(path).name).write_bytes(asked[path])
    (incoming / "broken.jsonl").write_text("{}\n")
    receipts, (reason,) = take_in(bench.store, incoming)
    assert [receipt.label for receipt in receipts] == ["org/a"]
    assert reason.startswith("broken.jsonl: line 1")
    with pytest.raises(DataError, match="no packed submissions"):
        take_in(bench.store, bench.root)


def test_space_restarts_without_loss(
    hub: SimpleNamespace, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Space fetches its board, takes a submission, is thrown away; the next one has it."""
    board = json.loads(json.dumps(BOARD))
    for task in board["tracks"][0]["tasks"]:
        task["dataset"] = str(bench.root / "data")
    files = {"README.md": b"", "board.json": json.dumps(board).encode(), "ledger.jsonl": b""}
    hub.repository.commit("main", files)
    for name in ("first", "second"):
        folder = tmp_path / name
        write_space(folder, title="Board", repository=REPO)
        port = free_port()
        code = (folder / "app.py").read_text().replace("serve_space()", f"serve_space(port={port})")
        (folder / "app.py").write_text(code)
        variables = {"WORDSIGHT_BOARD_REPO": REPO, "WORDSIGHT_BOARD_TOKENS": TOKEN}
        process = start(
            folder, port, command=["app.py"], environment={**hub.environment, **variables}
        )
        try:
            monkeypatch.setenv("WORDSIGHT_TOKEN", TOKEN)
            submit(bench.run(name), f"http://127.0.0.1:{port}")
            found = httpx.get(f"http://127.0.0.1:{port}/api/v1/board").json()
        finally:
            process.kill()
            process.wait(20)
    models = {row["model"] for row in found["tracks"][0]["rows"]}
    assert models == {"org/first", "org/second"}
    assert (
        len(hub.repository.commits[hub.repository.branches["main"]]["ledger.jsonl"].splitlines())
        == 2
    )


def test_space_folder(tmp_path: Path) -> None:
    paths = write_space(tmp_path, title='A "board"', repository="org/board")
    assert {path.name for path in paths} == {"app.py", "README.md", "requirements.txt"}
    card = (tmp_path / "README.md").read_text()
    assert 'title: "A board"' in card
    assert "@" not in card
    with pytest.raises(WordsightError, match="ORG/NAME"):
        write_space(tmp_path, title="x", repository="board")


def test_packing_for_the_hub_is_the_packed_file(bench: Bench, tmp_path: Path) -> None:
    run = bench.run("a")
    (submission,) = read_runs(run)
    submit(run, str(tmp_path / "a.jsonl"))
    (receipt,) = submit(tmp_path / "a.jsonl", str(bench.board), source="packed")
    assert receipt.submission == submission.id
