"""Stock adapters of lmms-eval: by their text as they are, and with likelihoods read for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.wordsight.helpers import Finished
from tests.wordsight.models.stock_runs import run_adapter
from wordsight.errors import WordsightError
from wordsight.models import stock
from wordsight.tiny_models import build_tiny_model, steer_to_yes_no

ITEMS = 6


@pytest.fixture(scope="module")
def steered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("decord")
    pytest.importorskip("qwen_vl_utils")
    folder = build_tiny_model("qwen2_5_vl", tmp_path_factory.mktemp("models") / "steered")
    steer_to_yes_no(folder)
    return folder


def evaluate(
    output: Path, name: str, folder: Path, batch_size: int, simple: bool, model: Any = None
) -> Finished:
    return run_adapter(
        output,
        name,
        folder,
        simple=simple,
        items=ITEMS,
        batch_size=batch_size,
        more=",min_pixels=3136,max_pixels=12544",
        model=model,
    )


@pytest.mark.slow
@pytest.mark.parametrize("simple", [False, True])
def test_likelihoods_agree_with_the_text_at_any_batch_size(
    simple: bool, steered: Path, tmp_path: Path
) -> None:
    text = evaluate(tmp_path / "text", "qwen2_5_vl", steered, 1, simple)
    assert {log["interface"] for log in text.logs.values()} == {"text"}
    assert text.metrics["sage_demo"]["invalid"] == 0
    said = [score for scores in text.scores.values() for score in scores]
    assert {0.0, 1.0} == set(said)
    alone = evaluate(tmp_path / "1", "wordsight_qwen2_5_vl", steered, 1, simple)
    together = evaluate(tmp_path / "4", "wordsight_qwen2_5_vl", steered, 4, simple)
    for found in (alone, together):
        assert {log["interface"] for log in found.logs.values()} == {"likelihood"}
        for key, scores in found.scores.items():
            assert [float(score > 0.5) for score in scores] == text.scores[key]
            # the adapter runs in bfloat16, which moves with the shape of a batch
            assert scores == pytest.approx(alone.scores[key], abs=0.03)


@pytest.mark.slow
def test_adapter_that_mixes_up_its_rows_goes_one_by_one(steered: Path, tmp_path: Path) -> None:
    right = stock.__getattr__("qwen2_5_vl__chat")
    base: Any = right.__mro__[2]

    class Rotating(base):  # type: ignore[misc]
        """Answers each request of a batch with the next one's pictures."""

        def generate_until(self, requests: list[Any]) -> Any:
            answers = list(super().generate_until(requests))
            return answers[1:] + answers[:1]

    class Mixing(stock.YesNoReader, Rotating):
        pass

    model = Mixing(
        pretrained=str(steered),
        device="cpu",
        device_map="cpu",
        min_pixels=3136,
        max_pixels=12544,
        batch_size=4,
    )
    expected = evaluate(tmp_path / "right", "wordsight_qwen2_5_vl", steered, 1, False)
    found = evaluate(tmp_path / "mixing", "mixing", steered, 4, False, model)
    for key, scores in found.scores.items():
        assert scores == pytest.approx(expected.scores[key], abs=1e-6)


def test_adapter_without_a_model_here_is_explained() -> None:
    class Adapter:
        def __init__(self, batch_size: int) -> None:
            self.batch_size = batch_size

    class Served(stock.YesNoReader, Adapter):
        tokenizer = None
        task_dict: dict[str, Any] = {}  # noqa: RUF012

    with pytest.raises(WordsightError, match="no tokenizer"):
        Served()._read([object()])


def test_names_that_are_no_adapter() -> None:
    with pytest.raises(AttributeError):
        stock.__getattr__("qwen2_5_vl")


def test_served_adapters_get_no_likelihood_name() -> None:
    from lmms_eval.models import MODEL_REGISTRY_V2

    names = MODEL_REGISTRY_V2.list_model_names()
    assert {"wordsight_qwen2_5_vl", "wordsight_llava_hf", "wordsight_internvl_hf"} <= set(names)
    assert not {"wordsight_vllm", "wordsight_claude", "wordsight_litellm"} & set(names)
    # ours, not the stock adapter of that name
    manifest = MODEL_REGISTRY_V2.get_manifest("wordsight_openai")
    assert manifest.simple_class_path == "wordsight.models.openai_server.OpenAIServer"
