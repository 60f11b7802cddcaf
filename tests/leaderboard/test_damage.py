"""A board whose files were cut, lost, overwritten, or cannot be written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leaderboard import files
from leaderboard.board import build_board
from leaderboard.cli import app, ledger_app
from leaderboard.snapshot import current_board, rebuild, snapshot_path
from leaderboard.store import Store, UnwritableError, create_store
from leaderboard.submit import submit
from tests.leaderboard.bench import Bench, make_bench
from wordsight.errors import DataError

runner = CliRunner()
NAMES = ("good", "middle", "bad")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A board with three entries, a snapshot and all scores."""
    bench = make_bench(tmp_path_factory.mktemp("whole"))
    for name, accuracy in zip(NAMES, (0.9, 0.5, 0.1), strict=True):
        submit(bench.run(name, accuracy=accuracy), str(bench.board))
    rebuild(bench.store)
    build_board(bench.store)
    return bench


@pytest.fixture
def board(whole: Bench, tmp_path: Path) -> Path:
    """A copy of it, beside the same dataset."""
    (tmp_path / "data").symlink_to(whole.root / "data")
    shutil.copytree(whole.board, tmp_path / "board")
    return tmp_path / "board"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def garbage(path: Path) -> None:
    path.write_bytes(b"not what was here")


DAMAGES = (cut, empty, garbage, Path.unlink)
COMMANDS = (
    ("rank",),
    ("rank", "--json"),
    ("compare", "org/good", "org/bad", "--task", "tiny"),
    ("verdict", "org/good", "org/bad", "--task", "tiny"),
    ("signs",),
    ("export", "SITE"),
    ("rebuild",),
    ("rebuild", "--check"),
)


def failed(board: Path, command: tuple[str, ...]) -> str:
    """What the command says; it must end by an error that a user can act on, in few lines."""
    words = [str(board.parent / "site") if word == "SITE" else word for word in command]
    result = runner.invoke(app, [*words, "--store", str(board)])
    assert result.exit_code != 0
    assert isinstance(result.exception, DataError), result.exception
    return str(result.exception)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda one: one.__name__)
def test_damaged_entry_is_named(
    board: Path, damage: Callable[[Path], None], command: tuple[str, ...]
) -> None:
    path = sorted((board / "entries").glob("*.parquet"))[1]
    damage(path)
    message = failed(board, command)
    assert str(path) in message
    assert "submit the same run" in message


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_garbage_in_the_ledger_is_named(board: Path, command: tuple[str, ...]) -> None:
    path = board / "ledger.jsonl"
    lines = path.read_bytes().split(b"\n")
    for wrong in (b"\x00\xff garbage", b"{}", b"[1]", b""):
        path.write_bytes(b"\n".join([lines[0], wrong, *lines[2:]]))
        assert "line 2: is no line of a ledger" in failed(board, command)
    path.write_bytes(b"\n".join([*lines[:2], b"garbage", b""]))
    assert "ledger.jsonl: l" in failed(board, command)


def test_the_same_run_again_mends_its_file(board: Path, whole: Bench) -> None:
    before = build_board(create_store(board))
    for path in (board / "entries").glob("*.parquet"):
        garbage(path)
    for name, accuracy in zip(NAMES, (0.9, 0.5, 0.1), strict=True):
        (receipt,) = submit(whole.run(name, accuracy=accuracy), str(board))
        assert not receipt.new
    assert len(create_store(board).verify()) == 3
    assert build_board(create_store(board)) == before


def test_damaged_entry_can_be_taken_off(board: Path) -> None:
    store = create_store(board)
    lost = store.submissions()[1]
    store.entry_files.path(lost.id).unlink()
    runner.invoke(app, ["decide", lost.id, "withdrawn", "--reason", "lost", "-s", str(board)])
    found = build_board(create_store(board))
    assert [row.model for row in found.tracks[0].rows] == ["org/good", "org/bad"]
    assert [(one.submission, one.reason) for one in found.withdrawn] == [(lost.id, "lost")]
    assert len(create_store(board).verify()) == 4


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda one: one.__name__)
def test_scores_are_made_again(board: Path, damage: Callable[[Path], None]) -> None:
    store = create_store(board)
    paths = sorted((board / "scores").rglob("*.parquet"))
    kept = [path.read_bytes() for path in paths]
    all_of_them = [stored.id for stored in store.submissions()]
    one = all_of_them[0]
    scores = store.scores(one, "tiny")
    hits1 = store.matrix("tiny", all_of_them).values["hits1"].tolist()
    uses: list[Callable[[Store], bool]] = [
        lambda store: store.matrix("tiny", all_of_them).values["hits1"].tolist() == hits1,
        lambda store: store.scores(one, "tiny") == scores,
        lambda store: store.item_scores("tiny", scores[0].item, [one])[one] == scores[0],
    ]
    for use in uses:
        for path in filter(Path.is_file, paths):  # a use makes those that it needs
            damage(path)
        assert use(create_store(board))
    for task in ("tiny", "tiny_swapped"):
        create_store(board).matrix(task, all_of_them)
    assert [path.read_bytes() for path in paths] == kept


