"""GET requests to a lexicon's server: patience with what passes, JSON or a plain error."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Callable, Mapping
from typing import Any

from wordsight.errors import WordsightError

TRIES = 5
MOST_WAIT = 60.0


class ServerRefusedError(WordsightError):
    """The server answered with a status that trying again does not change."""

    def __init__(self, message: str, status: int, text: str, retry_after: float | None) -> None:
        super().__init__(message)
        self.status = status
        self.text = text
        self.retry_after = retry_after


def get_json(
    client: Any,
    url: str,
    params: Mapping[str, str],
    pause: Callable[[float], None] = time.sleep,
) -> Any:
    """The JSON document at ``url``.

    Server errors, broken connections and short "too many requests" are tried again with growing
    pauses; a wait the server asks for beyond a minute is not sat out. Raises ServerRefusedError,
    or WordsightError when nothing came. Messages never hold the parameters: a key is among them.
    """
    import httpx

    problem = ""
    wait = 0.0
    for attempt in range(TRIES):
        if attempt:
            pause(min(MOST_WAIT, wait))
        wait = 0.5 * 2**attempt
        try:
            response = client.get(url, params=dict(params))
        except httpx.TransportError as error:
            problem = type(error).__name__
            continue
        asked = _retry_after(response.headers.get("retry-after"))
        if response.status_code >= 500 or (
            response.status_code == 429 and (asked is None or asked <= MOST_WAIT)
        ):
            problem = f"status {response.status_code}"
            wait = max(wait, asked or 0.0)
            continue
        if response.status_code != 200:
            text = response.text[:300]
            raise ServerRefusedError(
                f"{url}: status {response.status_code}: {text}", response.status_code, text, asked
            )
        try:
            return response.json()
        except ValueError:
            problem = "an answer that is not JSON"
    raise WordsightError(f"{url}: {problem} in {TRIES} tries; try again later with --resume")


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from either form of the header."""
    if not value:
        return None
    try:
        return float(value)
    except ValueError:
        moment = email.utils.parsedate_to_datetime(value) if value else None
        return max(0.0, moment.timestamp() - time.time()) if moment else None
