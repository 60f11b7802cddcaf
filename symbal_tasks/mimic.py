"""Reading the MIMIC-CXR layout: tables, frontal pictures, sections of reports.

Nothing of MIMIC-CXR is shipped; the reader works on the user's own copy (MIMIC-CXR-JPG's tables,
with the reports of MIMIC-CXR under the same ``files`` tree or a separate one).
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from wordsight.errors import DataError

FRONTAL = frozenset({"AP", "PA"})
_HEADING = re.compile(r"\n ([A-Z ()/,-]+):\s")

Labels = Mapping[str, float]


@dataclass(frozen=True)
class Radiograph:
    """One frontal picture and where it belongs."""

    dicom: str
    subject: str
    study: str
    width: int
    height: int
    split: str

    @property
    def folder(self) -> str:
        """ "files/p10/p10000032/s50414267"."""
        return f"files/p{self.subject[:2]}/p{self.subject}/s{self.study}"


def read_radiographs(root: Path) -> tuple[Radiograph, ...]:
    """Frontal pictures (ViewPosition AP or PA) of every split, ordered by their ids.

    Raises DataError when a table is missing or lacks a column.
    """
    splits = {
        row["dicom_id"]: row["split"]
        for row in _rows(root, "mimic-cxr-2.0.0-split", ("dicom_id", "split"))
    }
    needed = ("dicom_id", "subject_id", "study_id", "ViewPosition")
    found = [
        Radiograph(
            dicom=row["dicom_id"],
            subject=row["subject_id"],
            study=row["study_id"],
            width=int(row.get("Columns") or 1),
            height=int(row.get("Rows") or 1),
            split=splits[row["dicom_id"]],
        )
        for row in _rows(root, "mimic-cxr-2.0.0-metadata", needed)
        if row["ViewPosition"].strip().upper() in FRONTAL and row["dicom_id"] in splits
    ]
    return tuple(sorted(found, key=lambda r: (r.subject, r.study, r.dicom)))


def read_labels(root: Path, table: str) -> dict[str, Labels]:
    """Labels of each study: 1 present, 0 negated, -1 uncertain; unmentioned ones are left out.

    ``table`` is "mimic-cxr-2.0.0-chexpert", "...-negbio" or "mimic-cxr-2.1.0-test-set-labeled".
    Column names come back in lower case.
    """
    keys = {"study_id", "subject_id", "dicom_id"}
    labels: dict[str, Labels] = {}
    for row in _rows(root, table, ("study_id",)):
        labels[row["study_id"]] = {
            name.lower(): float(value)
            for name, value in row.items()
            if name not in keys and value.strip()
        }
    return labels


def has_table(root: Path, table: str) -> bool:
    """Whether a table is there, packed or not."""
    return any((root / f"{table}{ending}").is_file() for ending in (".csv.gz", ".csv"))


def sections(report: str) -> dict[str, str]:
    """Sections of a report by lower-case heading; of a repeated heading the last one counts."""
    text = "\n" + report.replace("\r\n", "\n")
    marks = list(_HEADING.finditer(text))
    found = {}
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        found[mark.group(1).strip().lower()] = re.sub(r"\s+", " ", text[mark.end() : end]).strip()
    return found


def read_report(reports: Path, radiograph: Radiograph) -> dict[str, str] | None:
    """Sections of a picture's report, or None where the file is missing."""
    path = reports / f"{radiograph.folder}.txt"
    try:
        return sections(path.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return None


def read_table(path: Path, needed: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Rows of a CSV, packed or not. Raises DataError naming a missing file or column."""
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    packed = path.suffix == ".gz"
    with (
        gzip.open(path, "rt", encoding="utf-8-sig", newline="")
        if packed
        else path.open(encoding="utf-8-sig", newline="")
    ) as text:
        reader = csv.DictReader(text)
        missing = [name for name in needed if name not in (reader.fieldnames or ())]
        if missing:
            raise DataError(f"{path}: no column {', '.join(missing)}")
        yield from reader


def _rows(root: Path, table: str, needed: tuple[str, ...]) -> Iterator[dict[str, str]]:
    for ending in (".csv.gz", ".csv"):
        path = root / f"{table}{ending}"
        if path.is_file():
            return read_table(path, needed)
    raise DataError(
        f"{root}: no {table}.csv.gz; --mimic names the folder of your MIMIC-CXR-JPG copy"
    )
