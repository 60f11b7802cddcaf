"""Reading what a language model wrote: definitions and constraints out of free text.

A reply in the asked form is taken as it is. One that holds the content in another form (JSON,
bullets, bold type, a question instead of a phrase) is repaired. Anything else cannot be read and
gives None; the caller asks again, a bounded number of times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sage_tasks.gar.records import AXES, Axis

MAX_WORDS = 60
MAX_PHRASE_WORDS = 20
MAX_VISIBLE = 6

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|$)", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(r"^[\s*#>•\-\d.)]*\**(?P<name>[A-Za-z]+)\**\s*[:=]\s*\**\s*(?P<value>.*)$")
_WORD = re.compile(r"[^\W\d_]{2,}")
# What stands in the prompts to explain the form: a model that repeats it has said nothing.
_ECHO = re.compile(
    r"short phrases|separated by semicolons|^one sentence|^things or beings that|"
    r"^their colou?r, shape|^what they do\b|^what a picture of it|^the number of the meaning",
    re.IGNORECASE,
)
_QUESTION_START = re.compile(
    r"^(?:is|are) there (?:any )?|^does the (?:picture|image) show |^do you see |^can you see |"
    r"^is this |^is it |^(?:is|are|does|do|has|have|can) ",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class DefinitionReply:
    """A definition as read. ``number`` is the chosen gloss (0: none fits), None if not said."""

    text: str
    visible: tuple[str, ...]
    number: int | None
    repaired: bool


@dataclass(frozen=True)
class Check:
    """A constraint as read: its phrase, and the model's own question where it wrote one."""

    axis: Axis
    phrase: str
    question: str = ""


@dataclass(frozen=True)
class ChecksReply:
    """Constraints as read."""

    checks: tuple[Check, ...]
    repaired: bool


def read_definition(reply: str, glosses: int) -> DefinitionReply | None:
    """The definition in a reply to a prompt with ``glosses`` numbered meanings, or None."""
    body = _THINKING.sub("", reply).strip()
    fields, clean = _fields(body)
    raw = fields.get("definition", [""])[0] or _first_sentence(body)
    text = _sentence(raw)
    if not _is_language(text) or _ECHO.search(text):
        return None
    number = _number(fields, glosses)
    visible = tuple(_phrases(fields.get("visible", ())))[:MAX_VISIBLE]
    whole = "definition" in fields and visible and (not glosses or number is not None)
    return DefinitionReply(text, visible, number, not (clean and whole and text == raw))


def read_checks(reply: str, most: int) -> ChecksReply | None:
    """The constraints in a reply, at most ``most`` per axis, or None when there is none."""
    body = _THINKING.sub("", reply).strip()
    fields, clean = _fields(body)
    checks: list[Check] = []
    for axis in AXES:
        values = [*fields.get(axis, ()), *fields.get(f"{axis}s", ())]
        found = list(dict.fromkeys(_checks(axis, values)))
        clean = clean and len(values) == 1 and len(found) <= most
        checks += found[:most]
    clean = clean and not any(check.question for check in checks)
    return ChecksReply(tuple(checks), not clean) if checks else None


def _fields(body: str) -> tuple[dict[str, list[str]], bool]:
    """Named values of a reply, and whether it holds nothing else."""
    as_json = _json_object(body)
    if as_json is not None:
        return {name.lower(): list(_texts(value)) for name, value in as_json.items()}, False
    fields: dict[str, list[str]] = {}
    clean = True
    for line in body.splitlines():
        match = _FIELD.match(line)
        if match is None:
            clean = clean and not line.strip()
            continue
        name = match["name"].lower()
        fields.setdefault(name, []).append(_tidy(match["value"]))
        clean = clean and line.startswith(match["name"] + ": ")
    return fields, clean


def _json_object(body: str) -> Mapping[str, Any] | None:
    start, end = body.find("{"), body.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        value = json.loads(body[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, (str, int)):
        yield _tidy(str(value))
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _tidy(text: str) -> str:
    return text.strip().strip("*_`\"'“”<>[]").strip()


def _sentence(text: str) -> str:
    """At most 60 words, cut at the end of a sentence where one ends before."""
    words = _tidy(" ".join(text.split())).split(" ")
    if len(words) <= MAX_WORDS:
        return " ".join(words)
    cut = " ".join(words[:MAX_WORDS])
    end = cut.rfind(". ")
    return cut[: end + 1] if end > 0 else cut


def _first_sentence(body: str) -> str:
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    free = [line for line in lines if _FIELD.match(line) is None and not line.startswith("{")]
    return re.split(r"(?<=[.!?])\s", free[0], maxsplit=1)[0] if free else ""


def _is_language(text: str) -> bool:
    """Two words or more, and mostly letters: an empty or broken text is no definition."""
    return len(_WORD.findall(text)) >= 2 and _mostly_letters(text)


def _is_phrase(text: str) -> bool:
    return _WORD.search(text) is not None and _mostly_letters(text)


def _mostly_letters(text: str) -> bool:
    letters = sum(char.isalpha() or char.isspace() for char in text)
    return letters >= 0.7 * len(text)


def _number(fields: Mapping[str, Sequence[str]], glosses: int) -> int | None:
    for name in ("number", "meaning"):
        for value in fields.get(name, ()):
            match = re.search(r"\d+", value)
            if match and int(match.group()) <= glosses:
                return int(match.group())
            if re.match(r"none\b", value, re.IGNORECASE):
                return 0
    return None


def _phrases(values: Sequence[str]) -> Iterator[str]:
    for value in values:
        for part in value.split(";"):
            phrase = _tidy(part).rstrip(".,")
            words = phrase.split()
            echo = _ECHO.search(phrase)
            if words and len(words) <= MAX_PHRASE_WORDS and not echo and _is_phrase(phrase):
                yield phrase


def _checks(axis: Axis, values: Sequence[str]) -> Iterator[Check]:
    for phrase in _phrases(values):
        if not phrase.endswith("?"):
            yield Check(axis, phrase)
            continue
        statement = _QUESTION_START.sub("", phrase).rstrip("? ")
        if statement:
            yield Check(axis, statement, phrase)
