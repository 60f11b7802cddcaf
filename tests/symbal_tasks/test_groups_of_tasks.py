"""Both domains through lmms-eval: every task and the groups that pool them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from symbal_tasks.build import build
from symbal_tasks.medical import MedicalSources
from tests.symbal_tasks.fixtures import Release, build_natural
from tests.symbal_tasks.mimic_layout import write_layout
from wordsight.task_paths import task_folder

SAID = "Textual Error: skis, edema\nVisual Feature: dog, pacemaker"


@pytest.fixture(scope="module")
def data(coco_release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both domains as WORDSIGHT_DATA holds them."""
    root = tmp_path_factory.mktemp("data")
    build_natural(coco_release, root / "symbalbench_natural")
    devices = write_layout(root / "mimic")
    list(build(MedicalSources(root / "mimic", devices=devices), root / "symbalbench_medical"))
    return root


@pytest.mark.parametrize("suffix", ["", "_ref"])
def test_groups_pool_the_settings_of_both_domains(
    suffix: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lmms_eval.api.model import lmms
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.tasks import TaskManager

    seen: list[str] = []

    class Fixed(lmms):  # type: ignore[misc]
        """Answers always the same."""

        is_simple = True

        def generate_until(self, requests: list[Any]) -> list[str]:
            """One answer per request."""
            seen.extend(request.args[0] for request in requests)
            return [SAID] * len(requests)

        def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
            """Not used."""
            raise NotImplementedError

        def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
            """Not used."""
            raise NotImplementedError

    monkeypatch.setenv("WORDSIGHT_DATA", str(data))
    found = simple_evaluate(
        model=Fixed(),
        tasks=[f"symbalbench{suffix}"],
        task_manager=TaskManager(include_path=str(task_folder()), include_defaults=False),
        log_samples=True,
        bootstrap_iters=0,
    )
    assert found is not None
    samples = {
        domain: found["samples"][f"symbalbench_{domain}{suffix}"]
        for domain in ("natural", "medical")
    }
    pooled = [*samples["natural"], *samples["medical"]]
    assert len(samples["natural"]) != len(samples["medical"])
    assert len(pooled) == len(seen)
    for metric in ("acc1_t", "acc5_t", "acc5_both"):
        mean = sum(sample[metric] for sample in pooled) / len(pooled)
        assert found["groups"][f"symbalbench{suffix}"][f"{metric},none"] == pytest.approx(mean)
        assert 0 < mean < 1
    # with references and without, in natural words and in those of reports
    assert all(("Reference caption:" in text) == bool(suffix) for text in seen)
    assert all("Model-generated caption:" in text for text in seen)
    assert any("radiograph" in text.lower() or "heart" in text.lower() for text in seen)
