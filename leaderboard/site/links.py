"""Where pages are: absolute on a server, relative in a folder that opens from disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote, urlencode


class Links(Protocol):
    """What the templates may link to."""

    def style(self) -> str: ...
    def home(self) -> str: ...
    def about(self) -> str: ...
    def published(self) -> str: ...
    def signs(self) -> str: ...
    def submit(self) -> str: ...
    def task(self, task: str) -> str: ...
    def parts(self, task: str) -> str: ...
    def item(self, task: str, item: str) -> str: ...
    def picture(self, task: str, picture: str) -> str: ...
    def compare(self, task: str, a: str = "", b: str = "") -> str: ...


@dataclass(frozen=True)
class ServerLinks:
    """Links of the running service."""

    def style(self) -> str:
        return "/style.css"

    def home(self) -> str:
        return "/"

    def about(self) -> str:
        return "/about"

    def published(self) -> str:
        return "/published"

    def signs(self) -> str:
        return "/signs"

    def submit(self) -> str:
        return "/submit"

    def task(self, task: str) -> str:
        return f"/tasks/{quote(task)}"

    def parts(self, task: str) -> str:
        return f"/parts/{quote(task)}"

    def item(self, task: str, item: str) -> str:
        return f"/tasks/{quote(task)}/{quote(item)}"

    def picture(self, task: str, picture: str) -> str:
        return f"/api/v1/tasks/{quote(task)}/pictures/{quote(picture)}"

    def compare(self, task: str, a: str = "", b: str = "") -> str:
        chosen = {k: v for k, v in (("task", task), ("a", a), ("b", b)) if v}
        return f"/compare?{urlencode(chosen)}"


@dataclass(frozen=True)
class StaticLinks:
    """Relative links from a page ``depth`` folders below the root; pictures by file name."""

    depth: int
    files: dict[str, str]

    @property
    def _root(self) -> str:
        return "../" * self.depth

    def style(self) -> str:
        return f"{self._root}style.css"

    def home(self) -> str:
        return f"{self._root}index.html"

    def about(self) -> str:
        return f"{self._root}about.html"

    def published(self) -> str:
        return f"{self._root}published.html"

    def signs(self) -> str:
        return f"{self._root}signs.html"

    def submit(self) -> str:
        """Files cannot take submissions: no page."""
        return ""

    def task(self, task: str) -> str:
        return f"{self._root}tasks/{task}/index.html"

    def parts(self, task: str) -> str:
        return f"{self._root}tasks/{task}/parts.html"

    def item(self, task: str, item: str) -> str:
        return f"{self._root}tasks/{task}/{item}.html"

    def picture(self, task: str, picture: str) -> str:
        return f"{self._root}pictures/{self.files[picture]}"

    def compare(self, task: str, a: str = "", b: str = "") -> str:
        target = f"{self._root}tasks/{task}/compare.html"
        return f"{target}#{urlencode({'a': a, 'b': b})}" if a or b else target
