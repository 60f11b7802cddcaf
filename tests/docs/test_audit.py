"""docs/audit.md: its commands run, on captions with a planted error."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from tests.docs.follow import Scene, follow
from tests.symbal_tasks.chat_server import Script, serve
from tests.symbal_tasks.fixtures import Release

# fixtures of another folder's tests
pytestmark = pytest.mark.slow


def plant(release: Release, folder: Path) -> None:
    """Captions that see a kite wherever the reference has a dog; a table of what is shown."""
    document = json.loads(release.captions.read_text(encoding="utf-8"))
    names = {image["id"]: image["file_name"] for image in document["images"]}
    truth = {names[a["image_id"]]: a["caption"] for a in document["annotations"]}
    lines, table = [], []
    for name, reference in truth.items():
        wrong = " A kite flies in the sky." if "dog" in reference else ""
        lines.append({"image": name, "caption": reference + wrong, "reference": reference})
        table.append({"image": name, **{word: int(word in reference) for word in ("dog", "car")}})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "captions.jsonl").write_text(text, encoding="utf-8")
    with (folder / "features.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    shutil.copytree(release.images, folder / "pictures")


def test_commands_run(tmp_path: Path, coco_release: Release) -> None:
    plant(coco_release, tmp_path)
    with serve(Script()) as address:
        stand_ins = {
            "http://localhost:8000/v1": address,
            "wordsight audit-null": "wordsight audit-null --sets 3",
        }
        follow("docs/audit.md", tmp_path, Scene(stand_ins))
    page = (tmp_path / "out" / "audit.json").read_text(encoding="utf-8")
    assert "kite" in page
    written = (tmp_path / "written.jsonl").read_text(encoding="utf-8")
    assert written.count("\n") == len(list((tmp_path / "pictures").iterdir()))
