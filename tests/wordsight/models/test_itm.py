"""Cosines against plain calls of transformers and open_clip, and each thing encoded once."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from wordsight.errors import DataError, WordsightError
from wordsight.models.base import Ask
from wordsight.models.itm import ImageTextMatcher

Checkpoint = Callable[[str], Path]


def load(folder: Path | str, **options: Any) -> ImageTextMatcher:
    return ImageTextMatcher(pretrained=str(folder), device="cpu", **options)


def cosines(model: ImageTextMatcher, asks: Sequence[Ask]) -> list[float]:
    return [json.loads(response)["similarity"] for response in model.answer(asks)]


def plain(folder: Path, asks: Sequence[Ask], padding: Any) -> list[float]:
    """One call per ask of the whole model, which gives the cosine itself."""
    from transformers import AutoModel, AutoProcessor

    processor, model = AutoProcessor.from_pretrained(folder), AutoModel.from_pretrained(folder)
    found = []
    for ask in asks:
        inputs = processor(
            text=[f"{ask.term}: {ask.context}"],
            images=[ask.picture()],
            return_tensors="pt",
            truncation=True,
            padding=padding,
            max_length=77 if padding is True else 64,
        )
        with torch.no_grad():
            output = model.eval()(**inputs)
        found.append(float(output.image_embeds[0] @ output.text_embeds[0]))
    return found


def largest_difference(a: Sequence[float], b: Sequence[float]) -> float:
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(
    ("family", "padding"),
    [("clip", True), ("siglip", "max_length"), ("siglip2", "max_length"), ("align", "max_length")],
)
def test_equal_to_plain_calls(
    family: str, padding: Any, checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    long = dataclasses.replace(asks[0], context="a very long context " * 50)
    asks = [*asks, long]
    truth = plain(checkpoint(family), asks, padding)
    assert max(truth) - min(truth) > 1e-3
    for batch_size, workers in ((1, 0), (4, 2), (64, 1)):
        model = load(checkpoint(family), batch_size=batch_size, workers=workers)
        assert largest_difference(cosines(model, asks), truth) < 1e-5


def test_each_picture_and_text_is_encoded_once(checkpoint: Checkpoint, asks: list[Ask]) -> None:
    model = load(checkpoint("clip"), batch_size=2)
    counts = {"pictures": 0, "texts": 0}

    def count(name: str) -> Callable[..., None]:
        def hook(_module: Any, _inputs: Any, output: Any) -> None:
            counts[name] += len(output[0])

        return hook

    towers: Any = model._towers
    towers._model.vision_model.register_forward_hook(count("pictures"))
    towers._model.text_model.register_forward_hook(count("texts"))
    cosines(model, asks)
    cosines(model, list(reversed(asks)))
    assert counts == {"pictures": 5, "texts": 3}
    assert sorted(set(asks[0].source.decoded)) == sorted(  # type: ignore[attr-defined]
        asks[0].source.decoded  # type: ignore[attr-defined]
    )


def test_answers_stream_batch_by_batch(checkpoint: Checkpoint, asks: list[Ask]) -> None:
    broken = Ask("?", "missing", asks[0].source, term="dog", context="x")
    stream = load(checkpoint("clip"), batch_size=5, workers=0).answer([*asks, broken])
    assert len([next(stream) for _ in asks]) == len(asks)
    with pytest.raises(DataError, match="missing"):
        next(stream)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("caption", "a bat flies"),
        ("term_caption", "bat: a bat flies"),
        ("gloss", "an animal"),
        ("gloss_caption", "a bat flies: an animal"),
        ("a photo of {term}", "a photo of bat"),
    ],
)
def test_forms_of_the_text(
    text: str, expected: str, checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    ask = dataclasses.replace(asks[0], term="bat", context="a bat flies", gloss="an animal")
    assert load(checkpoint("clip"), text=text).words(ask) == expected


def test_wrong_use_is_explained(checkpoint: Checkpoint, asks: list[Ask]) -> None:
    with pytest.raises(WordsightError, match="term_caption"):
        load(checkpoint("clip"), text="{word}")
    with pytest.raises(WordsightError, match="gives none for 'dog'"):
        next(load(checkpoint("clip"), text="gloss").answer(asks))
    with pytest.raises(WordsightError, match="models that answer questions run as wordsight_hf"):
        load(checkpoint("qwen2_5_vl"))
    with pytest.raises(WordsightError, match="names no weights"):
        load("open_clip:ViT-B-32")
    with pytest.raises(WordsightError, match="texts and writes none"):
        next(load(checkpoint("clip")).write(["hello"]))


@pytest.fixture(scope="module")
def open_clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    open_clip = pytest.importorskip("open_clip")

    folder = tmp_path_factory.mktemp("open_clip")
    shape = {
        "embed_dim": 16,
        "vision_cfg": {"image_size": 56, "layers": 2, "width": 64, "patch_size": 14},
        "text_cfg": {
            "context_length": 77,
            "vocab_size": 49408,
            "width": 64,
            "heads": 2,
            "layers": 2,
        },
    }
    torch.manual_seed(0)
    model = open_clip.CLIP(**shape)
    config = {
        "model_cfg": shape,
        "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]},
    }
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    torch.save(model.state_dict(), folder / "open_clip_pytorch_model.bin")
    return folder


def test_open_clip(open_clip_folder: Path, asks: list[Ask]) -> None:
    import open_clip  # type: ignore[import-untyped]

    name = f"local-dir:{open_clip_folder}"
    model, _, transform = open_clip.create_model_and_transforms(name)
    tokenizer = open_clip.get_tokenizer(name)
    truth = []
    for ask in asks:
        with torch.no_grad():
            picture = model.eval().encode_image(transform(ask.picture())[None], normalize=True)
            text = model.encode_text(tokenizer([f"{ask.term}: {ask.context}"]), normalize=True)
        truth.append(float(picture[0] @ text[0]))
    assert max(truth) - min(truth) > 1e-3
    for batch_size in (1, 4):
        found = cosines(load(f"open_clip:{name}", batch_size=batch_size), asks)
        assert largest_difference(found, truth) < 1e-5
