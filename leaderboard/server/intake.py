"""What the REST API, version 1, takes in."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from fastapi import APIRouter, Header, HTTPException, Query, Request
from starlette.concurrency import run_in_threadpool

from leaderboard.records import Receipt
from leaderboard.schema import SubmissionError
from leaderboard.server.security import RateLimit, token_accepted
from leaderboard.server.service import DAMAGE, Service
from wordsight.errors import DataError, WordsightError

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
    }
}


def router(service: Service) -> APIRouter:
    """The route that takes submissions."""
    api = APIRouter(prefix="/api/v1")
    limiter = RateLimit(service.settings.hourly, 3600)

    @api.post("/submissions", status_code=201, openapi_extra=_BODY)
    async def submissions(
        request: Request,
        authorization: Annotated[str, Header(max_length=600)] = "",
        partial: Annotated[
            bool, Query(description="Accept unanswered items, more than a few; they score 0.")
        ] = False,
        replace: Annotated[
            bool,
            Query(description="Take the row although an earlier attempt answered more items."),
        ] = False,
    ) -> Receipt:
        """Submit: JSON Lines, the header first, then one line per item."""
        token = _token(service, authorization)
        if not limiter.allow(hashlib.sha256(token.encode()).hexdigest()):
            raise HTTPException(429, f"more than {service.settings.hourly} submissions an hour")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in ("application/x-ndjson", "application/jsonl", "application/json"):
            raise HTTPException(415, "send JSON Lines with content-type application/x-ndjson")
        content = await request.body()
        try:
            return await run_in_threadpool(
                service.receive, content, partial=partial, replace=replace
            )
        except DAMAGE as error:
            raise HTTPException(500, str(error)) from None
        except (SubmissionError, DataError) as error:
            raise HTTPException(422, str(error)) from None
        except WordsightError as error:  # the board cannot be written, or its mirror not reached
            raise HTTPException(503, str(error)) from None

    return api


def _token(service: Service, authorization: str) -> str:
    if not service.settings.tokens:
        raise HTTPException(403, "this board takes no submissions over the network")
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token_accepted(token, service.settings.tokens):
        raise HTTPException(401, "a token is needed: Authorization: Bearer ...")
    return token
