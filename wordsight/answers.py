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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from wordsight.answer_text import LETTERS, Unreadable, letter, number, yes_or_no

Interface = Literal["likelihood", "similarity", "text", "scalar", "choice"]
Status = Literal["ok", "invalid", "failed"]

# lmms-eval's API adapters put this in place of an answer after their last retry.
FAILED_PREFIX = "[LMMS_EVAL_REQUEST_FAILED"


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


def text_answer(text: str, **extra: float | str) -> str:
    """JSON answer of a model that gave a text, for which there is more to log."""
    return json.dumps({"text": text, **extra})


def scalar_answer(response: str) -> str:
    """Mark a response as one to a question for a number; a failed request stays one."""
    return _marked(response, "scalar", {})


def choice_answer(response: str, letter: str) -> str:
    """Mark a response to a question about ten pictures for the candidate shown under a letter."""
    return _marked(response, "choice", {"letter": letter})


def _marked(response: str, kind: str, more: dict[str, str]) -> str:
    if response.lstrip().startswith(FAILED_PREFIX):
        return response
    try:
        payload = json.loads(response)
    except (ValueError, RecursionError):
        payload = None
    # marked before, or a text with fields beside it; anything else is the model's own text
    name = next((n for n in (kind, "text") if isinstance(payload, dict) and n in payload), None)
    if name is None:
        return json.dumps({kind: response, **more})
    rest = {key: value for key, value in payload.items() if key not in (name, *more)}
    return json.dumps({kind: payload[name], **more, **rest})


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
    # text that begins with a brace parses to an object or not at all
    for kind, read in _READERS.items():
        if kind in payload:
            return read(payload)
    known = ", ".join(f'"{kind}"' for kind in _READERS)
    return Answer("invalid", reason=f"JSON without any of {known}")


def _read_similarity(payload: dict[str, object]) -> Answer:
    value = _number(payload["similarity"])
    if value is None:
        return Answer("invalid", reason="similarity is not a finite number")
    return Answer("ok", "similarity", value, value)


def _read_likelihood(payload: dict[str, object]) -> Answer:
    yes, no = _number(payload["yes"]), _number(payload.get("no"))
    if yes is None or no is None or yes > 1e-6 or no > 1e-6:
        return Answer("invalid", reason="yes and no must be finite log-probabilities, 0 or less")
    return Answer("ok", "likelihood", yes - no, _sigmoid(yes - no))


def _read_choice(payload: dict[str, object]) -> Answer:
    chosen, own = letter(str(payload["choice"])), payload.get("letter")
    if isinstance(chosen, Unreadable):
        return Answer("invalid", reason=chosen.reason)
    if own not in tuple(LETTERS):
        return Answer("invalid", reason='"choice" without the candidate\'s "letter"')
    value = float(chosen == own)
    return Answer("ok", "choice", value, value)


def _read_scalar(payload: dict[str, object]) -> Answer:
    value = number(str(payload["scalar"]))
    if isinstance(value, Unreadable):
        return Answer("invalid", reason=value.reason)
    return Answer("ok", "scalar", value, value / 100)


def _read_text(text: str) -> Answer:
    value = yes_or_no(text)
    if isinstance(value, Unreadable):
        return Answer("invalid", reason=value.reason)
    return Answer("ok", "text", math.inf if value else -math.inf, float(value))


# in the order in which they are looked for
_READERS: dict[str, Callable[[dict[str, object]], Answer]] = {
    "similarity": _read_similarity,
    "yes": _read_likelihood,
    "scalar": _read_scalar,
    "choice": _read_choice,
    "text": lambda payload: _read_text(str(payload["text"])),
}


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
