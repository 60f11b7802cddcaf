"""From a chat server's reply to an answer under the response contract."""

from __future__ import annotations

import math
from typing import Any

from wordsight.answers import likelihood, text_answer

_MARKS = "\u0120\u010a\u2581 \n\t\"'*."
_THINKING_ENDS = "</think"


def message_text(reply: dict[str, Any]) -> str:
    """The reply's text; what a server gave as a refusal counts as text."""
    message = reply["choices"][0]["message"]
    content = message.get("content") or message.get("refusal") or ""
    if isinstance(content, list):  # parts, from servers that answer in the form they are asked in
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content)


def has_likelihoods(reply: dict[str, Any]) -> bool:
    """Whether the reply lists the alternatives of its tokens."""
    return bool(_positions(reply) and _alternatives(_positions(reply)[0]))


def likelihood_answer(reply: dict[str, Any], **extra: float | str) -> str:
    """Log-probabilities of yes and no where the model says it; its text where it says neither.

    Where only one of the two words is among the alternatives that the server lists, the other is
    at most as likely as the least of them and as all that is not listed; that bound stands for
    it, and ``bounded`` names the word.
    """
    positions = _positions(reply)
    alternatives = _alternatives(positions[_answer_place(positions)])
    found = {
        word: [value for token, value in alternatives if _word(token) == word]
        for word in ("yes", "no")
    }
    if not found["yes"] and not found["no"]:
        return text_answer(message_text(reply), **extra)
    values = {word: _log_sum(logs) for word, logs in found.items() if logs}
    bounded = [word for word in found if word not in values]
    for word in bounded:
        rest = 1 - math.fsum(math.exp(value) for _, value in alternatives)
        least = min(value for _, value in alternatives)
        values[word] = min(least, math.log(rest)) if rest > 0 else least
    mass = math.exp(values["yes"]) + math.exp(values["no"])
    if bounded:
        extra["bounded"] = bounded[0]
    return likelihood(min(0.0, values["yes"]), min(0.0, values["no"]), mass=mass, **extra)


def _positions(reply: dict[str, Any]) -> list[dict[str, Any]]:
    logs = reply["choices"][0].get("logprobs") or {}
    content = logs.get("content") if isinstance(logs, dict) else None
    return [place for place in content or [] if isinstance(place, dict)]


def _alternatives(position: dict[str, Any]) -> list[tuple[str, float]]:
    listed = position.get("top_logprobs") or []
    return [
        (str(entry["token"]), float(entry["logprob"]))
        for entry in listed
        if isinstance(entry, dict) and isinstance(entry.get("logprob"), (int, float))
    ]


def _answer_place(positions: list[dict[str, Any]]) -> int:
    """Where the answer stands: the first token that says yes or no, after any thinking."""
    tokens = [str(position.get("token", "")) for position in positions]
    thought = [place for place, token in enumerate(tokens) if _THINKING_ENDS in token]
    start = thought[-1] + 1 if thought else 0
    said = [p for p in range(start, len(tokens)) if _word(tokens[p]) in ("yes", "no")]
    return said[0] if said else min(start, len(tokens) - 1)


def _word(token: str) -> str:
    return token.strip(_MARKS).lower()


def _log_sum(logs: list[float]) -> float:
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in logs))
