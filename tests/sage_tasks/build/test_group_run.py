"""The groups ``sage`` and ``sage_spis`` over built datasets that tasks find by name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from sage_tasks.build.pipeline import Options, build
from sage_tasks.build.verse import SPIS_VARIANTS, read_verse
from sage_tasks.build.vwsd import read_vwsd
from sage_tasks.build.wikidiverse import read_wikidiverse
from sage_tasks.package import open_package
from tests.wordsight.helpers import Scripted, read_run
from wordsight.answers import similarity
from wordsight.models.base import Ask
from wordsight.run.harness import run
from wordsight.run.spec import RunSpec

SUBSETS = ("vwsd", "verse", "wikidiverse")


@pytest.fixture
def data(
    vwsd_source: Path,
    verse_options: dict[str, Any],
    wikidiverse_source: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    folder = tmp_path / "data"
    build(read_vwsd(vwsd_source), folder / "vwsd", Options())
    build(read_verse(**verse_options, variants=SPIS_VARIANTS), folder / "verse", Options())
    wiki = read_wikidiverse(wikidiverse_source["source"], wikidiverse_source["images"])
    build(wiki, folder / "wikidiverse", Options())
    monkeypatch.setenv("WORDSIGHT_DATA", str(folder))
    return folder


def by_content(ask: Ask) -> str:
    """An answer that differs between pictures and between terms, and repeats."""
    return similarity(int(ask.image_id[:8], 16) % (len(ask.term) + 3))


def test_the_group_is_the_macro_average_of_three_subsets(data: Path, tmp_path: Path) -> None:
    spec = RunSpec(model="scripted", tasks=("sage",))
    assert run(spec, tmp_path / "run", model=Scripted(by_content), quiet=True) is not None

    metrics = read_run(tmp_path / "run").metrics
    for metric in ("hits1", "mrr"):
        each = [metrics[f"sage_{subset}"][metric] for subset in SUBSETS]
        assert len(set(each)) == 3
        assert metrics["sage"][metric] == pytest.approx(math.fsum(each) / 3)
    sizes = {len(open_package(data / subset, subset).queries) for subset in SUBSETS}
    assert len(sizes) == 3, "a size-weighted mean would be the same"


def test_the_spis_group_shows_both_differences(data: Path, tmp_path: Path) -> None:
    golds = {
        (query.term, query.context, query.candidates[query.gold])
        for variant in ("verse", "verse_original")
        for query in open_package(data / "verse", variant).queries
    }

    def say(ask: Ask) -> str:
        right = (ask.term, ask.context, ask.image_id) in golds
        # right about most of the named verbs, about none of the neutral ones
        return similarity(float(right and ask.image_id[0] not in "01"))

    spec = RunSpec(model="scripted", tasks=("sage_spis",))
    assert run(spec, tmp_path / "run", model=Scripted(say), quiet=True) is not None

    metrics = read_run(tmp_path / "run").metrics
    original, swapped, neutral = (
        metrics[f"sage_{name}"]["hits1"] for name in ("verse_original", "verse", "verse_neutral")
    )
    assert swapped > neutral == pytest.approx(0.1)
    assert metrics["sage_spis"]["spis_pair"] == pytest.approx(original - swapped)
    assert metrics["sage_spis"]["verb_pair"] == pytest.approx(swapped - neutral)
