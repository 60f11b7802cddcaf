"""What the REST API, version 1, tells."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.routing import BaseRoute

from leaderboard import ledger
from leaderboard.answers import item_answers
from leaderboard.comparison import Duel, badge_svg, duel
from leaderboard.examine import Signs
from leaderboard.ledger import Event
from leaderboard.published import Paper, published
from leaderboard.records import Board, Row, TaskInfo
from leaderboard.server.service import Service
from leaderboard.site.export import suffix
from wordsight import __version__

_MEDIA = {".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}

Offset = Annotated[int, Query(ge=0, le=10_000_000, description="Records to leave out first.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="Most records to return.")]


class Page(BaseModel):
    """A part of a list, and how long the whole is."""

    total: int
    offset: int


class RowPage(Page):
    rows: list[Row]


class ItemSummary(BaseModel):
    """An item without its pictures."""

    item: str
    term: str
    context: str


class ItemPage(Page):
    items: list[ItemSummary]


class ItemDetail(ItemSummary):
    """An item with its gold and every entry's answer.

    gold : for a ranking the candidates (content ids), their kinds and the gold's place, from 0; for
    a setting t, v, strength, feature size and kinds. answers : entry, label, and the fields of the
    kind's score.
    """

    kind: str
    gold: dict[str, Any]
    answers: list[dict[str, Any]]


class RouteInfo(BaseModel):
    """A route and what it answers."""

    method: str
    path: str
    text: str


class Routes(BaseModel):
    """What this API offers.

    version : of the API; a change that breaks readers gets another path. wordsight : of the
    program. commit : last ledger hash, from which every number follows. schema_path : where the
    OpenAPI description lies.
    """

    version: str
    wordsight: str
    commit: str
    schema_path: str
    routes: list[RouteInfo]


class EventPage(Page):
    events: list[Event]


def router(service: Service, more: Sequence[BaseRoute] = ()) -> APIRouter:
    """The routes below /api/v1 that read; ``more`` are listed with them."""
    api = APIRouter(prefix="/api/v1")

    @api.get("")
    def routes() -> Routes:
        """The routes of this API and the versions that answer."""
        return Routes(
            version="1",
            wordsight=__version__,
            commit=service.board().commit,
            schema_path="/openapi.json",
            routes=[
                RouteInfo(method=method, path=route.path, text=(route.description or "").strip())
                for route in (*api.routes, *more)
                if isinstance(route, APIRoute)
                for method in sorted(route.methods or ())
            ],
        )

    @api.get("/board")
    def board(request: Request, response: Response) -> Board:
        """Every table with all its numbers."""
        found = service.board()
        _tag(request, response, found.commit)
        return found

    @api.get("/tracks/{track}/rows")
    def rows(
        track: str, request: Request, response: Response, offset: Offset = 0, limit: Limit = 100
    ) -> RowPage:
        """Rows of one table, best first."""
        found = service.board()
        _tag(request, response, f"{found.commit} {track} {offset} {limit}")
        for one in found.tracks:
            if one.name == track:
                part = one.rows[offset : offset + limit]
                return RowPage(total=len(one.rows), offset=offset, rows=part)
        raise HTTPException(404, f"no track {track[:64]!r} with entries")

    @api.get("/tasks")
    def tasks() -> list[TaskInfo]:
        """Tasks that have entries."""
        return [info for track in service.board().tracks for info in track.tasks]

    @api.get("/tasks/{task}/items")
    def items(task: str, offset: Offset = 0, limit: Limit = 100) -> ItemPage:
        """Items of one task, in dataset order."""
        gold = service.gold(task)
        part = [
            ItemSummary(item=one.id, term=one.term, context=one.context)
            for one in gold.summaries[offset : offset + limit]
        ]
        return ItemPage(total=len(gold), offset=offset, items=part)

    @api.get("/tasks/{task}/items/{item}")
    def item_detail(task: str, item: str) -> ItemDetail:
        """One item with every entry's answer."""
        track, _ = service.find_task(task)
        gold = service.gold(task)
        if item not in gold.row:
            raise HTTPException(404, f"task {task[:64]!r} has no item {item[:40]!r}")
        one = gold.summaries[gold.row[item]]
        return ItemDetail(
            item=item,
            term=one.term,
            context=one.context,
            kind=gold.kind.name,
            gold=dict(gold.facts(item)),
            answers=[
                {"entry": found.entry, "label": found.label, **gold.kind.fields(found.score)}
                for found in item_answers(service.store, track, task, item)
            ],
        )

    @api.get("/tasks/{task}/pictures/{picture}", response_class=Response)
    def picture(task: str, picture: str) -> Response:
        """A picture's bytes, by content id."""
        gold = service.gold(task)
        if picture not in gold.pictures:
            raise HTTPException(404, f"task {task[:64]!r} has no picture {picture[:64]!r}")
        content = gold.picture_bytes(picture)
        media = _MEDIA.get(suffix(content), "application/octet-stream")
        # named by content: it can never change
        cache = {"cache-control": "public, max-age=31536000, immutable"}
        return Response(content, media_type=media, headers=cache)

    @api.get("/signs")
    def signs() -> list[Signs]:
        """What stands out in the entries' answers; shown, not judged."""
        return service.signs()

    @api.get("/published")
    def printed() -> list[Paper]:
        """Figures that papers print; part of no ranking and no test."""
        return list(published())

    @api.get("/compare")
    def compare(task: str, a: str, b: str) -> Duel:
        """Is entry a better than entry b on a task? With difference, interval, p and power."""
        return duel(service.store, task, a, b)

    @api.get("/verdict.svg", response_class=Response)
    def verdict(task: str, a: str, b: str) -> Response:
        """The same answer as a badge."""
        return Response(badge_svg(duel(service.store, task, a, b)), media_type="image/svg+xml")

    @api.get("/ledger")
    def events(offset: Offset = 0, limit: Limit = 1000) -> EventPage:
        """The ledger's lines, oldest first, as they are hashed."""
        found = ledger.read_ledger(service.store.ledger_path)
        part = found[offset : offset + limit]
        return EventPage(total=len(found), offset=offset, events=part)

    return api


def _tag(request: Request, response: Response, key: str) -> None:
    """Set the ETag; end with 304 where the client has this state already."""
    tag = f'"{hashlib.sha256(key.encode()).hexdigest()[:24]}"'
    if tag in request.headers.get("if-none-match", ""):
        raise HTTPException(304, headers={"etag": tag})
    response.headers["etag"] = tag
    response.headers["cache-control"] = "no-cache"
