"""A built SymbalBench on the Hub and back, against a loopback Hub."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from symbal_tasks.build import build
from symbal_tasks.medical import MedicalSources
from symbal_tasks.view import open_benchmark
from tests.symbal_tasks.fixtures import LICENCE, Release, build_natural
from tests.symbal_tasks.mimic_layout import write_layout
from tests.wordsight import hub_server
from tests.wordsight.hub_server import State
from wordsight.hub import read_pins
from wordsight.hub_rights import RightsError, check_rights

NAME, REPO = "symbalbench_natural", "lab/symbalbench-natural"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def built(coco_release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built") / NAME
    return build_natural(coco_release, out, coco_release.images)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[tuple[State, Run]]:
    """The server's state, and ``run``: Python in a process that knows no other Hub."""
    server, state, address = hub_server.start()
    environment = hub_server.environment(address, tmp_path) | {"OMP_NUM_THREADS": "1"}

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, *map(str, words)],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
        return done

    yield state, run
    server.shutdown()


# A reader who has only the library datasets: our packages cannot be imported.
STRANGER = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("wordsight", "symbal_tasks", "sage_tasks", "leaderboard"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import json
from datasets import load_dataset
held = {c: load_dataset(sys.argv[1], c, split="natural")
        for c in ("settings", "base", "sentences", "images")}
setting = held["settings"][0]
row, sentence = setting["rows"][0], setting["sentences"][0]
picture = held["images"][0]
print(json.dumps({
    "sizes": {c: len(d) for c, d in held.items()},
    "setting": setting["id"],
    "caption": " ".join([*held["base"][row]["caption"], held["sentences"][sentence]["text"]]),
    "picture": [type(picture["image"]).__name__, *picture["image"].size],
    "licence": picture["licence"],
}))
"""


def test_pushed_pulled_and_read_without_this_package(
    built: Path, hub: tuple[State, Run], tmp_path: Path
) -> None:
    state, run = hub
    run("-m", "wordsight", "push", built, "--repo", REPO)
    pin = read_pins(tmp_path / "revisions.json")[NAME]
    assert pin.revision == state.repositories[REPO].branches["main"]
    run("-m", "wordsight", "pull", NAME, "--out", tmp_path / "copy")
    for path in built.rglob("*"):
        if path.is_file():
            assert (tmp_path / "copy" / path.relative_to(built)).read_bytes() == path.read_bytes()
    card = (tmp_path / "copy" / "README.md").read_text()
    benchmark = open_benchmark(tmp_path / "copy", "natural")
    assert benchmark.stored.manifest["fingerprint"] in card

    seen = json.loads(run("-c", STRANGER, tmp_path / "copy").stdout)
    rows = len(benchmark.stored.rows)
    assert seen["sizes"]["base"] == seen["sizes"]["images"] == rows
    assert seen["sizes"]["settings"] == len(benchmark.settings)
    setting = benchmark.setting(seen["setting"])
    assert seen["caption"] == benchmark.captions(setting)[setting.rows[0]]
    assert seen["picture"] == ["JpegImageFile", 100, 80]
    assert seen["licence"] == LICENCE


@pytest.mark.slow
def test_tasks_read_the_pinned_revision(
    built: Path, hub: tuple[State, Run], tmp_path: Path
) -> None:
    state, run = hub
    run("-m", "wordsight", "push", built, "--repo", REPO)
    state.calls.clear()
    words = ["--model", "symbal", "--tasks", f"{NAME}_ref", "--limit", 2]
    run("-m", "lmms_eval", *words, "--output_path", tmp_path / "out", "--log_samples")
    (results,) = (tmp_path / "out").rglob("*_results.json")
    shown = json.loads(results.read_text())["configs"][f"{NAME}_ref"]["metadata"]
    stored = open_benchmark(built, "natural").stored
    assert shown["dataset_fingerprint"] == stored.manifest["fingerprint"]
    revision = read_pins(tmp_path / "revisions.json")[NAME].revision
    fetched = [call for call in state.calls if "/resolve/" in call]
    assert fetched
    assert all(f"/resolve/{revision}/" in call for call in fetched)


def test_what_may_not_be_passed_on_is_refused(
    coco_release: Release, built: Path, tmp_path: Path
) -> None:
    check_rights(built)
    document = json.loads(coco_release.instances.read_text())
    instances = tmp_path / "instances.json"
    instances.write_text(json.dumps(document | {"licenses": []}))
    unknown = replace(coco_release, instances=instances)
    out = build_natural(unknown, tmp_path / "unknown", coco_release.images)
    with pytest.raises(RightsError, match="from COCO with no known licence"):
        check_rights(out)
    check_rights(out, queries_only=True)


def test_credentialed_reports_are_refused_with_or_without_pictures(tmp_path: Path) -> None:
    devices = write_layout(tmp_path / "mimic")
    list(build(MedicalSources(tmp_path / "mimic", devices=devices), tmp_path / "out"))
    for queries_only in (False, True):
        with pytest.raises(RightsError, match="credentialed"):
            check_rights(tmp_path / "out", queries_only)
