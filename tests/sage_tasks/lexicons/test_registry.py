"""What every lexicon must do, and opening them by name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sage_tasks.lexicons.base import Lexicon
from sage_tasks.lexicons.ontonotes import OntoNotes
from sage_tasks.lexicons.registry import LEXICONS, open_lexicon
from tests.sage_tasks.lexicons.test_wikidata import ENTITIES
from wordsight.errors import DataError, WordsightError

SENSES = (
    "lemma\tsense_num\tdefinition\tontonotes_sense_examples\tvisualness_label\r\n"
    'bank\t1\tput money away\t"He banked it.\nShe banked it."\t0.0\r\n'
    "bank\t2\ttilt an aircraft\t\t1.0\n"
    "bank\t2\tsecond line of the same sense\t\t1.0\n"
    "bank\t7.10\trely on\t\t0.0\n"
)


@pytest.fixture
def senses(tmp_path: Path) -> Path:
    path = tmp_path / "verse_visualness_labels.csv"
    path.write_bytes(SENSES.encode())
    return path


@pytest.fixture(params=sorted(LEXICONS))
def lexicon(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    senses: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Lexicon]:
    """Each lexicon of the registry, made to know "bank" or "shadow"."""
    from sage_tasks.lexicons.wordnet import find_wordnet
    from tests.sage_tasks.lexicons import servers

    monkeypatch.setenv("WORDSIGHT_CACHE", str(tmp_path / "cache"))
    files: dict[str, Path] = {"ontonotes": senses}
    if request.param == "wikidata":
        files["wikidata"] = tmp_path / "dump.json"
        files["wikidata"].write_text("".join(json.dumps(row) + "\n" for row in ENTITIES))
    if request.param == "wordnet":
        try:
            find_wordnet()
        except DataError as error:
            pytest.skip(str(error))
    with servers.serve(servers.BabelNetService()) as server:
        monkeypatch.setenv("BABELNET_URL", server.url)
        monkeypatch.setenv("BABELNET_API_KEY", "good-key")
        opened = open_lexicon(request.param, **files)
        assert opened is not None
        yield opened


def test_common_checks(lexicon: Lexicon) -> None:
    term = "Shadows" if lexicon.name == "wikidata" else "Banks"
    pos = "v" if lexicon.name == "ontonotes" else "n"
    found = lexicon.lookup(term, pos)
    assert found
    assert lexicon.lookup(term, pos) == found
    assert {gloss.source for gloss in found} == {lexicon.name}
    assert len({gloss.key for gloss in found}) == len(found)
    assert all(gloss.text == " ".join(gloss.text.split()) != "" for gloss in found)
    assert lexicon.lookup("qzxv qzxv", pos) == []


def test_ontonotes_reads_the_file_as_it_is(senses: Path) -> None:
    found = OntoNotes(senses).lookup("bank")
    assert [(g.key, g.text) for g in found] == [
        ("bank.1", "put money away"),
        ("bank.2", "tilt an aircraft"),
        ("bank.7.10", "rely on"),
    ]
    assert OntoNotes(senses).lookup("bank", "n") == []


def test_several_lexicons_one_after_the_other(senses: Path, tmp_path: Path) -> None:
    from sage_tasks.lexicons.registry import Combined

    twice = Combined([OntoNotes(senses), OntoNotes(senses)])
    assert twice.name == "ontonotes+ontonotes"
    assert len(twice.lookup("bank")) == 6


def test_names_that_do_not_exist_and_files_that_are_missing() -> None:
    assert open_lexicon("none") is None
    with pytest.raises(WordsightError, match="'wordnett'; choose from wordnet"):
        open_lexicon("wordnett")
    with pytest.raises(WordsightError, match="ontonotes=FILE"):
        open_lexicon("ontonotes")
