"""Reading free text: a yes or no, a number from 0 to 100, a letter; thinking is set aside first.

Each reader returns a value or, as :class:`Unreadable`, why there is none. None guesses: where a
text says two things, it cannot be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LETTERS = "ABCDEFGHIJ"

_THINKING_OPEN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THINKING_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THINKING_CLOSE = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
# <answer>yes</answer>, \boxed{yes}: what stands inside is the answer.
_WRAPPED = re.compile(r"<answer>(.*?)</answer>|\\boxed\{([^{}]*)\}", re.DOTALL | re.IGNORECASE)
_MARKER = r"\b(?:final\s+answer|answer|verdict|conclusion|score|rating|choice)\b\W*(?:is\b\W*)?"
_FINAL_WORD = re.compile(
    rf"{_MARKER}(yes|no)(?![\w-])(?!\s*(?:or|and|/)\s*(?:yes|no)\b)", re.IGNORECASE
)
_LEADING_WORD = re.compile(
    r"^[\W_]*(yes|no)(?![\w-])(?!\s*(?:or|and|/)\s*(?:yes|no)\b)", re.IGNORECASE
)
_WORD = re.compile(r"(?<![\w-])(yes|no)(?![\w-])", re.IGNORECASE)

_NUMBER = r"(?<![\w.,/-])(\d{1,4}(?:\.\d+)?)(?:\s*(?:/|out\s+of)\s*(\d{1,4}))?(?![\w/]|[.,]\d)"
_NUMBERS = re.compile(_NUMBER, re.IGNORECASE)
_FINAL_NUMBER = re.compile(_MARKER + _NUMBER.replace(r"(?<![\w.,/-])", ""), re.IGNORECASE)
# "on a scale from 0 to 100" speaks of the scale.
_SCALE = re.compile(
    r"(?:\(?\b(?:from|between|scale\s+of|scale\s+from|range\s+of)\s+)?"
    r"\b0\s*(?:to|and|-|\u2013|\.\.)\s*100\b\)?",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\d\s*(?:-|\u2013|to|or)\s*\d", re.IGNORECASE)

_LETTER = r"[(\[\"'*_]*([A-J])[)\]\"'*_]*(?![\w'\u2019-])"
_FINAL_LETTER = re.compile(
    rf"(?i:{_MARKER})(?i:(?:picture|image|option|letter|candidate)\W*)?{_LETTER}"
)
_CUED_LETTER = re.compile(rf"(?i:\b(?:picture|image|option|letter|candidate)\b)\s*:?\s*{_LETTER}")
_LEADING_LETTER = re.compile(r"^[\W_]*([A-J])(?:[\W_]*$|[)\]*_.:,;]|\s*(?:\n|[-\u2013\u2014]\s))")
# A and I are words of their own and count only where brackets or stars make letters of them.
_ALONE = re.compile(r"(?<![\w'\u2019-])(?:([B-HJ])|[(\[*]([AI])[)\]*])(?![\w'\u2019-])")
_EITHER_LETTER = re.compile(r"\b[A-J]\W*(?:or|and|/)\W*[A-J]\b")


@dataclass(frozen=True)
class Unreadable:
    """Why a text could not be read."""

    reason: str


def without_thinking(text: str) -> str | Unreadable:
    """The text after any thinking."""
    body = without_spans(text, _THINKING_OPEN, _THINKING_END, " ").strip()
    if _THINKING_OPEN.match(body):
        return Unreadable("reasoning without an answer after it")
    body = _THINKING_CLOSE.sub("", body).strip()
    wrapped: list[str] = [a or b for a, b in _WRAPPED.findall(body)]
    return wrapped[-1].strip() if wrapped and wrapped[-1].strip() else body


def without_spans(
    text: str, opening: re.Pattern[str], closing: re.Pattern[str], instead: str
) -> str:
    """The text with each span from ``opening`` to the next ``closing`` replaced by ``instead``.

    A span that is never closed stays. Takes time in proportion to the text, whatever it holds; one
    pattern for whole spans would look for the end anew at each of thousands of openings.
    """
    kept, at = [], 0
    while (start := opening.search(text, at)) and (end := closing.search(text, start.end())):
        kept += [text[at : start.start()], instead]
        at = end.end()
    return "".join([*kept, text[at:]])


def yes_or_no(text: str) -> bool | Unreadable:
    """True for yes."""
    body = without_thinking(text)
    if isinstance(body, Unreadable):
        return body
    words = _final(_FINAL_WORD, body) or _leading_word(body) or _all_words(body)
    if len(words) != 1:
        said = "both yes and no" if words else "neither yes nor no"
        return Unreadable(f"{said} in {body[:80]!r}")
    return words == {"yes"}


def number(text: str) -> float | Unreadable:
    """A number from 0 to 100; "8/10" is 80."""
    body = without_thinking(text)
    if isinstance(body, Unreadable):
        return body
    body = _SCALE.sub(" ", body).replace("**", " ").replace("%", " ")
    final = _FINAL_NUMBER.findall(body)
    found = {_scaled(*match) for match in (final[-1:] or _NUMBERS.findall(body))}
    if len(found) != 1 or (not final and _RANGE.search(body)):
        said = "several numbers" if found else "no number"
        return Unreadable(f"{said} in {body[:80]!r}")
    (value,) = found
    if value is None or not 0 <= value <= 100:
        return Unreadable(f"not from 0 to 100: {body[:80]!r}")
    return value


def letter(text: str) -> str | Unreadable:
    """A letter from A to J."""
    body = without_thinking(text)
    if isinstance(body, Unreadable):
        return body
    if re.fullmatch(r"[\W_]*[a-j][\W_]*", body):
        return body.strip("".join(set(body) - set("abcdefghij"))).upper()
    final: list[str] = _FINAL_LETTER.findall(body)
    leading = _LEADING_LETTER.match(body)
    if final:
        found = {final[-1]}
    elif leading:
        found = {str(leading.group(1))}
    else:
        cued: list[str] = _CUED_LETTER.findall(body)
        found = set(cued) or {str(a or b) for a, b in _ALONE.findall(body)}
    if len(found) != 1 or (not final and _EITHER_LETTER.search(body)):
        said = "several letters" if found else "no letter"
        return Unreadable(f"{said} in {body[:80]!r}")
    return found.pop()


def _final(pattern: re.Pattern[str], body: str) -> set[str]:
    found = pattern.findall(body)
    return {found[-1].lower()} if found else set()


def _leading_word(body: str) -> set[str]:
    match = _LEADING_WORD.match(body)
    return {match.group(1).lower()} if match else set()


def _all_words(body: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(body)}


def _scaled(value: str, whole: str) -> float | None:
    if not whole or whole == "100":
        return float(value)
    return float(value) / float(whole) * 100 if 0 <= float(value) <= float(whole) != 0 else None
