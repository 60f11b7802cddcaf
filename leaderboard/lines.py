"""Submissions as JSON Lines: read with hard limits, written canonically."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from leaderboard.schema import Header, Item, SubmissionError

MAX_BYTES = 256 * 1024 * 1024
MAX_LINE_BYTES = 1024 * 1024
MAX_LINES = 200_000
MAX_DEPTH = 6
MAX_DIGITS = 40

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")

Record = TypeVar("Record", bound=BaseModel)


@dataclass(frozen=True)
class Submission:
    """A header and its items, in the order they came; schema-checked, not yet against gold.

    notes : what its reader has to tell the submitter; no part of what is sent.
    origin : the file that it was read from, where there is one; no part of what is sent.
    """

    header: Header
    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()
    origin: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """What messages call it: its file, if known, and its label."""
        return f"{self.origin}: {self.header.label}" if self.origin else self.header.label

    @cached_property
    def id(self) -> str:
        """Content id (20 hex digits): the same whatever the order of the items."""
        body = sorted(_canonical(item) for item in self.items)
        digest = hashlib.sha256("\n".join([_canonical(self.header), *body]).encode())
        return digest.hexdigest()[:20]


def read_submission(content: bytes, name: str = "submission") -> Submission:
    """Read and check a submission's bytes against the schema and the limits.

    Raises SubmissionError naming ``name``, line, field and what is expected.
    """
    if len(content) > MAX_BYTES:
        raise SubmissionError(f"{name}: {len(content)} bytes; the limit is {MAX_BYTES}")
    header: Header | None = None
    items: list[Item] = []
    for number, line in _lines(content, name):
        where = f"{name}: line {number}"
        payload = parse_json(line, where)
        if header is None:
            header = _record(payload, Header, f"{where} (header)")
        else:
            items.append(_record(payload, Item, where))
    if header is None:
        raise SubmissionError(f"{name}: empty; the first line must be the header")
    return Submission(header, tuple(items))


def write_submission(submission: Submission) -> bytes:
    """The submission as JSON Lines (UTF-8), header first."""
    lines = [_canonical(submission.header), *(_canonical(item) for item in submission.items)]
    return ("\n".join(lines) + "\n").encode()


def parse_json(line: bytes | str, where: str, *, depth: int = MAX_DEPTH) -> Any:
    """One JSON value, refusing NaN, Infinity, 1e999, endless integers, repeated keys and depth.

    Raises SubmissionError, whose message begins with ``where``.
    """
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
    except UnicodeDecodeError as error:
        raise SubmissionError(f"{where}: not UTF-8 at byte {error.start}") from None
    _check_depth(text, where, depth)
    try:
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_bounded,
            object_pairs_hook=_no_repeats,
        )
    except ValueError as error:
        raise SubmissionError(f"{where}: not acceptable JSON: {str(error)[:200]}") from None


def _lines(content: bytes, name: str) -> Iterator[tuple[int, bytes]]:
    if content.startswith((b"PK\x03\x04", b"\x1f\x8b", b"\x80\x04", b"\x80\x05", b"PAR1")):
        raise SubmissionError(
            f"{name}: this is an archive or binary file; send JSON Lines (text, UTF-8)"
        )
    lines = content.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    elif content:
        raise SubmissionError(f"{name}: line {len(lines)}: no line end; was the file cut?")
    if len(lines) > MAX_LINES:
        raise SubmissionError(f"{name}: {len(lines)} lines; the limit is {MAX_LINES}")
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE_BYTES:
            raise SubmissionError(
                f"{name}: line {number}: {len(line)} bytes; the limit is {MAX_LINE_BYTES}"
            )
        yield number, line


def _check_depth(text: str, where: str, limit: int) -> None:
    depth = 0
    for bracket in _BRACKET.findall(_QUOTED.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > limit:
            raise SubmissionError(f"{where}: nested deeper than {limit} levels")


def _record(payload: Any, model: type[Record], where: str) -> Record:
    try:
        return model.model_validate(payload)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        item = payload.get("item") if isinstance(payload, dict) else None
        named = f"item {item[:40]}: " if isinstance(item, str) else ""
        message = first["msg"].removeprefix("Value error, ")
        raise SubmissionError(f"{where}: {named}{field + ': ' if field else ''}{message}") from None


def _canonical(record: BaseModel) -> str:
    payload = record.model_dump(mode="json", by_alias=True)
    return json.dumps(payload, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    value = float(text) if len(text) <= MAX_DIGITS else float("inf")
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:20]} is too large or too long a number")
    return value


def _bounded(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"{text[:20]}... has {len(text)} digits")
    return int(text)


def _no_repeats(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    pairs = list(pairs)
    payload = dict(pairs)
    if len(payload) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return payload
