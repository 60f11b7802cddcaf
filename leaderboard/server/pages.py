"""HTML pages of the running service: the same templates as the static export."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from fastapi.responses import HTMLResponse, Response

from leaderboard.answers import item_answers, right_counts
from leaderboard.server.service import Service
from leaderboard.site.export import style
from leaderboard.site.links import ServerLinks
from leaderboard.site.render import item_page, render, task_page


def router(service: Service) -> APIRouter:
    """Routes of the plain pages."""
    pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
    links = ServerLinks()

    @pages.get("/style.css")
    def style_sheet() -> Response:
        return Response(style(), media_type="text/css")

    @pages.get("/table")
    def table() -> str:
        return render("index.html", service.board(), links)

    @pages.get("/about")
    def about() -> str:
        return render("about.html", service.board(), links)

    @pages.get("/tasks/{task}")
    def task_items(task: str) -> str:
        track, info = service.find_task(task)
        right, entries = right_counts(service.store, track, task)
        return task_page(service.board(), links, info, service.gold(task), right, entries)

    @pages.get("/tasks/{task}/{item}")
    def item(task: str, item: str) -> str:
        track, info = service.find_task(task)
        gold = service.gold(task)
        if item not in gold.row:
            raise HTTPException(404, f"no item {item[:40]!r}")
        answers = item_answers(service.store, track, task, item)
        return item_page(service.board(), links, info, gold, item, answers)

    return pages
