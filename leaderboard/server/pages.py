"""HTML pages of the running service: the same templates as the static export."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from fastapi.responses import HTMLResponse, Response

from leaderboard.answers import item_answers, right_counts
from leaderboard.entries import current_entries, find_entry
from leaderboard.server.service import Service
from leaderboard.site.compare import compare_page
from leaderboard.site.export import style
from leaderboard.site.links import ServerLinks
from leaderboard.site.render import (
    index_page,
    item_page,
    parts_page,
    published_page,
    render,
    task_page,
)


def router(service: Service) -> APIRouter:
    """Routes of the plain pages."""
    pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
    links = ServerLinks()

    @pages.get("/style.css")
    def style_sheet() -> Response:
        return Response(style(), media_type="text/css")

    @pages.get("/table")
    def table() -> str:
        return index_page(service.board(), links)

    @pages.get("/published")
    def published() -> str:
        return published_page(service.board(), links)

    @pages.get("/about")
    def about() -> str:
        return render("about.html", service.board(), links)

    @pages.get("/signs")
    def signs() -> str:
        return render("signs.html", service.board(), links, found=service.signs())

    @pages.get("/submit")
    def submit() -> str:
        open_to_tokens = bool(service.settings.tokens)
        return render("submit.html", service.board(), links, open=open_to_tokens)

    @pages.get("/compare")
    def compare(task: str = "", a: str = "", b: str = "") -> str:
        board = service.board()
        names = [info.name for track in board.tracks for info in track.tasks]
        if not names:
            raise HTTPException(404, "nothing was submitted yet")
        track, info = service.find_task(task or names[0])
        entries = current_entries(service.store)
        chosen = [find_entry(entries, name) if name else None for name in (a, b)]
        absent = [one.label for one in chosen if one and info.name not in one.by_task]
        first, second = (one.id if one else "" for one in chosen)
        return compare_page(
            service.store,
            board,
            links,
            track,
            info.name,
            pair=(first, second),
            note=f"{' and '.join(absent)}: no answers to this task." if absent else "",
        )

    @pages.get("/tasks/{task}")
    def task_items(task: str) -> str:
        track, info = service.find_task(task)
        right, entries = right_counts(service.store, track, task)
        return task_page(service.board(), links, info, service.gold(task), right, entries)

    @pages.get("/parts/{task}")
    def parts(task: str) -> str:
        track, info = service.find_task(task)
        if not service.gold(task).strata:
            raise HTTPException(404, f"task {task[:64]!r} has no parts")
        return parts_page(service.board(), links, track, info)

    @pages.get("/tasks/{task}/{item}")
    def item(task: str, item: str) -> str:
        track, info = service.find_task(task)
        gold = service.gold(task)
        if item not in gold.row:
            raise HTTPException(404, f"no item {item[:40]!r}")
        answers = item_answers(service.store, track, task, item)
        return item_page(service.board(), links, info, gold, item, answers)

    return pages
