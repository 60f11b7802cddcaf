"""Hostile submissions: what an attacker, or a broken script, might send."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import random
import zipfile
from collections.abc import Iterator
from typing import Any

Case = tuple[str, bytes]

# What no text field may hold, whatever follows from it later: markup, formulas, control
# characters, text that turns the line round, invisible characters, names that are paths.
BAD_NAMES = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a/<b>b</b>",
    "a/b/c",
    "../../etc/passwd",
    "..",
    "/etc/passwd",
    "C:\\\\windows",
    "a\\b",
    "",
    " ",
    "a b",
    "a/ b",
    *(
        "=cmd|' /C calc'!A0",
        "+1+1",
        "-1+1",
        "@SUM(1)",
        "\t=1",
        "a\nb",
        "a\rb",
        "a\x00b",
        "a\x1b[31m",
    ),
    *(
        "org/\u202egnp.exe",
        "org/a\u200bb",
        "org/\ufeffname",
        "org/na\u0301me",
        "\u043e\u0440\u0433/\u043c",
        "\u7d44/\u6a21",
    ),
    *(
        "a/{{7*7}}",
        "a/${value}",
        "a/%s%s%n",
        "a/';drop table x;--",
        'a/"onload="x',
        "[x](javascript:1)",
    ),
    *(
        "javascript:alert(1)",
        "data:text/html,x",
        "http://evil.example/x",
        "org/a?b",
        "org/a#b",
        "x" * 500,
    ),
    *(
        "-org/name",
        ".org/name",
        "org/-name",
        "org/.name",
        "org//name",
        "org/",
        "/name",
        "a/b/",
        "\ud800",
    ),
)
BAD_NUMBERS = (
    *(
        "NaN",
        "Infinity",
        "-Infinity",
        "1e999",
        "-1e999",
        "-1",
        '"1"',
        "true",
        "[1]",
        "{}",
        "1" * 5000,
    ),
    "0." + "9" * 5000,
    "1e" + "9" * 400,
    '"NaN"',
)


def good(header: dict[str, Any], items: list[dict[str, Any]]) -> bytes:
    """A submission that would be accepted."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in (header, *items))


def cases(header: dict[str, Any], items: list[dict[str, Any]]) -> Iterator[Case]:
    """Name and bytes of every hostile submission, made from an acceptable one."""
    yield from _fields(header, items)
    yield from _numbers(header, items)
    yield from _structure(header, items)
    yield from _items(header, items)
    yield from _files(good(header, items))
    yield from _cuts(good(header, items))
    yield from _random(good(header, items))


def _fields(header: dict[str, Any], items: list[dict[str, Any]]) -> Iterator[Case]:
    for field in ("model", "method", "revision"):
        for name in BAD_NAMES:
            # an empty method or revision is an honest answer
            if field != "model" and name == "":
                continue
            if field != "model" and _plain_word(name):
                continue
            yield f"{field} {name[:20]!r}", good({**header, field: name}, items)
    for field in ("command", "git", "contact"):
        for text in ("a\x00b", "a\x1b[2J", "a\u202eb", "a\u200bb", "x" * 10_000, "a\nb", "\ud800"):
            yield f"{field} {text[:10]!r}", good({**header, field: text}, items)
    for field in ("options", "packages", "hardware", "seeds"):
        yield f"{field} key", good({**header, field: {"<b>": "1"}}, items)
        yield f"{field} value", good({**header, field: {"a": "x\x00"}}, items)
        yield f"{field} many", good({**header, field: {f"k{i}": "v" for i in range(500)}}, items)
        yield f"{field} nested", good({**header, field: {"a": {"b": "c"}}}, items)
        yield f"{field} list", good({**header, field: ["a"]}, items)
        yield f"{field} number", good({**header, field: {"a": 1}}, items)


def _plain_word(text: str) -> bool:
    """Whether this is what a revision or method may hold (an address of a branch, say)."""
    return len(text) <= 120 and all(c.isascii() and (c.isalnum() or c in "_.+@:/=-") for c in text)


def _numbers(header: dict[str, Any], items: list[dict[str, Any]]) -> Iterator[Case]:
    for field in ("cost", "wall_seconds"):
        for number in BAD_NUMBERS:
            text = json.dumps({**header, field: "HERE"}).replace('"HERE"', number)
            rest = b"".join(json.dumps(item).encode() + b"\n" for item in items)
            yield f"{field} {number[:12]}", text.encode() + b"\n" + rest


