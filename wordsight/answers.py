"""The response contract: what a model may answer to one request and how it is read.

A request asks about one picture. A model answers with text, because text is what survives the
harness's cache, filters and logs:

* ``{"yes": logprob, "no": logprob, ...}`` from a model that can give likelihoods;
* ``{"similarity": x, ...}`` from a model that scores a picture against a text;
* plain text ("Yes", "**No**.") from any other model: a hard 1 or 0.

A failed request is never a "No": it leaves the run incomplete. Text that cannot be read is never
a "No" either: it makes the item invalid, which is counted and shown.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Literal

Interface = Literal["likelihood", "similarity", "text"]
Status = Literal["ok", "invalid", "failed"]

# lmms-eval's API adapters put this in place of an answer after their last retry.
FAILED_PREFIX = "[LMMS_EVAL_REQUEST_FAILED"

_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FINAL = re.compile(
    r"\b(?:final\s+answer|answer|verdict|conclusion)\b\W*(?:is\b\W*)?(yes|no)\b", re.IGNORECASE
)
_LEADING = re.compile(r"^[\W_]*(yes|no)(?![\w-])(?!\s*(?:or|and|/)\s*(?:yes|no)\b)", re.IGNORECASE)
_WORD = re.compile(r"(?<![\w-])(yes|no)(?![\w-])", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """One response, read.

    ``rank_key`` orders candidates (log-odds for yes/no, the raw similarity otherwise); it keeps
    apart what the probability ``score`` can no longer tell apart once it rounds to 0 or 1.
    Both are None unless ``status`` is "ok".
    """

    status: Status
    interface: Interface | None = None
    rank_key: float | None = None
    score: float | None = None
    reason: str = ""


def failed(reason: str) -> str:
    """The text a model returns for a request that could not be answered (server error, ...)."""
    return f"{FAILED_PREFIX} {reason}]"


def likelihood(yes: float, no: float, **extra: float | str) -> str:
    """JSON answer of a model that read the log-probabilities of yes and no (natural log)."""
    return json.dumps({"yes": yes, "no": no, **extra})


def similarity(value: float, **extra: float | str) -> str:
    """JSON answer of a model that scored the picture against a text; larger means closer."""
    return json.dumps({"similarity": value, **extra})


def read_answer(response: str) -> Answer:
    """Read one raw response under the contract; never raises on any text.

    The score of a yes/no answer is P(yes) / (P(yes) + P(no)) (SAGE, Appendix H).
    """
    text = response.strip()
    if text.startswith(FAILED_PREFIX):
        return Answer("failed", reason=text[:300])
    if text.startswith("{"):
        return _read_json(text)
    return _read_text(text)


def _read_json(text: str) -> Answer:
    try:
        payload = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return Answer("invalid", reason=f"not JSON: {error}")
    if "similarity" in payload:
        value = _number(payload["similarity"])
        if value is None:
            return Answer("invalid", reason="similarity is not a finite number")
        return Answer("ok", "similarity", value, value)
    if "yes" in payload and "no" in payload:
        yes, no = _number(payload["yes"]), _number(payload["no"])
        if yes is None or no is None or yes > 1e-6 or no > 1e-6:
            return Answer(
                "invalid", reason="yes and no must be finite log-probabilities, 0 or less"
            )
        return Answer("ok", "likelihood", yes - no, _sigmoid(yes - no))
    return Answer("invalid", reason='JSON without "similarity" or "yes" and "no"')


def _read_text(text: str) -> Answer:
    body = _THINKING.sub(" ", text).strip()
    if re.match(r"<think(?:ing)?>", body, re.IGNORECASE):
        return Answer("invalid", reason="reasoning without an answer after it")
    body = re.sub(r"^.*</think(?:ing)?>", "", body, flags=re.DOTALL | re.IGNORECASE)
    words = _final_words(body) or _leading_word(body) or _all_words(body)
    if len(words) != 1:
        reason = "both yes and no" if words else "neither yes nor no"
        return Answer("invalid", reason=f"{reason} in {body[:80]!r}")
    value = 1.0 if words == {"yes"} else 0.0
    return Answer("ok", "text", math.inf if value else -math.inf, value)


def _final_words(body: str) -> set[str]:
    found = _FINAL.findall(body)
    return {found[-1].lower()} if found else set()


def _leading_word(body: str) -> set[str]:
    match = _LEADING.match(body)
    return {match.group(1).lower()} if match else set()


def _all_words(body: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(body)}


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    return math.exp(x) / (1.0 + math.exp(x))
