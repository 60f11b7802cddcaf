"""A synthetic copy of the MIMIC-CXR layout; every name, number and sentence in it is made up."""

from __future__ import annotations

import csv
import gzip
import random
from collections.abc import Iterable
from pathlib import Path

LABELS = ("Atelectasis", "Cardiomegaly", "Edema", "Pleural Effusion", "Pneumothorax")
DEVICES = ("pacemaker", "chest_tube", "endotracheal_tube", "surgical_clips", "sternotomy_wires")
DEVICE_SENTENCES = {
    "pacemaker": "Left pacemaker leads in place.",
    "chest_tube": "A right chest tube is seen.",
    "endotracheal_tube": "The ET tube ends 3.4 cm above the carina.",
    "surgical_clips": "Surgical clips project over the axilla.",
    "sternotomy_wires": "Median sternotomy wires are intact.",
}
DISEASE_SENTENCES = {
    "Atelectasis": "There is bibasilar atelectasis.",
    "Cardiomegaly": "Moderate cardiomegaly is stable.",
    "Edema": "Mild pulmonary edema.",
    "Pleural Effusion": "Small left pleural effusion.",
    "Pneumothorax": "Tiny right apical pneumothorax.",
}


def write_layout(root: Path, n_test: int = 300, n_train: int = 120, seed: int = 5) -> Path:
    """Write tables and reports; returns the devices table.

    Oddities, by study number in the test split: 0 lateral view; 1 blank view; 2 no report;
    3 no impression; 4 impression twice; 5 CRLF; 6 only a denied finding; 7 label -1;
    8 physician label against an unmentioned one; 9 not in the devices table.
    """
    rng = random.Random(seed)
    meta, split, chexpert, physician, devices = [], [], [], [], []
    for number in range(n_test + n_train):
        part = "test" if number < n_test else "train"
        subject, study, dicom = f"{10_000_000 + number}", f"{50_000_000 + number}", f"d{number:06d}"
        view = {0: "LATERAL", 1: ""}.get(number, rng.choice(["AP", "PA"]))
        meta.append([dicom, subject, study, view, 300, 250])
        split.append([dicom, study, subject, part])
        held = {name for name in LABELS if rng.random() < (0.15 if part == "test" else 0.5)}
        shown = {name for name in DEVICES if rng.random() < 0.3}
        if number in range(10):
            held, shown = set(), {"pacemaker"}
        row = ["1.0" if name in held else rng.choice(["", "0.0"]) for name in LABELS]
        if number in {7, 8}:
            row[1] = {7: "-1.0", 8: ""}[number]
        chexpert.append([subject, study, *row])
        if part == "test":
            known = "1.0" if number == 8 else row[1].replace("-1.0", "0.0")
            physician.append([study, row[0], known, row[2], row[3], row[4]])
        if number != 9:
            devices.append([dicom, *(int(name in shown) for name in DEVICES)])
        _write_report(root, number, part, subject, study, held, shown, rng)
    _table(
        root / "mimic-cxr-2.0.0-metadata.csv.gz",
        ["dicom_id", "subject_id", "study_id", "ViewPosition", "Rows", "Columns"],
        meta,
    )
    _table(
        root / "mimic-cxr-2.0.0-split.csv.gz",
        ["dicom_id", "study_id", "subject_id", "split"],
        split,
    )
    _table(root / "mimic-cxr-2.0.0-chexpert.csv.gz", ["subject_id", "study_id", *LABELS], chexpert)
    _table(root / "mimic-cxr-2.1.0-test-set-labeled.csv", ["study_id", *LABELS], physician)
    _table(root / "devices.csv", ["dicom_id", *DEVICES], devices)
    return root / "devices.csv"


def _write_report(
    root: Path,
    number: int,
    part: str,
    subject: str,
    study: str,
    held: set[str],
    shown: set[str],
    rng: random.Random,
) -> None:
    if number == 2:
        return
    stated = [DISEASE_SENTENCES[name] for name in sorted(held)]
    findings = [
        "The lungs are\n well expanded.",
        *(DEVICE_SENTENCES[name] for name in sorted(shown)),
    ]
    if part == "train":
        stated += [f"Edema is worse than on {rng.randint(1, 3)} ___."] if "Edema" in held else []
        stated += ["No pneumothorax."]
    impression = [*stated, "Heart size is normal.", "No acute fracture."]
    text = (
        " " * 33
        + "FINAL REPORT\n EXAMINATION:  CHEST (PA AND LAT)\n\n INDICATION:  ___ year old.\n\n"
    )
    text += " FINDINGS: \n \n " + " ".join(findings) + "\n\n"
    if number == 4:
        text += " IMPRESSION: \n Wet read: gross edema.\n\n"
    if number == 6:
        impression = ["No pneumothorax or edema."]
    if number != 3:
        text += " IMPRESSION: \n \n " + " ".join(impression) + "\n"
    if number == 5:
        text = text.replace("\n", "\r\n")
    path = root / "files" / f"p{subject[:2]}" / f"p{subject}" / f"s{study}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def _table(path: Path, header: list[str], rows: Iterable[Iterable[object]]) -> None:
    with (
        gzip.open(path, "wt", newline="") if path.suffix == ".gz" else path.open("w", newline="")
    ) as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)