def _structure(header: dict[str, Any], items: list[dict[str, Any]]) -> Iterator[Case]:
    body = good(header, items).split(b"\n", 1)[1]
    for name, line in (
        ("list", b"[]"),
        ("number", b"1"),
        ("null", b"null"),
        ("text", b'"header"'),
        ("empty object", b"{}"),
        ("deep", b"[" * 100_000 + b"]" * 100_000),
        ("deep objects", b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
        ("repeated key", json.dumps(header).encode()[:-1] + b', "model": "a/b"}'),
        ("two values", json.dumps(header).encode() + b" {}"),
        ("comment", b"// header"),
        ("single quotes", str(header).encode()),
        ("not UTF-8", b'{"model": "\xff\xfe"}'),
        ("UTF-16", json.dumps(header).encode("utf-16")),
        ("long line", b'{"model": "' + b"a" * 2_000_000 + b'"}'),
        ("byte order mark", b"\xef\xbb\xbf" + json.dumps(header).encode()),
    ):
        yield f"header {name}", line + b"\n" + body
    for field in ("schema", "model", "tasks"):
        yield (
            f"header without {field}",
            good({k: v for k, v in header.items() if k != field}, items),
        )
    for field, value in (
        ("schema", "wordsight-submission/2"),
        ("schema", 1),
        ("model", 1),
        ("model", ["a"]),
        ("model", None),
        ("tasks", []),
        ("tasks", {}),
        ("tasks", "tiny"),
        ("tasks", [1]),
        ("tasks", header["tasks"] * 2),
        ("tasks", header["tasks"] * 100),
        ("source", "trusted"),
        ("tasks", [{"name": "tiny", "score": 1.0}]),
        ("hits1", 1.0),
        ("scores", {"tiny": 1.0}),
        ("verified", True),
        ("attempts", 0),
        ("submitted", "2020-01-01"),
        ("__class__", "x"),
        ("tasks", [{"name": "../tiny"}]),
        ("tasks", [{"name": "tiny'; drop table x"}]),
        ("tasks", [{"name": "unknown_task"}]),
        ("tasks", [{"name": "tiny", "version": "99"}]),
        *(
            ("tasks", [{"name": "tiny", "dataset": "zz"}]),
            ("tasks", [{"name": "tiny", "prompt": "<i>"}]),
        ),
    ):
        yield f"header {field}={str(value)[:20]}", good({**header, field: value}, items)
    yield "empty", b""
    yield "only line ends", b"\n\n\n"
    yield "header only", good(header, [])
    yield "header twice", good(header, [header, *items])
    yield "items first", good(items[0], [header, *items[1:]])
    yield "blank line", good(header, items).replace(b"\n", b"\n\n", 1)
    yield "too many lines", good(header, items) + b"{}\n" * 200_001


def _items(header: dict[str, Any], items: list[dict[str, Any]]) -> Iterator[Case]:
    first = items[0]

    def changed(**changes: Any) -> bytes:
        return good(header, [{**first, **changes}, *items[1:]])

    answers = first["responses"]
    for name, value in (
        ("nine", answers[:9]),
        ("eleven", [*answers, "No"]),
        ("none", []),
        ("text", "Yes"),
        ("numbers", [0.5] * 10),
        ("objects", [{"yes": 0}] * 10),
        ("null", None),
        *(
            ("one null", [*answers[:9], None]),
            ("nested", [answers]),
            ("map", dict(enumerate(answers))),
        ),
        ("huge", ["x" * 100_000, *answers[1:]]),
        ("surrogate", ["\ud800", *answers[1:]]),
        ("bool", [True] * 10),
        ("ten thousand", ["No"] * 10_000),
    ):
        yield f"responses {name}", changed(responses=value)
    other: Any
    for other in (
        "0" * 20,
        "f" * 20,
        "",
        "x",
        first["item"].upper() + "g",
        first["item"] + "0",
        "../" * 6,
        "%" * 20,
        first["item"][:19] + "%",
        "' or 1=1 --",
        "\x00" * 20,
        None,
        5,
        ["a"],
    ):
        yield f"item {str(other)[:12]!r}", changed(item=other)
    for other in (
        "tiny2",
        "TINY",
        "",
        "../tiny",
        None,
        1,
        "tiny; drop table",
        "tiny\n",
        "x" * 1000,
    ):
        yield f"task {str(other)[:12]!r}", changed(task=other)
    for other in ("zz", "a" * 15, "a" * 21, "G" * 16, "a" * 20, None, 1, "<script>" * 2):
        yield f"images {str(other)[:12]!r}", changed(images=other)
    yield "item with scores", changed(scores=[1.0] * 10)
    yield "item with gold", changed(gold=0)
    yield "item with hits1", changed(hits1=1.0)
    yield "item twice", good(header, [*items, first])
    yield (
        "item twice with other answers",
        good(header, [*items, {**first, "responses": ["No"] * 10}]),
    )
    for field in ("task", "item", "responses", "images"):
        without = {k: v for k, v in first.items() if k != field}
        plain = {**header, "tasks": [{"name": "tiny"}]}  # names no dataset to stand in
        yield f"item without {field}", good(plain, [without, *items[1:]])


def _files(content: bytes) -> Iterator[Case]:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("../../evil.jsonl", content)
    yield "zip", archive.getvalue()
    yield "gzip", gzip.compress(content)
    for protocol in range(6):
        yield f"pickle {protocol}", pickle.dumps({"model": "a/b"}, protocol)
    yield "parquet magic", b"PAR1" + content + b"PAR1"
    yield "html", b"<!doctype html><script>alert(1)</script>"
    yield "csv", b"model,score\na/b,1.0\n"
    yield "yaml", b"model: !!python/object/apply:os.system ['true']\n"
    yield "zeros", b"\x00" * 100_000
    yield "elf", b"\x7fELF" + bytes(200)
    yield "png", b"\x89PNG\r\n\x1a\n" + bytes(200)
    yield "tar", b"evil.jsonl" + bytes(502) + b"ustar\n"


def _cuts(content: bytes) -> Iterator[Case]:
    for share in range(1, 40):
        cut = content[: len(content) * share // 40]
        # a cut just after a line end is a run with missing items, which is allowed
        yield f"cut at {share}/40", cut.rstrip(b"\n")


def _random(content: bytes) -> Iterator[Case]:
    rng = random.Random(1)
    for number in range(60):
        changed = bytearray(content)
        header_end = content.index(b"\n")
        # the signs that hold the header together: any one of them gone must be noticed
        places = [i for i in range(header_end) if content[i] in b'{}[]:,"']
        changed[rng.choice(places)] = rng.choice(b"\x00\x07x~\\")
        yield f"header sign {number}", bytes(changed)
