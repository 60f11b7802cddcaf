"""What the REST API, version 1, tells."""

from __future__ import annotations

import hashlib
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request, Response
from pydantic import BaseModel

from leaderboard import ledger
from leaderboard.answers import item_answers
from leaderboard.comparison import Duel, badge_svg, duel
from leaderboard.examine import Signs
from leaderboard.ledger import Event
from leaderboard.published import Paper, published
from leaderboard.records import Board, Row, TaskInfo
from leaderboard.server.service import Service
from leaderboard.site.export import suffix

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


class Choice(BaseModel):
    """One entry's answer to one item; places count from 0."""

    entry: str
    label: str
    status: str
    choice: int | None
    hits1: float
    mrr: float
    scores: list[float] | None


class ItemDetail(ItemSummary):
    """An item with its pictures, its gold and every entry's answer."""

    candidates: list[str]
    kinds: list[str]
    gold: int
    answers: list[Choice]


class EventPage(Page):
    events: list[Event]


def router(service: Service) -> APIRouter:
    """The routes below /api/v1 that read."""
    api = APIRouter(prefix="/api/v1")

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
            ItemSummary(item=q.id, term=q.term, context=q.context)
            for q in gold.queries[offset : offset + limit]
        ]
        return ItemPage(total=len(gold.queries), offset=offset, items=part)

    @api.get("/tasks/{task}/items/{item}")
    def item_detail(task: str, item: str) -> ItemDetail:
        """One item with every entry's answer."""
        track, _ = service.find_task(task)
        gold = service.gold(task)
        if item not in gold.row:
            raise HTTPException(404, f"task {task[:64]!r} has no item {item[:40]!r}")
        query = gold.query(item)
        answers = [
            Choice(
                entry=one.entry,
                label=one.label,
                status=one.score.status,
                choice=one.score.choice,
                hits1=one.score.hits1,
                mrr=one.score.mrr,
                scores=None if one.score.scores is None else list(one.score.scores),
            )
            for one in item_answers(service.store, track, task, item)
        ]
        return ItemDetail(
            item=item,
            term=query.term,
            context=query.context,
            candidates=list(query.candidates),
            kinds=list(query.kinds),
            gold=query.gold,
            answers=answers,
        )

    @api.get("/tasks/{task}/pictures/{picture}", response_class=Response)
    def picture(task: str, picture: str) -> Response:
        """A picture's bytes, by content id."""
        gold = service.gold(task)
        if picture not in gold.package.images:
            raise HTTPException(404, f"task {task[:64]!r} has no picture {picture[:64]!r}")
        content = gold.package.picture_bytes(picture)
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
