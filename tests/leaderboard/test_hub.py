"""A board on the Hub, against a server on loopback that the real client talks to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from leaderboard.hub_store import take_in
from leaderboard.runs import read_runs
from leaderboard.space import write_space
from leaderboard.store import Store, create_store
from leaderboard.submit import submit
from tests.leaderboard.bench import BOARD, Bench
from tests.leaderboard.service import TOKEN, free_port, start
from tests.wordsight import hub_server
from wordsight.errors import DataError, WordsightError

REPO = "lab/board"


class PullRequests(hub_server.Handler):
    """Commits asked for as pull requests go to a branch of their own.

    A commit made from another state than the newest is refused (412), as the Hub does it.
    """

    lags = 0  # once there are submissions, so many questions for the head get the one before it
    refused = 0
    titles: ClassVar[list[str]] = []

    def info(self, body: bytes, repo: str, rev: str = "main") -> None:
        repository = self.state.repositories[repo]
        newest = repository.commits[repository.branches["main"]]
        if not type(self).lags or not newest.get("ledger.jsonl"):
            super().info(body, repo, rev)
            return
        type(self).lags -= 1
        super().info(body, repo, list(repository.commits)[-2])

    def commit(self, body: bytes, repo: str, rev: str) -> None:
        header = json.loads(body.splitlines()[0])["value"]
        type(self).titles.append(header["summary"])
        parent = header.get("parentCommit")
        if parent and parent != self.state.repositories[repo].branches[rev]:
            type(self).refused += 1
            self._json({"error": "A commit has happened since. Please refresh and try again."}, 412)
            return
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
    handler = type("Handler", (PullRequests,), {"titles": []})
    monkeypatch.setattr(hub_server, "Handler", handler)
    server, state, address = hub_server.start()
    repository = hub_server.Repository()
    repository.commit("main", {"README.md": b"# board\n"})
    state.repositories[REPO] = repository
    environment = hub_server.environment(address, tmp_path)
    # the class that answers, with its counts, is made by the server
    answering = server.RequestHandlerClass
    yield SimpleNamespace(repository=repository, environment=environment, handler=answering)
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
        [sys.executable, "-c", script, str(run), "--to", f"hf://datasets/{REPO}", "--replace"],
        env=hub.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "pull request opened" in done.stdout
    assert hub.handler.titles == ["Submission: org/a --replace"]
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


def with_board(hub: SimpleNamespace, bench: Bench) -> None:
    """Put an empty board over the tiny dataset into the repository."""
    board = json.loads(json.dumps(BOARD))
    for task in board["tracks"][0]["tasks"]:
        task["dataset"] = str(bench.root / "data")
    files = {"README.md": b"", "board.json": json.dumps(board).encode(), "ledger.jsonl": b""}
    hub.repository.commit("main", files)


@contextmanager
def space(hub: SimpleNamespace, folder: Path) -> Iterator[str]:
    """A Space, started from its folder; yields its address."""
    write_space(folder, title="Board", repository=REPO)
    port = free_port()
    code = (folder / "app.py").read_text().replace("serve_space()", f"serve_space(port={port})")
    (folder / "app.py").write_text(code)
    told = {"WORDSIGHT_BOARD_REPO": REPO, "WORDSIGHT_BOARD_TOKENS": TOKEN}
    process = start(folder, port, command=["app.py"], environment={**hub.environment, **told})
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(20)


def board_on_hub(hub: SimpleNamespace, folder: Path) -> Store:
    """What the repository's newest state holds, as a store."""
    for path, content in tree(hub, "main").items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return create_store(folder)


TWO_SERVERS = """
import json, sys
from pathlib import Path
from leaderboard.hub_store import Mirror
from leaderboard.runs import read_runs
first, second = (Mirror(sys.argv[1], Path(folder)) for folder in sys.argv[2:4])
stores = [mirror.pull() for mirror in (first, second)]
told = []
for mirror, store, run in zip((first, second, first), [*stores, stores[0]], sys.argv[4:]):
    (submission,) = read_runs(Path(run))
    told += mirror.push(store, [store.add(submission)])
print(json.dumps([receipt.model_dump() for receipt in told]))
print(json.dumps([[event.hash for event in store.verify()] for store in stores]))
"""


@pytest.mark.parametrize("lags", [0, 2])
def test_a_server_that_comes_second_goes_behind(
    hub: SimpleNamespace, bench: Bench, tmp_path: Path, lags: int
) -> None:
    """Two servers from one state; a head that is shown late makes commits that are refused."""
    with_board(hub, bench)
    hub.handler.lags = lags
    args = "pretrained=org/same"
    runs = [str(bench.run(f"r{i}", seed=i, model_args=args)) for i in range(3)]
    folders = [str(tmp_path / name) for name in ("first", "second")]
    done = subprocess.run(
        [sys.executable, "-c", TWO_SERVERS, REPO, *folders, *runs],
        env=hub.environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told, chains = map(json.loads, done.stdout.splitlines())
    store = board_on_hub(hub, tmp_path / "hub")
    events = store.verify()
    assert [event.number for event in events] == [1, 2, 3]
    assert [event.submission for event in events] == [one["submission"] for one in told]
    assert [(one["number"], one["attempts"]) for one in told] == [(1, 1), (2, 2), (3, 3)]
    assert [one["head"] for one in told] == [event.hash for event in events]
    assert hub.handler.refused == lags
    # the server that spoke last knows all three, the other what was there when it spoke
    assert chains == [[event.hash for event in events], [event.hash for event in events[:2]]]


@pytest.mark.slow
def test_two_spaces_at_once_lose_nothing(
    hub: SimpleNamespace, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_board(hub, bench)
    monkeypatch.setenv("WORDSIGHT_TOKEN", TOKEN)
    with space(hub, tmp_path / "a") as one, space(hub, tmp_path / "b") as other:
        runs = [bench.run(f"m{i}", seed=i, tasks=("tiny",)) for i in range(8)]
        with ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(submit, run, (one, other)[i % 2]) for i, run in enumerate(runs)]
            receipts = [answer.result()[0] for answer in answers]
    store = board_on_hub(hub, tmp_path / "hub")
    assert sorted(event.number for event in store.verify()) == list(range(1, 9))
    assert {s.id for s in store.submissions()} == {receipt.submission for receipt in receipts}
    lines = {event.submission: event.number for event in store.verify()}
    assert {receipt.submission: receipt.number for receipt in receipts} == lines
    assert {receipt.head for receipt in receipts} <= {event.hash for event in store.verify()}


def test_space_restarts_without_loss(
    hub: SimpleNamespace, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Space fetches its board, takes a submission, is thrown away; the next one has it."""
    with_board(hub, bench)
    monkeypatch.setenv("WORDSIGHT_TOKEN", TOKEN)
    for name in ("first", "second"):
        with space(hub, tmp_path / name) as address:
            submit(bench.run(name), address)
            found = httpx.get(f"{address}/api/v1/board", timeout=60).json()
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
