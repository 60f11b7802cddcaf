"""docs/symbalbench.md: its commands run, on made-up copies of COCO and MIMIC-CXR."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.follow import Scene, follow
from tests.symbal_tasks.chat_server import Script, serve
from tests.symbal_tasks.fixtures import Release
from tests.symbal_tasks.mimic_layout import write_layout
from tests.wordsight import hub_server

# fixtures of another folder's tests
pytestmark = pytest.mark.slow


def run_radgraph(folder: Path) -> None:
    """RadGraph's output for the sentences listed; every one states something."""
    sentences = (folder / "sentences.txt").read_text(encoding="utf-8").splitlines()
    entities = {"1": {"tokens": "edema", "label": "Observation::definitely present"}}
    output = {str(n): {"text": s, "entities": entities} for n, s in enumerate(sentences)}
    (folder / "radgraph.json").write_text(json.dumps(output), encoding="utf-8")


def test_commands_run(tmp_path: Path, coco_release: Release) -> None:
    from wordsight.tiny_models import build_tiny_model

    (tmp_path / "instances_val2017.json").symlink_to(coco_release.instances)
    (tmp_path / "captions_val2017.json").symlink_to(coco_release.captions)
    (tmp_path / "val2017").symlink_to(coco_release.images)
    write_layout(tmp_path / "MIMIC-CXR-JPG").rename(tmp_path / "devices.csv")
    model = build_tiny_model("qwen2_5_vl", tmp_path / "tiny")
    stand_ins = {
        # the made-up pictures show other objects
        "natural__hot_dog__bicycle__0.3": "natural__chair__dog__0.3",
        "Qwen/Qwen2.5-VL-7B-Instruct": f"{model},device=cpu,device_map=cpu",
        "--tasks": "--limit 2 --tasks",
        "data/mini --settings 0": "data/symbalbench_natural --settings 2",
        "--settings 36": "--settings 2",
        "data/symbalbench_natural --methods": "data/symbalbench_natural --settings 2 --methods",
        "--sweep 16,32,64,96": "--sweep 4,8",
        "wordsight ablate symbal": "wordsight ablate symbal --settings 2",
        "ORG/": "lab/",
        "python tools": f"python {ROOT / 'tools'}",
    }
    server, _, hub = hub_server.start()
    environment = hub_server.settings(hub, tmp_path) | {"WORDSIGHT_CONTEXT_TOKENS": "512"}
    before = {
        "wordsight build symbalbench --domain medical --mimic MIMIC-CXR-JPG --dev": run_radgraph
    }
    try:
        with serve(Script()) as chat:
            stand_ins["http://localhost:8080/v1"] = chat
            follow("docs/symbalbench.md", tmp_path, Scene(stand_ins, environment, before))
    finally:
        server.shutdown()
