"""What stands between the network and everything else, Gradio included."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from urllib.parse import unquote_to_bytes

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Gradio 6 looks its page up by this key of the address, and fails where it has none of that name.
UNREAD = b"page"

# Gradio takes its root address from these; TrustedHost does not look at them.
DROPPED = frozenset({b"x-forwarded-host", b"x-gradio-server"})

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (
        b"content-security-policy",
        # Gradio starts from an inline script and styles its parts inline; it needs no eval
        b"default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
        b"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
        b"object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


class Guard:
    """ASGI layer: drops what must not reach Gradio, bounds bodies, adds security headers."""

    def __init__(self, app: App, *, max_body: int) -> None:
        self.app = app
        self.max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        scope["headers"] = [pair for pair in scope["headers"] if pair[0].lower() not in DROPPED]
        scope["query_string"] = b"&".join(
            part
            for part in scope["query_string"].split(b"&")
            if unquote_to_bytes(part.partition(b"=")[0]) != UNREAD
        )
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
            return
        state = _Exchange(receive, send, self.max_body)
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared[:20]) > self.max_body:
            await state.refuse()
            return
        try:
            await self.app(scope, state.receive, state.send)
        except _TooLargeError:
            if not state.started:
                await state.refuse()


class _TooLargeError(Exception):
    """A body grew past the limit although its declared length did not."""


class _Exchange:
    def __init__(self, receive: Receive, send: Send, max_body: int) -> None:
        self._receive = receive
        self._send = send
        self._max_body = max_body
        self._read = 0
        self.started = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._read += len(message.get("body", b""))
        if self._read > self._max_body:
            raise _TooLargeError
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            present = {name.lower() for name, _ in message.get("headers", [])}
            extra = [pair for pair in HEADERS if pair[0] not in present]
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await self._send(message)

    async def refuse(self) -> None:
        body = f'{{"detail":"the body is larger than {self._max_body} bytes"}}'.encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await self.send({"type": "http.response.start", "status": 413, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def token_accepted(given: str, accepted: Iterable[str]) -> bool:
    """Whether a token is one of the accepted; takes the same time wherever they differ.

    Hashes are compared: the comparison of texts of unequal length ends early, and tells the length.
    """
    found = False
    for token in accepted:
        found |= hmac.compare_digest(_digest(given), _digest(token))
    return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


@dataclass
class RateLimit:
    """At most ``limit`` events per key within ``seconds``; keys are forgotten as they age."""

    limit: int
    seconds: float
    _times: dict[str, deque[float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def allow(self, key: str, now: float | None = None) -> bool:
        """Count an event of ``key`` and tell whether it is within the limit."""
        moment = time.monotonic() if now is None else now
        with self._lock:
            old = moment - self.seconds
            for name in [k for k, times in self._times.items() if times[-1] <= old]:
                del self._times[name]
            times = self._times.setdefault(key, deque())
            while times and times[0] <= old:
                times.popleft()
            if len(times) >= self.limit:
                return False
            times.append(moment)
            return True
