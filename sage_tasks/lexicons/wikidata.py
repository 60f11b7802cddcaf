"""Wikidata's short descriptions of entities, from its API or a dump (CC0).

They are what Wikipedia shows under an article's title, and stand in for the entity glosses of
lexicons that may not be passed on.
"""

from __future__ import annotations

import bz2
import gzip
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from sage_tasks.lexicons.base import Gloss
from sage_tasks.lexicons.cache import DiskCache, cache_folder, content_key
from sage_tasks.lexicons.web import get_json
from wordsight import __version__
from wordsight.errors import DataError, WordsightError

CONTACT = "WORDSIGHT_CONTACT"
API = "https://www.wikidata.org/w/api.php"
# Pages about pages are no meaning of anything.
_PAGES = ("wikimedia disambiguation page", "wikimedia category", "wikimedia list article")


class WikidataApi:
    """Search for entities by name.

    Raises WordsightError when a request is needed and ``WORDSIGHT_CONTACT`` is not set: Wikimedia
    refuses clients that do not say how to reach whoever runs them.
    """

    name = "wikidata"

    def __init__(self, url: str = API, cache: DiskCache | None = None, most: int = 20) -> None:
        import httpx

        self._url = url
        self._cache = cache or DiskCache(cache_folder() / "wikidata.sqlite")
        self._most = most
        self._contact = os.environ.get(CONTACT, "")
        agent = f"wordsight/{__version__} ({self._contact}) httpx/{httpx.__version__}"
        self._client = httpx.Client(timeout=60.0, headers={"User-Agent": agent})

    def lookup(self, term: str, pos: str = "") -> list[Gloss]:
        """Descriptions of entities whose English name or alias is ``term``; nouns only."""
        if pos not in ("", "n"):
            return []
        params = {
            "action": "wbsearchentities",
            "search": term,
            "language": "en",
            "uselang": "en",
            "type": "item",
            "limit": str(self._most),
            "format": "json",
            "maxlag": "5",
        }
        answer = self._get(params)
        try:
            rows = answer["search"]
            return [
                Gloss("wikidata", str(row["id"]), str(row["description"]))
                for row in rows
                if row.get("description") and _is_meaning(row["description"]) and _named(row, term)
            ]
        except (TypeError, LookupError, AttributeError):
            raise WordsightError(f"{self._url}: not a search result: {str(answer)[:200]}") from None

    def _get(self, params: dict[str, str]) -> Any:
        key = content_key("wikidata", params)
        kept = self._cache.get(key)
        if kept is not None:
            return json.loads(kept)
        if not self._contact:
            raise WordsightError(
                f"Wikidata's API wants to know whom to reach: set {CONTACT} to an e-mail address "
                "or a page of yours, or give a dump with wikidata=FILE"
            )
        answer = get_json(self._client, self._url, params)
        if isinstance(answer, dict) and "error" in answer:
            raise WordsightError(f"{self._url}: {str(answer['error'])[:300]}")
        self._cache.put(key, json.dumps(answer))
        return answer


class WikidataDump:
    """Descriptions from a dump file: one entity as JSON per line, as Wikidata's own dumps are
    (``.json``, ``.json.gz``, ``.json.bz2``), whole or a part.

    The first use reads the file once and keeps an index of English names in the cache folder.
    """

    name = "wikidata"

    def __init__(self, path: Path, most: int = 20) -> None:
        if not path.is_file():
            raise DataError(f"{path}: no such Wikidata dump")
        self._most = most
        stat = path.stat()
        key = content_key(str(path.resolve()), stat.st_size, stat.st_mtime_ns)[:16]
        index = cache_folder() / f"wikidata-{key}.sqlite"
        if not index.is_file():
            _build_index(path, index)
        self._db = sqlite3.connect(index)

    def lookup(self, term: str, pos: str = "") -> list[Gloss]:
        """Descriptions of entities of that name, those with most Wikipedia articles first."""
        if pos not in ("", "n"):
            return []
        rows = self._db.execute(
            "SELECT DISTINCT entities.id, description FROM names "
            "JOIN entities ON names.id = entities.id "
            "WHERE name = ? ORDER BY links DESC, entities.id LIMIT ?",
            (_name(term), self._most),
        )
        return [Gloss("wikidata", identifier, text) for identifier, text in rows]


def _build_index(path: Path, index: Path) -> None:
    index.parent.mkdir(parents=True, exist_ok=True)
    # A name of its own until it is whole: a reader never sees half an index.
    part = index.with_suffix(f".{os.getpid()}.part")
    part.unlink(missing_ok=True)
    database = sqlite3.connect(part)
    with database:
        database.execute("CREATE TABLE entities (id TEXT PRIMARY KEY, description TEXT, links INT)")
        database.execute("CREATE TABLE names (name TEXT, id TEXT)")
        for identifier, description, links, names in _entities(path):
            database.execute(
                "INSERT OR REPLACE INTO entities VALUES (?, ?, ?)", (identifier, description, links)
            )
            database.executemany(
                "INSERT INTO names VALUES (?, ?)", [(name, identifier) for name in names]
            )
        database.execute("CREATE INDEX by_name ON names (name)")
    database.close()
    part.replace(index)


def _entities(path: Path) -> Iterator[tuple[str, str, int, set[str]]]:
    with _open(path) as lines:
        for number, line in enumerate(lines, 1):
            # The dump is one JSON array, an entity per line: "[", then lines ending in a comma.
            text = line.strip().rstrip(",")
            if text in ("", "[", "]"):
                continue
            try:
                entity = json.loads(text)
                description = entity.get("descriptions", {}).get("en", {}).get("value", "")
                label = entity.get("labels", {}).get("en", {}).get("value", "")
                aliases = [alias["value"] for alias in entity.get("aliases", {}).get("en", [])]
                links = len(entity.get("sitelinks", {}))
                identifier = str(entity["id"])
            except (ValueError, LookupError, AttributeError, TypeError) as error:
                raise DataError(
                    f"{path}: line {number}: not an entity of a Wikidata dump ({error!r})"
                ) from None
            names = {_name(name) for name in (label, *aliases) if name}
            if description and names and _is_meaning(description):
                yield identifier, description, links, names


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    if path.suffix == ".bz2":
        return bz2.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _name(text: str) -> str:
    return " ".join(text.casefold().split())


def _named(row: dict[str, Any], term: str) -> bool:
    match = row.get("match") or {}
    names = [row.get("label", ""), match.get("text", ""), *(row.get("aliases") or [])]
    return _name(term) in {_name(str(name)) for name in names}


def _is_meaning(description: str) -> bool:
    return not description.lower().startswith(_PAGES)
