"""The whole board as a folder of files: opens from disk and from any static host."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from leaderboard.answers import all_answers, right_counts
from leaderboard.board import build_board
from leaderboard.examine import examine
from leaderboard.gold import Gold
from leaderboard.own_folder import own_folder
from leaderboard.site.compare import compare_page
from leaderboard.site.links import StaticLinks
from leaderboard.site.render import (
    index_page,
    item_page,
    parts_page,
    published_page,
    render,
    task_page,
)
from leaderboard.store import Store

# by the bytes, since a picture's name is the source's word
_SUFFIXES = (
    (b"\x89PNG", ".png"),
    (b"\xff\xd8", ".jpg"),
    (b"GIF8", ".gif"),
)


def export_site(store: Store, out: Path, *, base: str = "") -> Path:
    """Write the board, its items and their pictures under ``out``; returns the page to open.

    Raises DataError when ``out`` holds anything but an earlier export, or a picture cannot be read.
    """
    with own_folder(out) as folder:
        _write_site(store, folder, base)
    return out / "index.html"


def _write_site(store: Store, out: Path, base: str) -> None:
    board = build_board(store, base=base)
    golds = {task.name: store.gold(task.name) for track in board.tracks for task in track.tasks}
    files = _write_pictures(out / "pictures", list(golds.values()))
    top = StaticLinks(0, files)
    _write(out / "index.html", index_page(board, top))
    _write(out / "about.html", render("about.html", board, top))
    _write(out / "published.html", published_page(board, top))
    signs = examine(store, board)
    _write(out / "signs.html", render("signs.html", board, top, found=signs))
    _write(out / "style.css", style())
    _write(out / "board.json", board.model_dump_json(indent=1))
    deep = StaticLinks(2, files)
    for track in board.tracks:
        for info in track.tasks:
            gold, folder = golds[info.name], out / "tasks" / info.name
            right, entries = right_counts(store, track, info.name)
            _write(folder / "index.html", task_page(board, deep, info, gold, right, entries))
            _write(folder / "compare.html", compare_page(store, board, deep, track, info.name))
            if gold.strata:
                _write(folder / "parts.html", parts_page(board, deep, track, info))
            for item, answers in all_answers(store, track, info.name).items():
                _write(folder / f"{item}.html", item_page(board, deep, info, gold, item, answers))


def style() -> str:
    """The style sheet of all pages."""
    return resources.files("leaderboard.site").joinpath("style.css").read_text(encoding="utf-8")


def suffix(content: bytes) -> str:
    """File name suffix of a picture's bytes."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return ".webp"
    return next((end for magic, end in _SUFFIXES if content.startswith(magic)), ".img")


def _write_pictures(folder: Path, golds: list[Gold]) -> dict[str, str]:
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, str] = {}
    for gold in golds:
        for picture in gold.pictures:
            if picture not in files:
                content = gold.picture_bytes(picture)
                files[picture] = f"{picture[:20]}{suffix(content)}"
                (folder / files[picture]).write_bytes(content)
    return files


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
