"""WordNet from its database files."""

from __future__ import annotations

from pathlib import Path
from zipfile import Path as ZipPath
from zipfile import ZipFile

import pytest

from sage_tasks.build.pipeline import Options, dry_run
from sage_tasks.build.report import SenseCounter
from sage_tasks.build.vwsd import read_vwsd
from sage_tasks.lexicons.wordnet import VARIABLE, WordNet, find_wordnet
from wordsight.errors import DataError


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    try:
        return find_wordnet()
    except DataError as error:
        pytest.skip(str(error))


@pytest.fixture
def version_3_0(wordnet: WordNet) -> WordNet:
    if wordnet.version != "3.0":
        pytest.skip(f"figures are those of WordNet 3.0, installed is {wordnet.version}")
    return wordnet


def test_senses_come_in_wordnets_order(version_3_0: WordNet) -> None:
    glosses = version_3_0.lookup("bank", "n")
    assert glosses[0].key == "09213565-n"
    assert glosses[0].text == "sloping land (especially the slope beside a body of water)"
    assert glosses[1].text.startswith("a financial institution that accepts deposits")
    assert len(glosses) == 10


def test_any_part_of_speech_is_the_sum_of_all(wordnet: WordNet) -> None:
    by_part = [wordnet.lookup("bank", pos) for pos in "nvar"]
    assert wordnet.lookup("bank") == [gloss for glosses in by_part for gloss in glosses]
    assert by_part[1]


@pytest.mark.parametrize(
    ("form", "base", "pos"),
    [
        ("swung", "swing", "v"),  # irregular
        ("geese", "goose", "n"),
        ("churches", "church", "n"),
        ("Horses", "horse", "n"),
        ("tying", "tie", "v"),
        ("biggest", "big", "a"),
    ],
)
def test_inflected_forms_find_their_base(wordnet: WordNet, form: str, base: str, pos: str) -> None:
    found = [gloss.key for gloss in wordnet.lookup(form, pos)]
    assert found
    assert set(found) >= {gloss.key for gloss in wordnet.lookup(base, pos)}


def test_several_words_and_unknown_terms(wordnet: WordNet) -> None:
    assert wordnet.lookup("hot dog", "n")
    assert wordnet.lookup("Union County New Mexico") == []
    assert wordnet.lookup("") == []


def test_examples_are_no_part_of_the_gloss(wordnet: WordNet) -> None:
    assert all('"' not in gloss.text for gloss in wordnet.lookup("play", "v"))


def test_names_are_told_from_classes(wordnet: WordNet) -> None:
    assert wordnet.coarse_tag("Paris") == "PROPN"
    assert wordnet.coarse_tag("city") == "NOUN"
    assert wordnet.coarse_tag("persuade") == "VERB"
    assert wordnet.coarse_tag("zzzz") == "OTHER"


@pytest.mark.shared_data
def test_table_15_for_vwsd(version_3_0: WordNet, shared: Path) -> None:
    source = read_vwsd(shared / "data" / "vwsd", pictures=False)
    counter = SenseCounter("wordnet", "3.0", lambda term: len(version_3_0.lookup(term)))
    report = dry_run(source, Options(lexicons=[counter]))
    figures = report["lexicons"]["wordnet"]["splits"]["test"]
    assert round(figures["ambiguity"], 2) == 6.94
    assert round(figures["coverage"], 2) == 97.84


def test_a_database_without_exceptions_still_works(wordnet: WordNet, tmp_path: Path) -> None:
    for name in ("noun", "verb", "adj", "adv"):
        for kind in ("index", "data"):
            (tmp_path / f"{kind}.{name}").write_bytes(
                (wordnet.folder / f"{kind}.{name}").read_bytes()
            )
    bare = WordNet(tmp_path)
    assert bare.lookup("horses", "n") == wordnet.lookup("horses", "n")
    assert bare.lookup("geese", "n") == []


def test_the_zip_that_nltk_downloads_is_read(
    wordnet: WordNet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "corpora").mkdir()
    with ZipFile(tmp_path / "corpora" / "wordnet.zip", "w") as packed:
        for name in ("noun", "verb", "adj", "adv"):
            for file in (f"index.{name}", f"data.{name}", f"{name}.exc"):
                packed.writestr(f"wordnet/{file}", (wordnet.folder / file).read_bytes())
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    found = find_wordnet()
    assert isinstance(found.folder, ZipPath)
    assert found.lookup("swung", "v") == wordnet.lookup("swung", "v")


def test_mixed_versions_are_noticed(wordnet: WordNet, tmp_path: Path) -> None:
    for name in ("noun", "verb", "adj", "adv"):
        for kind in ("index", "data"):
            (tmp_path / f"{kind}.{name}").write_bytes(
                (wordnet.folder / f"{kind}.{name}").read_bytes()
            )
    (tmp_path / "data.noun").unlink()
    (tmp_path / "data.noun").write_bytes((wordnet.folder / "data.noun").read_bytes()[40:])
    with pytest.raises(DataError, match="different versions"):
        WordNet(tmp_path).lookup("bank", "n")


def test_a_missing_wordnet_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(DataError, match="apt-get install wordnet-base"):
        find_wordnet()
