"""docs/datasets.md: its commands run, on made-up sources in the shape of the official ones."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.docs.follow import Scene, follow
from tests.wordsight import hub_server

# fixtures of another folder's tests
pytestmark = pytest.mark.slow


def fill_in_sheets(folder: Path) -> None:
    """Two annotators agree, the third chooses another picture."""
    for sheet in sorted((folder / "sample").glob("annotator_*.csv")):
        with sheet.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
        for row in rows:
            row["answer"] = "2" if sheet.stem.endswith("3") else "1"
        with sheet.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def test_commands_run(
    tmp_path: Path,
    vwsd_source: Path,
    verse_source: dict[str, Path],
    wikidiverse_source: dict[str, Path],
) -> None:
    downloads = tmp_path / "downloads"
    (downloads / "coco" / "annotations").mkdir(parents=True)
    vwsd_source.rename(downloads / "vwsd")
    wikidiverse_source["source"].rename(downloads / "wikidiverse")
    verse = verse_source["folder"]
    for split in ("train2014", "val2014"):
        (verse / split).rename(downloads / "coco" / split)
        captions = f"captions_{split}.json"
        (verse / captions).rename(downloads / "coco" / "annotations" / captions)
    verse.rename(downloads / "verse")

    server, _, address = hub_server.start()
    environment = hub_server.settings(address, tmp_path)
    # the made-up sources are smaller than the paper's sample
    stand_ins = {"--number 200": "--number 5", "--tasks": "--limit 3 --tasks"}
    before = {"wordsight agreement": fill_in_sheets}
    try:
        follow("docs/datasets.md", tmp_path, Scene(stand_ins, environment, before))
    finally:
        server.shutdown()
