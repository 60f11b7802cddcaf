"""What the project's pages show: their blocks, their commands, and what looks like a command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from tests.conftest import ROOT

PROGRAMS = (
    "wordsight|lmms-eval|python3?|pip|make|apt-get|npm|npx|git|docker|ollama|vllm|ray|ruff|mypy"
    "|pytest|pre-commit|export"
)
_COMMAND = re.compile(rf"(?:\$ )?(?:sudo )?(?:[A-Z_]+=\S* )*(?:{PROGRAMS})(?: |$)")
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page where it starts."""

    language: str
    text: str
    line: int

    @property
    def commands(self) -> list[str]:
        """The lines after "$ " of a console block, continued lines joined."""
        if self.language != "console":
            return []
        lines = self.text.replace("\\\n", " ").splitlines()
        return [" ".join(line[2:].split()) for line in lines if line.startswith("$ ")]


def all_pages() -> list[str]:
    """The pages for readers, relative to the checkout."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
    return [str(page.relative_to(ROOT)) for page in pages]


def read_page(page: str) -> str:
    """Text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(text: str) -> list[Block]:
    """All fenced blocks of a page, in order."""
    return [
        Block(match[1], match[2], text.count("\n", 0, match.start()) + 1)
        for match in _FENCE.finditer(text)
    ]


def prose(text: str) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", text)


def inline_commands(text: str) -> list[str]:
    """Code spans of the prose that begin as a command does and go on after the program's name."""
    spans = (span.replace("\n", " ") for span in re.findall(r"`([^`]+)`", prose(text)))
    return [span for span in spans if " " in span and _COMMAND.match(span)]


def out_of_form(text: str) -> Iterator[str]:
    """Lines of fenced blocks that look like a command and would not be found by ``commands``."""
    for block in blocks(text):
        continued = False
        for offset, line in enumerate(block.text.splitlines(), block.line + 1):
            shown = block.language == "console" and line.startswith("$ ")
            if _COMMAND.match(line.strip()) and not shown and not continued:
                yield f"line {offset}, no `$ ` in a console block: {line}"
            if shown and "#" in shlex.split(line[2:].rstrip("\\")):
                yield f"line {offset}, a remark on a command line: {line}"
            continued = (shown or continued) and line.endswith("\\")
        if block.language == "python" and ">>>" not in block.text:
            yield f"line {block.line}, Python without >>> is not run"
