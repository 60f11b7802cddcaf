"""The medical build on a synthetic MIMIC-CXR layout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from symbal_tasks.build import build
from symbal_tasks.facts import sentences
from symbal_tasks.medical import MedicalSources, medical_domain, needed_sentences
from symbal_tasks.mimic import sections
from symbal_tasks.radiology import TextRules, mentions_device, read_radgraph
from symbal_tasks.records import Domain
from symbal_tasks.view import open_benchmark
from tests.symbal_tasks.mimic_layout import DISEASE_SENTENCES, write_layout
from wordsight.errors import DataError


@pytest.fixture(scope="module")
def mimic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mimic")
    write_layout(root)
    return root


@pytest.fixture(scope="module")
def domain(mimic: Path) -> Domain:
    sources = MedicalSources(mimic, devices=mimic / "devices.csv")
    return medical_domain(sources, TextRules(), {})


def _row(domain: Domain, number: int) -> int | None:
    ids = [row.id for row in domain.rows]
    return ids.index(f"d{number:06d}") if f"d{number:06d}" in ids else None


def test_the_last_of_two_headings_counts() -> None:
    text = " FINDINGS: \n Clear.\n\n IMPRESSION: \n Old.\n\n IMPRESSION: \n \n New\n text.\n"
    assert sections(text) == {"findings": "Clear.", "impression": "New text."}
    assert sections(text.replace("\n", "\r\n")) == sections(text)


def test_only_usable_frontal_test_pictures_stay(domain: Domain) -> None:
    for number in (0, 1, 2, 3, 6, 9):
        assert _row(domain, number) is None, number
    assert len(domain.rows) == 300 - 6
    assert domain.skipped == {
        "no report file": 1,
        "no impression in the report": 1,
        "no sentence of the impression states a present entity": 1,
        "picture not in the devices table": 1,
    }


def test_captions_hold_present_entities_only(domain: Domain) -> None:
    number = _row(domain, 4)
    assert number is not None
    assert domain.rows[number].caption == ("Heart size is normal.",)
    assert "pacemaker leads" in domain.rows[number].reference
    assert "well expanded" in domain.rows[number].reference
    assert not any("No acute" in s for row in domain.rows for s in row.caption)
    assert domain.rows[number].file == "files/p10/p10000004/s50000004/d000004.jpg"


def test_uncertain_and_physician_labels_count_as_present(domain: Domain) -> None:
    for number in (7, 8):
        assert _row(domain, number) in domain.present["cardiomegaly"]
        assert _row(domain, number) not in domain.present["edema"]
    for i, row in enumerate(domain.rows):
        stated = DISEASE_SENTENCES["Pneumothorax"] in row.caption
        assert (i in domain.present["pneumothorax"]) is stated


def test_wordings_are_the_frequent_training_sentences(domain: Domain) -> None:
    for name, sentence in DISEASE_SENTENCES.items():
        assert domain.sentences[name.lower()][0] == sentence
    everything = [s for texts in domain.sentences.values() for s in texts]
    assert not any("___" in s or s.startswith("No ") for s in everything)


def test_whole_build(mimic: Path, tmp_path: Path) -> None:
    sources = MedicalSources(mimic, devices=mimic / "devices.csv")
    lines = list(build(sources, tmp_path / "out"))
    report = json.loads((tmp_path / "out" / "report_medical.json").read_text())
    assert report["facts"]["settings"] + report["facts"]["settings not reachable"] == 75
    benchmark = open_benchmark(tmp_path / "out", "medical")
    assert len(benchmark.settings) == report["facts"]["settings"] > 30
    assert all(abs(s.achieved - s.strength) <= 0.02 for s in benchmark.settings)
    assert any("built in" in line for line in lines)
    setting = benchmark.settings[0]
    spoiled = benchmark.captions(setting)[setting.rows[0]]
    assert TextRules().states(spoiled, setting.t)
    assert "do\nnot publish it" in (tmp_path / "out" / "README.md").read_text()


def test_device_text_matcher(mimic: Path) -> None:
    table = medical_domain(MedicalSources(mimic, devices=mimic / "devices.csv"), TextRules(), {})
    matched = medical_domain(MedicalSources(mimic), TextRules(), {})
    found = {row.id: set(row.features) for row in matched.rows}
    assert all(found[row.id] == set(row.features) for row in table.rows)
    assert mentions_device("ET tube ends above the carina.", "endotracheal tube")
    assert not mentions_device("The chest tube has been removed.", "chest tube")
    assert not mentions_device("No pacemaker.", "pacemaker")


@pytest.mark.parametrize(
    ("sentence", "present"),
    [
        ("Mild pulmonary edema.", True),
        ("No edema.", False),
        ("Possible edema.", False),
        ("Edema has resolved.", False),
        ("No effusion, but edema persists.", True),
    ],
)
def test_text_rules(sentence: str, present: bool) -> None:
    assert TextRules().states(sentence, "edema") is present


def test_radgraph_output(mimic: Path, tmp_path: Path) -> None:
    sources = MedicalSources(mimic, devices=mimic / "devices.csv")
    needed = needed_sentences(sources)
    rules = TextRules()
    output = {"model": "radgraph-xl"} | {
        str(k): {
            # the tool puts spaces around punctuation
            "text": sentence.replace(".", " .").replace(",", " ,"),
            "entities": {
                "1": {
                    "tokens": next(
                        (w for w in ("edema", "cardiomegaly") if w in sentence), "lungs"
                    ),
                    "label": "Observation::definitely present"
                    if rules.any_present(sentence)
                    else "OBS-DA",
                }
            },
        }
        for k, sentence in enumerate(needed)
    }
    path = tmp_path / "radgraph.json"
    path.write_text(json.dumps(output))
    entities = read_radgraph(path)
    domain = medical_domain(sources, entities, {})
    assert len(domain.rows) == 300 - 6
    assert domain.sentences["edema"][0] == DISEASE_SENTENCES["Edema"]
    # the made-up output knows two diseases only
    assert domain.sentences["atelectasis"] == ()
    with pytest.raises(DataError, match="write-sentences"):
        entities.any_present("A sentence that was never analysed.")
    path.write_text("[]")
    with pytest.raises(DataError, match="not RadGraph output"):
        read_radgraph(path)


def test_missing_and_broken_tables_are_named(mimic: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"mimic-cxr-2\.0\.0-split"):
        MedicalSources(tmp_path).load("paper", 0)
    with pytest.raises(DataError, match="--mimic"):
        MedicalSources(None).load("paper", 0)
    table = tmp_path / "devices.csv"
    table.write_text("dicom_id,pacemaker\nd1,1\n")
    with pytest.raises(DataError, match="no column chest tube"):
        MedicalSources(mimic, devices=table).load("paper", 0)
    text = (mimic / "devices.csv").read_text().splitlines()
    table.write_text("\n".join([text[0], text[1].replace(",1,", ",yes,", 1)]))
    with pytest.raises(DataError, match="line 2: pacemaker is 'yes'"):
        MedicalSources(mimic, devices=table).load("paper", 0)


def test_needed_sentences_cover_the_base(mimic: Path) -> None:
    needed = set(needed_sentences(MedicalSources(mimic)))
    assert set(sentences("Heart size is normal. Mild pulmonary edema.")) <= needed
