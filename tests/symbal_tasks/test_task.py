"""SymbalBench inside lmms-eval: the task, and Symbal as a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from symbal_tasks.evaluate import MEASURES
from wordsight.errors import DataError, WordsightError
from wordsight.task_paths import task_folder

NAMES = {f"acc{top}_{what}" for what in ("t", "v", "both") for top in (1, 5)}


@pytest.fixture(scope="module")
def manager() -> Any:
    from lmms_eval.tasks import TaskManager

    return TaskManager(include_path=str(task_folder()), include_defaults=False)


def _evaluate(manager: Any, model: Any, limit: int = 4) -> Any:
    from lmms_eval.evaluator import simple_evaluate

    found = simple_evaluate(
        model=model,
        tasks=["symbalbench_demo"],
        task_manager=manager,
        limit=limit,
        log_samples=True,
        bootstrap_iters=0,
    )
    assert found is not None
    return found


def test_symbal_runs_as_a_model(manager: Any, tmp_path: Path) -> None:
    from symbal_tasks.model import Symbal, SymbalNoGroup

    cache = str(tmp_path / "c.sqlite")
    for kind in (Symbal, SymbalNoGroup):
        model = kind(cache=cache, traces=str(tmp_path / kind.__name__))
        found = _evaluate(manager, model)
        results = found["results"]["symbalbench_demo"]
        assert results["acc5_t,none"] == 1.0
        assert results["acc1_both,none"] <= results["acc5_both,none"] <= results["acc5_t,none"]
        assert results["failed,none"] == results["invalid,none"] == 0
        samples = found["samples"]["symbalbench_demo"]
        assert len(samples) == 4
        assert {s["wordsight"]["setting"] for s in samples} == {
            path.stem for path in (tmp_path / kind.__name__).iterdir()
        }
    assert found["configs"]["symbalbench_demo"]["metadata"]["dataset_fingerprint"]


def test_any_model_gets_the_direct_prompt(manager: Any) -> None:
    from lmms_eval.api.model import lmms

    seen: list[str] = []

    class Fixed(lmms):  # type: ignore[misc]
        """Answers always the same; the second request fails."""

        is_simple = True

        def generate_until(self, requests: list[Any]) -> list[str]:
            """One answer per request."""
            seen.extend(request.args[0] for request in requests)
            said = "Textual Error: a kite, dog\nVisual Feature: woman"
            return [said, "[LMMS_EVAL_REQUEST_FAILED down]", "no idea"][: len(requests)]

        def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
            """Not used."""
            raise NotImplementedError

        def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
            """Not used."""
            raise NotImplementedError

    found = _evaluate(manager, Fixed(), limit=3)
    assert all("Model-generated caption:" in text for text in seen)
    assert all("Reference caption:" in text for text in seen)
    samples = found["samples"]["symbalbench_demo"]
    # the demo's first settings are kite with person
    assert samples[0]["acc1_t"] == 1.0
    assert samples[0]["acc1_both"] == 1.0
    assert samples[1]["failed"] == 1.0
    assert samples[1]["acc1_t"] != samples[1]["acc1_t"]
    assert samples[2]["invalid"] == 1.0
    assert samples[2]["acc5_t"] == 0.0


def test_every_task_file_names_its_data(manager: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from symbal_tasks.sources import benchmark_root
    from symbal_tasks.task import metric_name

    assert {metric_name(measure) for measure in MEASURES} == NAMES
    # lmms-eval's groups match metric names by substring
    assert not any(one != two and one in two for one in NAMES for two in NAMES)
    monkeypatch.delenv("WORDSIGHT_DATA", raising=False)
    known = set(manager.all_tasks)
    for name in ("natural", "natural_ref", "medical", "medical_ref", "demo"):
        assert f"symbalbench_{name}" in known
    assert {"symbalbench", "symbalbench_ref"} <= known
    with pytest.raises(DataError, match="wordsight build symbalbench"):
        benchmark_root("symbalbench_natural")


def test_model_options_are_checked() -> None:
    from symbal_tasks.model import Symbal

    with pytest.raises(WordsightError, match="no option screr"):
        Symbal(cache="", screr="x")
    with pytest.raises(WordsightError, match="behind or everywhere"):
        Symbal(cache="", second="x")  # type: ignore[arg-type]
    with pytest.raises(WordsightError, match="no composition"):
        Symbal(cache="", composition="x")
