"""Quantised loading, where the package for it is installed: bitsandbytes computes on CPUs too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from wordsight.errors import WordsightError
from wordsight.models.base import Ask
from wordsight.models.hf import HFImageTextToText
from wordsight.tiny_models import Size, build_tiny_model, chat_inputs

# 4-bit weights are packed in blocks of 64 along each row
SIZE = Size(hidden=128, intermediate=256, vision_hidden=128, vision_intermediate=256)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model("llava", tmp_path_factory.mktemp("blocks") / "llava", size=SIZE)


def plain(folder: Path, asks: list[Ask], **options: Any) -> list[float]:
    """Log-odds of Yes over No, each form of the words summed, by transformers' calls alone."""
    from transformers import AutoModelForImageTextToText, AutoProcessor

    processor = AutoProcessor.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32, **options)
    vocabulary = processor.tokenizer.get_vocab()
    forms = [
        [number for token, number in vocabulary.items() if token.strip("\u0120").lower() == word]
        for word in ("yes", "no")
    ]
    found = []
    for ask in asks:
        with torch.no_grad():
            inputs = chat_inputs(processor, ask.question, [ask.picture()])
            logits = model.eval()(**inputs).logits[0, -1].double()
        found.append(float(logits[forms[0]].logsumexp(0) - logits[forms[1]].logsumexp(0)))
    return found


@pytest.mark.parametrize(("bits", "layer"), [(8, "Linear8bitLt"), (4, "Linear4bit")])
def test_quantised_loading(bits: int, layer: str, folder: Path, asks: list[Ask]) -> None:
    pytest.importorskip("bitsandbytes", reason="quantised loading needs bitsandbytes")
    from transformers import BitsAndBytesConfig

    option: dict[str, Any] = {f"load_in_{bits}bit": True}
    model = HFImageTextToText(pretrained=str(folder), device="cpu", batch_size=4, **option)
    kinds = {type(module).__name__ for module in model._model.modules()}
    assert layer in kinds
    answers = [json.loads(response) for response in model.answer(asks)]
    odds = [answer["yes"] - answer["no"] for answer in answers]
    truth = plain(folder, asks, quantization_config=BitsAndBytesConfig(**option))
    whole = plain(folder, asks)
    from_truth = max(abs(a - b) for a, b in zip(odds, truth, strict=True))
    from_whole = max(abs(a - b) for a, b in zip(odds, whole, strict=True))
    # 8 bit looks for outliers over the whole batch; the kernels of 4 bit depend on its shape
    assert from_truth < (0.02 if bits == 8 else 2e-3)
    # or the weights were not quantised
    assert 1e-4 < from_whole < 0.3


def test_missing_package_is_named(
    folder: Path, asks: list[Ask], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformers.utils.is_bitsandbytes_available", lambda: False)
    with pytest.raises(WordsightError, match="bitsandbytes"):
        HFImageTextToText(pretrained=str(folder), device="cpu", load_in_8bit=True)
