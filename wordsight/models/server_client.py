"""A patient HTTP client for OpenAI-compatible chat servers."""

from __future__ import annotations

import asyncio
import email.utils
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loguru import logger

from wordsight.errors import WordsightError

if TYPE_CHECKING:
    import aiohttp

_RETRIED = frozenset({408, 409, 425, 429})
_REFUSED = frozenset({401, 403, 404})
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0


class RequestFailedError(WordsightError):
    """A request had no usable reply after all tries; ``status`` is 0 where there was no reply."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Dialect:
    """What a server was found to understand; changed by what it refuses."""

    logprobs: bool = True
    top_logprobs: int = 20
    token_field: str = "max_tokens"
    temperature: bool = True

    def payload(self, messages: list[dict[str, Any]], max_tokens: int, *, likelihood: bool) -> Any:
        """The request body without the model's name."""
        body: dict[str, Any] = {"messages": messages, self.token_field: max_tokens}
        if self.temperature:
            body["temperature"] = 0
        if likelihood:
            body["logprobs"] = True
            body["top_logprobs"] = self.top_logprobs
        return body

    def learn(self, complaint: str) -> bool:
        """Adapt to a refusal (HTTP 400 or 422); False when it tells nothing that can be changed."""
        text = complaint.lower()
        if "max_completion_tokens" in text and self.token_field == "max_tokens":
            self.token_field = "max_completion_tokens"
        elif "temperature" in text and self.temperature:
            self.temperature = False
        elif "top_logprobs" in text and self.top_logprobs > 5:
            self.top_logprobs = 5
        elif "logprob" in text and self.logprobs:
            self.without_likelihoods("the server refuses logprobs")
        else:
            return False
        return True

    def without_likelihoods(self, why: str) -> None:
        """Fall back to reading text, and say so once."""
        if self.logprobs:
            logger.warning(
                f"{why}: answers are read from text, a hard Yes or No without a likelihood"
            )
        self.logprobs = False


@dataclass
class Usage:
    """Counts over a run."""

    requests: int = 0
    retries: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def cost(self, price_in: float, price_out: float) -> float:
        """US dollars, for prices per million tokens."""
        return (self.prompt_tokens * price_in + self.completion_tokens * price_out) / 1e6


@dataclass
class ChatServer:
    """Sends requests, again and again where that may help.

    timeout : seconds for one try. retries : further tries after the first. requests_per_minute :
    0 for no limit.
    """

    url: str
    key: str
    timeout: float
    retries: int
    requests_per_minute: float = 0
    usage: Usage = field(default_factory=Usage)
    _session: aiohttp.ClientSession | None = None
    _next_slot: float = 0.0

    async def post(self, body: dict[str, Any]) -> dict[str, Any]:
        """The reply to a chat request, parsed and checked for its outer form.

        Raises RequestFailedError.
        """
        content = json.dumps(body).encode()
        for attempt in range(self.retries + 1):
            await self._wait_for_slot()
            try:
                return await self._try(content)
            except _TryAgainError as error:
                if attempt == self.retries:
                    self.usage.failed += 1
                    raise RequestFailedError(
                        f"{error} ({attempt + 1} tries)", error.status
                    ) from None
                self.usage.retries += 1
                await asyncio.sleep(error.wait or min(_LONGEST_WAIT, _FIRST_WAIT * 2**attempt))
        raise AssertionError("the last try returns or raises")

    async def close(self) -> None:
        """Close the connections."""
        # Let go first: a run stopped while this waits must not leave a closed session behind.
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _wait_for_slot(self) -> None:
        if self.requests_per_minute:
            now = time.monotonic()
            self._next_slot = max(self._next_slot, now) + 60 / self.requests_per_minute
            await asyncio.sleep(self._next_slot - 60 / self.requests_per_minute - now)

    async def _try(self, content: bytes) -> dict[str, Any]:
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=self.timeout),
                headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
            )
        self.usage.requests += 1
        try:
            async with self._session.post(f"{self.url}/chat/completions", data=content) as reply:
                raw = await reply.read()
                status, wait = reply.status, _retry_after(reply.headers.get("Retry-After"))
        except asyncio.TimeoutError:
            raise _TryAgainError(f"no reply within {self.timeout:g} s") from None
        except aiohttp.ClientError as error:
            raise _TryAgainError(f"{type(error).__name__}: {error}") from None
        text = raw.decode("utf-8", "replace")
        if status in _RETRIED or status >= 500:
            raise _TryAgainError(f"HTTP {status}: {_short(text)}", status, wait)
        if status != 200:
            self.usage.failed += status not in (400, 422)
            raise RequestFailedError(f"HTTP {status}: {_short(text)}", status)
        return self._parse(text)

    def _parse(self, text: str) -> dict[str, Any]:
        try:
            reply: dict[str, Any] = json.loads(text)
            message = reply["choices"][0]["message"]
            usage = reply.get("usage") or {}
            assert isinstance(message, dict)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, AssertionError):
            raise _TryAgainError(f"not a chat reply: {_short(text)!r}", 200) from None
        self.usage.prompt_tokens += int(usage.get("prompt_tokens") or 0)
        self.usage.completion_tokens += int(usage.get("completion_tokens") or 0)
        return reply


class _TryAgainError(Exception):
    def __init__(self, message: str, status: int = 0, wait: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.wait = wait


def is_refusal(error: RequestFailedError) -> bool:
    """Whether a failure will meet every request: no such server, model or permission."""
    return error.status == 0 or error.status in _REFUSED


def _retry_after(header: str | None) -> float | None:
    """Seconds to wait, from a header that holds seconds or a date; None where it helps not."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(header).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return min(_LONGEST_WAIT, max(0.01, seconds))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:200]}..."
