"""A definition split at its clauses: what stands in when a model writes no constraints.

Dictionary definitions have a common build: what it is ("a brass instrument"), what it has ("with
a flared bell"), what it does or what is done to it ("that is played by means of valves").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sage_tasks.gar.records import Axis

_OPENERS: dict[Axis, str] = {
    "attribute": r"with|without|having|made of|made from|consisting of|shaped|covered",
    "state": (
        r"that|which|who|whose|where|when|used|for|by|while|\w{3,}ing (?:on|in|at|a|an|the|over)"
    ),
}
_SPLIT = re.compile(
    r"[;,(]\s*|(?<!\bused)\s+(?=(?:" + "|".join(_OPENERS.values()) + r")\b)", re.IGNORECASE
)
_STARTS = {axis: re.compile(rf"(?:{words})\b", re.IGNORECASE) for axis, words in _OPENERS.items()}
_LEAD = re.compile(r"^(?:the word |the term )?[\"'\w -]{1,40}? (?:is|are|means|refers to) ", re.I)
_EMPTY = re.compile(r"^(?:that|which|who|whose|where|when|for|by|used|with)$", re.IGNORECASE)


def clauses(definition: str, most: int) -> Iterator[tuple[Axis, str]]:
    """(axis, phrase) pairs of a definition, at most ``most`` per axis; never empty.

    The first clause is what the thing is: an object.
    """
    text = " ".join(definition.split()).rstrip(".")
    body = _LEAD.sub("", text, count=1) or text
    parts = [part.strip(" )\"'") for part in _SPLIT.split(body)]
    parts = [part for part in parts if part and not _EMPTY.match(part)] or [text]
    used = dict.fromkeys(_STARTS, 0)
    parts = list(dict.fromkeys(parts))
    yield "object", parts[0]
    for part in parts[1:]:
        axis = next((axis for axis, start in _STARTS.items() if start.match(part)), None)
        if axis is not None and used[axis] < most:
            used[axis] += 1
            yield axis, part
