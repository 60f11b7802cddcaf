"""Wikidata from a dump and from a server in the shape of its API."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from sage_tasks.lexicons.cache import DiskCache
from sage_tasks.lexicons.wikidata import WikidataApi, WikidataDump
from tests.sage_tasks.lexicons import servers
from wordsight.errors import DataError, WordsightError


def entity(number: int, label: str, description: str, links: int, *aliases: str) -> dict[str, Any]:
    return {
        "id": f"Q{number}",
        "type": "item",
        "labels": {"en": {"language": "en", "value": label}},
        "descriptions": {"en": {"language": "en", "value": description}} if description else {},
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]},
        "sitelinks": {f"site{i}": {} for i in range(links)},
    }


ENTITIES = [
    entity(1, "Shadow", "made-up village", 1),
    entity(2, "Shadow", "made-up band", 5),
    entity(3, "Umbra", "made-up film", 2, "shadow"),
    entity(4, "Shadow", "Wikimedia disambiguation page", 90),
    entity(5, "Shadow", "", 80),
    entity(6, "Zoë", "made-up person", 1),
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORDSIGHT_CACHE", str(tmp_path / "cache"))


def dump(path: Path) -> Path:
    """A dump as Wikidata writes it: an array, one entity a line."""
    text = "[\n" + ",\n".join(json.dumps(row) for row in ENTITIES) + "\n]\n"
    content = text.encode()
    if path.suffix == ".gz":
        content = gzip.compress(content)
    if path.suffix == ".bz2":
        content = bz2.compress(content)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", ["d.json", "d.json.gz", "d.json.bz2"])
def test_dump_gives_descriptions_by_name_and_alias_most_linked_first(
    tmp_path: Path, name: str
) -> None:
    lexicon = WikidataDump(dump(tmp_path / name))
    found = lexicon.lookup("shadow")
    assert [(g.key, g.text) for g in found] == [
        ("Q2", "made-up band"),
        ("Q3", "made-up film"),
        ("Q1", "made-up village"),
    ]
    assert [g.key for g in lexicon.lookup("ZOË", "n")] == ["Q6"]
    assert lexicon.lookup("shadow", "v") == []
    assert len(WikidataDump(tmp_path / name, most=1).lookup("Shadow")) == 1


def test_a_changed_dump_is_read_again(tmp_path: Path) -> None:
    path = dump(tmp_path / "d.json")
    assert WikidataDump(path).lookup("Nova") == []
    path.write_text(json.dumps(entity(9, "Nova", "made-up star", 1)) + "\n")
    assert [g.key for g in WikidataDump(path).lookup("Nova")] == ["Q9"]


def test_a_cut_dump_names_file_and_line_and_leaves_no_index(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(ENTITIES[0]) + ',\n{"id": "Q2", "lab')
    for _ in range(2):
        with pytest.raises(DataError, match=r"cut\.json: line 2"):
            WikidataDump(path)


def test_api_keeps_exact_names_says_who_asks_and_asks_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORDSIGHT_CONTACT", "someone@example.org")
    rows = [
        {"id": "Q1", "label": "Shadow", "description": "made-up village", "match": {"text": "x"}},
        {"id": "Q3", "label": "Umbra", "description": "made-up film", "aliases": ["Shadow"]},
        {"id": "Q7", "label": "Shadowland", "description": "longer name", "match": {}},
        {"id": "Q8", "label": "Shadow", "match": {}},
    ]
    with servers.serve(lambda call, params: servers.Reply(200, {"search": rows})) as server:
        lexicon = WikidataApi(server.url, DiskCache(tmp_path / "w.sqlite"))
        assert [g.key for g in lexicon.lookup("Shadow")] == ["Q1", "Q3"]
        assert [g.key for g in lexicon.lookup("Shadow", "n")] == ["Q1", "Q3"]
    assert len(server.requests) == 1
    assert "someone@example.org" in server.requests[0][2]["user-agent"]
    assert server.requests[0][1]["action"] == "wbsearchentities"


def test_api_without_a_contact_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORDSIGHT_CONTACT", raising=False)
    with pytest.raises(WordsightError, match="WORDSIGHT_CONTACT"):
        WikidataApi("http://127.0.0.1:9", DiskCache(tmp_path / "w.sqlite")).lookup("Shadow")


def test_api_errors_are_told_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORDSIGHT_CONTACT", "someone@example.org")
    bodies = [{"error": {"code": "maxlag", "info": "waiting"}}, {"search": []}]
    with servers.serve(lambda call, params: servers.Reply(200, bodies.pop(0))) as server:
        lexicon = WikidataApi(server.url, DiskCache(tmp_path / "w.sqlite"))
        with pytest.raises(WordsightError, match="maxlag"):
            lexicon.lookup("Shadow")
        assert lexicon.lookup("Shadow") == []
