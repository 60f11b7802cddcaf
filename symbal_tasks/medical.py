"""The medical domain: frontal radiographs of MIMIC-CXR's test split (Appendix B)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from symbal_tasks.facts import sentences
from symbal_tasks.mimic import (
    Labels,
    Radiograph,
    has_table,
    read_labels,
    read_radiographs,
    read_report,
    read_table,
)
from symbal_tasks.radiology import (
    DEVICES,
    DISEASES,
    Entities,
    TextRules,
    mentions_device,
    read_radgraph,
)
from symbal_tasks.records import BaseRow, Domain, Pair
from symbal_tasks.settings import paper_pairs
from wordsight.errors import DataError

WORDINGS = 50
CHEXPERT = "mimic-cxr-2.0.0-chexpert"
PHYSICIANS = "mimic-cxr-2.1.0-test-set-labeled"


@dataclass(frozen=True)
class MedicalSources:
    """A MIMIC-CXR copy.

    reports : root of the ``files`` tree of reports; the same root when None.
    devices : CSV with dicom_id and one 0/1 column per device, or None for the text matcher.
    radgraph : RadGraph-XL output over the sentences, or None for word lists.
    """

    root: Path | None
    reports: Path | None = None
    devices: Path | None = None
    radgraph: Path | None = None

    def load(self, pairs: str, seed: int) -> tuple[Domain, tuple[Pair, ...]]:
        """Read tables and reports. Raises DataError naming what is missing."""
        if self.root is None:
            raise DataError("--domain medical needs --mimic, the folder of your MIMIC-CXR-JPG copy")
        if pairs == "sample":
            raise DataError("--pairs sample is for the natural domain; use 'paper' or a CSV")
        from symbal_tasks.build import pairs_source, read_pairs

        chosen = paper_pairs("medical") if pairs == "paper" else read_pairs(Path(pairs))
        _check_names(chosen)
        entities: Entities = read_radgraph(self.radgraph) if self.radgraph else TextRules()
        domain = medical_domain(self, entities, {"seed": seed, "pairs": pairs_source(pairs)})
        return domain, chosen

    def other_rules(self, chosen: Sequence[Pair], seed: int) -> Iterator[tuple[str, Domain]]:
        """None: a disease is present by its label alone."""
        del chosen, seed
        yield from ()


def medical_domain(
    sources: MedicalSources, entities: Entities, recipe: Mapping[str, object]
) -> Domain:
    """Base (impressions of frontal test pictures), where each disease is present, its wordings."""
    assert sources.root is not None
    root, reports = sources.root, sources.reports or sources.root
    radiographs = read_radiographs(root)
    chexpert = read_labels(root, CHEXPERT)
    physicians = read_labels(root, PHYSICIANS) if has_table(root, PHYSICIANS) else {}
    shown = _devices(sources.devices) if sources.devices else None
    skipped: Counter[str] = Counter()
    rows: list[BaseRow] = []
    present: dict[str, set[int]] = {t: set() for t in DISEASES}
    for radiograph in (r for r in radiographs if r.split == "test"):
        made = _row(radiograph, reports, entities, shown)
        if isinstance(made, str):
            skipped[made] += 1
            continue
        for t in DISEASES:
            labels = (
                chexpert.get(radiograph.study, {}),
                physicians.get(radiograph.study, {}),
            )
            if any(_may_hold(found, t) for found in labels) or any(
                entities.states(sentence, t) for sentence in made.caption
            ):
                present[t].add(len(rows))
        rows.append(made)
    if not rows:
        raise DataError(f"{root}: no frontal test picture with an impression ({dict(skipped)})")
    train = [r for r in radiographs if r.split == "train"]
    return Domain(
        name="medical",
        rows=tuple(rows),
        present={t: frozenset(found) for t, found in present.items()},
        sentences=disease_sentences(train, reports, chexpert, entities),
        skipped=dict(skipped),
        recipe={
            "entities": "radgraph" if sources.radgraph else "word lists",
            "devices": "table" if sources.devices else "text matcher",
            "physician labels": bool(physicians),
            **recipe,
        },
    )


def disease_sentences(
    train: Iterable[Radiograph],
    reports: Path,
    chexpert: Mapping[str, Labels],
    entities: Entities,
) -> dict[str, tuple[str, ...]]:
    """For each disease the 50 most frequent sentences of training reports that state it."""
    counts: dict[str, Counter[str]] = {t: Counter() for t in DISEASES}
    wording: dict[str, str] = {}
    for study, labels, sentence in _stating(train, reports, chexpert):
        del study
        key = sentence.lower()
        for t in DISEASES:
            if labels.get(t) == 1 and entities.states(sentence, t):
                counts[t][key] += 1
                wording.setdefault(key, sentence)
    return {
        t: tuple(
            wording[key] for key in sorted(found, key=lambda key: (-found[key], key))[:WORDINGS]
        )
        for t, found in counts.items()
    }


def needed_sentences(sources: MedicalSources) -> list[str]:
    """Every distinct sentence that RadGraph-XL has to be run on, in a fixed order."""
    if sources.root is None:
        raise DataError("--write-sentences needs --mimic, the folder of your MIMIC-CXR-JPG copy")
    reports = sources.reports or sources.root
    radiographs = read_radiographs(sources.root)
    found: set[str] = set()
    for radiograph in (r for r in radiographs if r.split == "test"):
        report = read_report(reports, radiograph) or {}
        for section in ("findings", "impression"):
            found.update(sentences(report.get(section, "")))
    chexpert = read_labels(sources.root, CHEXPERT)
    train = [r for r in radiographs if r.split == "train"]
    found.update(sentence for _, _, sentence in _stating(train, reports, chexpert))
    return sorted(found)


def _stating(
    train: Iterable[Radiograph], reports: Path, chexpert: Mapping[str, Labels]
) -> Iterable[tuple[str, Labels, str]]:
    rules = TextRules()
    studies: dict[str, Radiograph] = {r.study: r for r in train}
    for study, radiograph in sorted(studies.items()):
        labels = chexpert.get(study, {})
        if not any(labels.get(t) == 1 for t in DISEASES):
            continue
        report = read_report(reports, radiograph) or {}
        for section in ("findings", "impression"):
            for sentence in sentences(report.get(section, "")):
                # "___" stands for removed personal data: such a sentence fits no other report
                if "___" not in sentence and any(rules.states(sentence, t) for t in DISEASES):
                    yield study, labels, sentence


def _row(
    radiograph: Radiograph,
    reports: Path,
    entities: Entities,
    shown: Mapping[str, tuple[str, ...]] | None,
) -> BaseRow | str:
    report = read_report(reports, radiograph)
    if report is None:
        return "no report file"
    if not report.get("impression"):
        return "no impression in the report"
    impression = [s for s in sentences(report["impression"]) if entities.any_present(s)]
    if not impression:
        return "no sentence of the impression states a present entity"
    if shown is None:
        text = " ".join(report.values())
        devices = tuple(name for name in DEVICES if mentions_device(text, name))
    elif radiograph.dicom in shown:
        devices = shown[radiograph.dicom]
    else:
        return "picture not in the devices table"
    findings = [s for s in sentences(report.get("findings", "")) if entities.any_present(s)]
    return BaseRow(
        id=radiograph.dicom,
        file=f"{radiograph.folder}/{radiograph.dicom}.jpg",
        width=radiograph.width,
        height=radiograph.height,
        caption=tuple(impression),
        reference=" ".join([*findings, *impression]),
        features=devices,
        licence="PhysioNet credentialed",
    )


def _may_hold(labels: Labels, disease: str) -> bool:
    # uncertain (-1) is not free of the disease: naming it there would be no sure error
    return labels.get(disease, 0) in (1, -1)


def _devices(path: Path) -> dict[str, tuple[str, ...]]:
    shown: dict[str, list[str]] = defaultdict(list)
    for number, row in enumerate(read_table(path, ("dicom_id",)), 2):
        columns = {key.lower().replace("_", " ").strip(): value for key, value in row.items()}
        missing = [name for name in DEVICES if name not in columns]
        if missing:
            raise DataError(f"{path}: no column {', '.join(missing)}")
        shown[row["dicom_id"]] = []
        for name in DEVICES:
            value = (columns[name] or "").strip()
            if value not in ("0", "1", "0.0", "1.0"):
                raise DataError(f"{path}: line {number}: {name} is {value!r}, not 0 or 1")
            if float(value):
                shown[row["dicom_id"]].append(name)
    return {key: tuple(names) for key, names in shown.items()}


def _check_names(pairs: Sequence[Pair]) -> None:
    for pair in pairs:
        if pair.t not in DISEASES or pair.v not in DEVICES:
            raise DataError(
                f"pair {pair.t!r}, {pair.v!r}: t must be one of {', '.join(DISEASES)} and v one of "
                f"{', '.join(DEVICES)}"
            )
