"""Folders that a command fills: never mixed, never half."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaderboard.own_folder import own_folder
from leaderboard.site.export import export_site
from leaderboard.space import write_space
from leaderboard.submit import submit
from tests.leaderboard.bench import Bench
from wordsight.errors import DataError, WordsightError


def write(out: Path, *names: str) -> None:
    with own_folder(out) as folder:
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(name)


def listed(out: Path) -> list[str]:
    return sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file())


def test_what_was_written_before_is_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, "a.html", "deep/er/b.html", "c.html")
    (out / ".git").mkdir()
    (out / ".git" / "config").write_text("theirs")
    write(out, "a.html", "d.html")
    assert listed(out) == [".git/config", ".wordsight-files", "a.html", "d.html"]
    assert not (out / "deep").exists()


def test_what_others_put_there_stops_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, "a.html")
    (out / "notes.txt").write_text("theirs")
    with pytest.raises(DataError, match=r"holds other files \(notes\.txt\)"):
        write(out, "b.html")
    assert listed(out) == [".wordsight-files", "a.html", "notes.txt"]
    (tmp_path / "file").write_text("theirs")
    with pytest.raises(DataError, match="is a file"):
        write(tmp_path / "file", "a.html")


def test_a_block_that_fails_changes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, "a.html")
    with pytest.raises(ValueError, match="null"):
        write(out, "b.html", "not a name\0")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert listed(out) == [".wordsight-files", "a.html"]


def test_export_goes_into_a_folder_of_its_own(bench: Bench) -> None:
    submit(bench.run("a"), str(bench.board))
    out = bench.root / "site"
    first = export_site(bench.store, out)
    pages = listed(out)
    (out / "tasks" / "tiny" / "gone.html").write_text("of an item that is no longer there")
    with pytest.raises(DataError, match=r"other files \(tasks/tiny/gone\.html\)"):
        export_site(bench.store, out)
    (out / "tasks" / "tiny" / "gone.html").unlink()
    assert export_site(bench.store, out) == first
    assert listed(out) == pages
    with pytest.raises(DataError, match="holds other files"):
        export_site(bench.store, bench.board)


def test_space_does_not_replace_another_card(tmp_path: Path) -> None:
    write_space(tmp_path, title="Board", repository="org/board")
    write_space(tmp_path, title="Board", repository="org/board")
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(WordsightError, match=r"README\.md: is there already and differs"):
        write_space(tmp_path, title="Board", repository="org/board")
    assert (tmp_path / "README.md").read_text() == "mine"