def test_scores_of_another_number_of_items_are_made_again(board: Path) -> None:
    """A whole file, but not this task's."""
    store = create_store(board)
    before = build_board(store)
    one = before.tracks[0].rows[0].cells["tiny"].submission
    path = store.scores_path("tiny", one)
    shutil.copy(store.scores_path("tiny_swapped", one), path)
    assert build_board(create_store(board)) == before


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda one: one.__name__)
def test_snapshot_is_made_again(board: Path, damage: Callable[[Path], None]) -> None:
    path = snapshot_path(create_store(board))
    content = path.read_bytes()
    damage(path)
    assert current_board(create_store(board)).tracks
    assert path.read_bytes() == content


def unwritable(folder: Path) -> None:
    """A file in its place: no process, of whatever rights, can write below it."""
    shutil.rmtree(folder)
    folder.write_bytes(b"")


def test_unwritable_scores_go_on_and_are_told_once(
    board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = build_board(create_store(board))
    unwritable(board / "scores")
    files.say_once.cache_clear()
    store = create_store(board)
    assert build_board(store) == before
    assert build_board(store) == before
    told = capsys.readouterr().err
    assert told.count(str(board / "scores")) == 1
    assert "cannot be written" in told
    assert (board / "scores").read_bytes() == b""


def test_unwritable_snapshots_go_on_and_are_told_once(
    board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = current_board(create_store(board))
    unwritable(board / "snapshots")
    files.say_once.cache_clear()
    for _ in range(2):
        assert current_board(create_store(board)) == before
    assert capsys.readouterr().err.count("cannot be written") == 1
    assert "snapshots" in failed(board, ("rebuild",))


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_shorter_ledger_is_found_by_the_snapshot(board: Path, kept: int) -> None:
    path = board / "ledger.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]))
    result = runner.invoke(ledger_app, ["verify", "--store", str(board)])
    assert isinstance(result.exception, DataError)
    assert "snapshots" in str(result.exception)
    assert "lines were taken from it" in str(result.exception)


def test_a_shorter_ledger_is_found_by_a_kept_head(board: Path) -> None:
    path = board / "ledger.jsonl"
    head = json.loads(path.read_bytes().splitlines()[-1])["hash"]
    shutil.rmtree(board / "snapshots")
    verify = ["verify", "--store", str(board)]
    for given in (head, head[:12]):
        assert runner.invoke(ledger_app, [*verify, "--head", given]).exit_code == 0
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    result = runner.invoke(ledger_app, [*verify, "--head", head])
    assert f"no line has the hash {head}" in str(result.exception)
    wrong = runner.invoke(ledger_app, [*verify, "--head", "nothing"])
    assert "is no hash of a ledger line" in str(wrong.exception)


def test_orphans_are_listed(board: Path) -> None:
    """Without a snapshot or a head nothing is proved: a writer may have been killed."""
    shutil.rmtree(board / "snapshots")
    path = board / "ledger.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    orphan = board / "entries" / f"{json.loads(lines[-1])['submission']}.parquet"
    result = runner.invoke(ledger_app, ["verify", "--store", str(board)])
    assert result.exit_code == 0
    assert f"{orphan}: has no line in the ledger" in result.output
    assert "2 lines, every link and file fits" in result.output


def test_reason_of_a_decision_has_a_limit(board: Path) -> None:
    store = create_store(board)
    one = store.submissions()[0].id
    store.decide(one, "withdrawn", "\U0001f600" * 1000)
    with pytest.raises(DataError, match="a reason of 1001 characters"):
        store.decide(one, "withdrawn", "x" * 1001)
    with store.ledger_path.open("ab") as stream:
        stream.write(b'{"reason": "' + b"\\ud83d\\ude00" * 1000)
    store.decide(one, "withdrawn", "again")
    assert [event.kind for event in store.verify()][-2:] == ["withdrawn", "withdrawn"]


@pytest.mark.parametrize("cut_off", [1, 30])
def test_a_cut_last_line_is_told_until_the_next_writer_takes_it_away(
    board: Path, whole: Bench, cut_off: int
) -> None:
    shutil.rmtree(board / "snapshots")
    path = board / "ledger.jsonl"
    path.write_bytes(path.read_bytes()[:-cut_off])
    verify = ["verify", "--store", str(board)]
    result = runner.invoke(ledger_app, verify)
    assert result.exit_code != 0
    assert isinstance(result.exception, DataError)
    assert f"{path}: line 3: is cut" in str(result.exception)
    submit(whole.run("bad", accuracy=0.1), str(board))
    assert "3 lines, every link and file fits" in runner.invoke(ledger_app, verify).output


def test_a_board_that_cannot_be_written_says_so(board: Path, whole: Bench) -> None:
    (board / ".lock").unlink()
    (board / ".lock").mkdir()  # no process, of whatever rights, can open it as a file
    one = create_store(board).submissions()[0].id
    for act in (
        lambda: submit(whole.run("new"), str(board)),
        lambda: create_store(board).decide(one, "verified"),
    ):
        with pytest.raises(UnwritableError) as caught:
            act()
        assert str(caught.value).startswith(f"{board}: the board cannot be written (")
        assert "Make the folder writable" in str(caught.value)
    assert len(create_store(board).submissions()) == 3
