"""Likelihoods of every family against plain forward passes, however they are batched."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from wordsight.answers import read_answer
from wordsight.errors import DataError, WordsightError
from wordsight.models.base import Ask
from wordsight.models.hf import HFImageTextToText
from wordsight.tiny_models import chat_inputs

FAMILIES = (
    "qwen2_5_vl",
    "qwen3_vl",
    "llava",
    "llava_onevision",
    "gemma3",
    "idefics3",
    "smolvlm",
    "internvl",
)
Checkpoint = Callable[[str], Path]
YES, NO = ("Yes", " Yes", "yes", " yes"), ("No", " No", "no", " no")


def load(folder: Path, **options: Any) -> HFImageTextToText:
    return HFImageTextToText(pretrained=str(folder), device="cpu", **options)


def likelihoods(model: HFImageTextToText, asks: Sequence[Ask]) -> list[tuple[float, float]]:
    answers = [json.loads(response) for response in model.answer(asks)]
    return [(answer["yes"], answer["no"]) for answer in answers]


def plain(folder: Path, asks: Sequence[Ask]) -> list[tuple[float, float]]:
    """One forward pass per ask and per spelling, by transformers' own calls alone."""
    from transformers import AutoModelForImageTextToText, AutoProcessor

    processor = AutoProcessor.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
    found = []
    for ask in asks:
        inputs = chat_inputs(processor, ask.question, [ask.picture()])
        pair = []
        for forms in (YES, NO):
            spelt = {tuple(processor.tokenizer.encode(f, add_special_tokens=False)) for f in forms}
            single = {tokens for tokens in spelt if len(tokens) == 1}
            logs = [_sequence(model, dict(inputs), tokens) for tokens in single or spelt]
            pair.append(float(torch.stack(logs).logsumexp(0)))
        found.append((pair[0], pair[1]))
    return found


def _sequence(model: Any, inputs: dict[str, Any], tokens: tuple[int, ...]) -> torch.Tensor:
    """Log-probability that the prompt goes on with these tokens, one pass per token."""
    total = torch.zeros((), dtype=torch.float64)
    for token in tokens:
        with torch.no_grad():
            logits = model(**inputs).logits[0, -1].double()
        total = total + logits.log_softmax(-1)[token]
        longer = dict(inputs)
        for name in ("input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids"):
            if name in inputs:
                fill = {"input_ids": token, "attention_mask": 1}.get(name, 0)
                longer[name] = torch.nn.functional.pad(inputs[name], (0, 1), value=fill)
        inputs = longer
    return total


def largest_difference(a: Sequence[tuple[float, float]], b: Sequence[tuple[float, float]]) -> float:
    return max(abs(x - y) for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True))


@pytest.mark.parametrize("family", [*FAMILIES, "spelling"])
def test_equal_to_plain_forward_passes(
    family: str, checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    folder = checkpoint(family)
    truth = plain(folder, asks)
    odds = torch.tensor([yes - no for yes, no in truth]).view(5, 3)
    # or nothing would be tested: answers depend on the picture and on the question
    assert float(odds.std(0).max()) > 1e-3
    assert float(odds.std(1).max()) > 1e-3
    for reuse in ("on", "off"):
        for batch_size in (1, 4):
            model = load(folder, reuse=reuse, batch_size=batch_size, workers=1)
            assert largest_difference(likelihoods(model, asks), truth) < 1e-5, (reuse, batch_size)


@pytest.mark.parametrize("family", FAMILIES)
def test_shared_prefix_is_accepted_by_the_check(
    family: str, checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    model = load(checkpoint(family), workers=0)
    next(model.answer(asks[:1]))
    assert model.reader.reuse == "on"


def test_order_and_batch_do_not_change_scores(checkpoint: Checkpoint, asks: list[Ask]) -> None:
    folder = checkpoint("qwen2_5_vl")
    truth = dict(zip([id(a) for a in asks], likelihoods(load(folder), asks), strict=True))
    rng = random.Random(3)
    for batch_size in (2, 5, 64):
        shuffled = rng.sample(asks, len(asks))
        model = load(folder, batch_size=batch_size, workers=2)
        expected = [truth[id(ask)] for ask in shuffled]
        assert largest_difference(likelihoods(model, shuffled), expected) < 1e-5


@pytest.mark.parametrize("family", ["qwen2_5_vl", "gemma3"])
def test_half_precision(family: str, checkpoint: Checkpoint, asks: list[Ask]) -> None:
    truth = [_p_yes(pair) for pair in plain(checkpoint(family), asks)]
    model = load(checkpoint(family), dtype="bfloat16", batch_size=4)
    found = [_p_yes(pair) for pair in likelihoods(model, asks)]
    assert max(abs(a - b) for a, b in zip(found, truth, strict=True)) < 5e-3


def _p_yes(pair: tuple[float, float]) -> float:
    return float(torch.sigmoid(torch.tensor(pair[0] - pair[1])))


def test_each_picture_goes_through_the_vision_tower_once(
    checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    model = load(checkpoint("llava"), reuse="on", batch_size=2)
    seen: list[int] = []
    tower = model._model.model.vision_tower
    tower.register_forward_hook(lambda _m, _i, output: seen.append(len(output[0])))
    likelihoods(model, asks)
    assert sum(seen) == 5
    likelihoods(model, [ask.asking("Is it a tool?") for ask in asks])
    assert sum(seen) == 5
    model.reader.forget()
    likelihoods(model, asks[:1])
    assert sum(seen) == 6


def count_passes(model: HFImageTextToText) -> list[tuple[int, int]]:
    """Rows and tokens per row of every pass from now on."""
    seen: list[tuple[int, int]] = []

    def note(_module: Any, _args: Any, kwargs: dict[str, Any]) -> None:
        seen.append(tuple(kwargs["input_ids"].shape))

    model._model.register_forward_pre_hook(note, with_kwargs=True)
    return seen


WORDS = ("a", "tool", "plant", "vehicle", "term", "word", "photo", "in", "the")
NINE = tuple(f"Is it {word}?" for word in WORDS)


@pytest.mark.parametrize(
    ("family", "attention"),
    [*((f, "sdpa") for f in FAMILIES if f != "gemma3"), ("qwen2_5_vl", "eager")],
)
def test_questions_about_a_picture_go_as_one_sequence(
    family: str, attention: str, checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    several = [ask.asking(question) for ask in asks[:6:3] for question in NINE]
    truth = plain(checkpoint(family), several)
    options: dict[str, Any] = {"batch_size": 2, "attn_implementation": attention}
    model = load(checkpoint(family), reuse="on", **options)
    passes = count_passes(model)
    assert largest_difference(likelihoods(model, several), truth) < 1e-5
    alone = load(checkpoint(family), reuse="on", **options)
    alone.reader._passes.packs = False
    one_by_one = count_passes(alone)
    assert largest_difference(likelihoods(alone, several), truth) < 1e-5
    assert len(passes) < len(one_by_one)


def test_a_window_shorter_than_the_line_keeps_questions_apart(
    checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    model = load(checkpoint("gemma3"), reuse="on", batch_size=2)
    passes = count_passes(model)
    several = [asks[0].asking(question) for question in NINE]
    truth = plain(checkpoint("gemma3"), several)
    assert largest_difference(likelihoods(model, several), truth) < 1e-5
    # one for the picture, five for nine questions
    assert len(passes) == 6


def test_family_that_takes_no_mask_of_ours_still_shares_the_picture(
    checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    several = [asks[0].asking(question) for question in NINE]
    model = load(checkpoint("llava"), batch_size=4)
    truth = plain(checkpoint("llava"), several)

    def ignore(_module: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
        mask = kwargs.get("attention_mask")
        if mask is not None and mask.ndim == 4:
            kwargs["attention_mask"] = None
        return args, kwargs

    model._model.register_forward_pre_hook(ignore, with_kwargs=True)
    assert largest_difference(likelihoods(model, several), truth) < 1e-5
    assert (model.reader.reuse, model.reader._passes.packs) == ("on", False)


def test_says_where_a_run_can_be_cut(checkpoint: Checkpoint, asks: list[Ask]) -> None:
    model = load(checkpoint("llava"), batch_size=2)
    ends = [number for number, _ in enumerate(model.answer(asks)) if model.settled]
    # two pictures with three questions each go together, five in all
    assert ends == [5, 11, 14]
    left = likelihoods(load(checkpoint("llava"), batch_size=2), asks[6:])
    assert left == likelihoods(load(checkpoint("llava"), batch_size=2), asks)[6:]


def test_kept_pictures_stay_within_the_memory_given(
    checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    model = load(checkpoint("llava"), reuse="on", cache_gb=0)
    truth = likelihoods(load(checkpoint("llava"), reuse="off"), asks)
    assert largest_difference(likelihoods(model, asks), truth) < 1e-5
    assert not model.reader._prefixes


@pytest.mark.parametrize("reuse", ["on", "off"])
def test_out_of_memory_halves_the_batch(
    reuse: str, checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    model = load(checkpoint("llava"), reuse=reuse, batch_size=8)
    truth = likelihoods(load(checkpoint("llava"), reuse="off"), asks)

    def no_room(_module: Any, _args: Any, kwargs: dict[str, Any]) -> None:
        if len(kwargs["input_ids"]) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    model._model.register_forward_pre_hook(no_room, with_kwargs=True)
    assert largest_difference(likelihoods(model, asks), truth) < 1e-5
    assert model.reader.batch_size == 2


def test_a_single_question_without_room_is_an_error(
    checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    model = load(checkpoint("llava"), reuse="on", batch_size=4)

    def no_room(_module: Any, _args: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    model._model.register_forward_pre_hook(no_room)
    with pytest.raises(WordsightError, match="does not fit into memory"):
        next(model.answer(asks))


def test_family_that_cannot_share_prefixes_is_read_whole(
    checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    model = load(checkpoint("llava"), batch_size=4)
    truth = likelihoods(load(checkpoint("llava"), reuse="off"), asks)

    def refuse(_module: Any, _args: Any, kwargs: dict[str, Any]) -> None:
        if kwargs.get("cache", kwargs.get("past_key_values")) is not None:
            raise TypeError("this family keeps no keys and values")

    model._model.register_forward_pre_hook(refuse, with_kwargs=True)
    assert largest_difference(likelihoods(model, asks), truth) < 1e-5
    assert model.reader.reuse == "off"


def test_wrong_positions_are_noticed(checkpoint: Checkpoint, asks: list[Ask]) -> None:
    model = load(checkpoint("qwen2_5_vl"), batch_size=4)
    truth = likelihoods(load(checkpoint("qwen2_5_vl"), reuse="off"), asks)

    def shift(_module: Any, _args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
        if "position_ids" in kwargs:
            kwargs["position_ids"] = kwargs["position_ids"] * 3
        return _args, kwargs

    model._model.register_forward_pre_hook(shift, with_kwargs=True)
    assert largest_difference(likelihoods(model, asks), truth) < 1e-5
    assert model.reader.reuse == "off"


def test_model_that_does_not_answer_with_yes_or_no(
    tmp_path: Path, checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    from transformers import AutoModelForImageTextToText, AutoProcessor

    folder = checkpoint("llava")
    model = AutoModelForImageTextToText.from_pretrained(folder)
    AutoProcessor.from_pretrained(folder).save_pretrained(tmp_path)
    # One direction common to all states decides for another word.
    states: list[torch.Tensor] = []
    model.lm_head.register_forward_pre_hook(lambda _m, args: states.append(args[0][0, -1]))
    reader = load(folder)
    reader._model.lm_head.register_forward_pre_hook(lambda _m, args: states.append(args[0][0, -1]))
    list(reader.answer(asks))
    common = torch.stack(states).mean(0)
    with torch.no_grad():
        model.lm_head.weight[300] = 60 * common / common.norm() ** 2
    model.save_pretrained(tmp_path)
    with pytest.raises(WordsightError, match="does not begin its answer with Yes or No"):
        next(load(tmp_path).answer(asks))


def test_answers_log_mass_tokens_and_time(checkpoint: Checkpoint, asks: list[Ask]) -> None:
    folder = checkpoint("llava")
    response = next(load(folder).answer(asks[:1]))
    answer = json.loads(response)
    yes, no = plain(folder, asks[:1])[0]
    probability = torch.tensor([yes, no]).exp()
    assert answer["mass"] == pytest.approx(float(probability.sum()), rel=1e-5)
    # 16 picture tokens and the words around them
    assert answer["tokens"] > 16 + 5
    assert answer["seconds"] > 0
    assert read_answer(response).score == pytest.approx(float(probability[0] / probability.sum()))


def test_undecodable_picture_is_named(checkpoint: Checkpoint, asks: list[Ask]) -> None:
    broken = Ask(question="Is it?", image_id="missing", source=asks[0].source)
    for workers in (0, 2):
        with pytest.raises(DataError, match="missing"):
            list(load(checkpoint("llava"), workers=workers).answer([*asks, broken]))


def test_writing_is_greedy_generation(checkpoint: Checkpoint) -> None:
    from transformers import AutoModelForImageTextToText, AutoProcessor

    folder = checkpoint("qwen2_5_vl")
    prompts = ["Answer with one word.", "The term is used in this context: a tool, a plant"]
    written = list(load(folder, batch_size=2).write(prompts, max_tokens=6))
    processor = AutoProcessor.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
    for prompt, text in zip(prompts, written, strict=True):
        inputs = chat_inputs(processor, prompt)
        ids = model.generate(**inputs, max_new_tokens=6, do_sample=False)
        new = ids[0, inputs["input_ids"].shape[1] :]
        assert text == processor.tokenizer.decode(new, skip_special_tokens=True).strip()


def test_answer_prefix_stands_before_the_answer(checkpoint: Checkpoint, asks: list[Ask]) -> None:
    folder = checkpoint("qwen2_5_vl")
    plainly = likelihoods(load(folder), asks)
    prefixed = likelihoods(load(folder, answer_prefix="The answer: "), asks)
    assert largest_difference(plainly, prefixed) > 1e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [({"reuse": "maybe"}, "auto, on, off"), ({"dtype": "int3"}, "float32, bfloat16")],
)
def test_wrong_options(options: dict[str, Any], message: str, checkpoint: Checkpoint) -> None:
    with pytest.raises(WordsightError, match=message):
        load(checkpoint("llava"), **options)


@pytest.mark.parametrize("family", ["qwen2_5_vl", "llava_onevision", "idefics3"])
def test_texts_about_pictures_are_greedy_generation(
    family: str, checkpoint: Checkpoint, asks: list[Ask]
) -> None:
    from transformers import AutoModelForImageTextToText, AutoProcessor

    folder = checkpoint(family)
    ids = tuple(ask.image_id for ask in asks[::6])
    several = Ask("Which?", ids[0], asks[0].source, kind="choice", image_ids=ids)
    scalars = [dataclasses.replace(ask, kind="scalar") for ask in asks[::2]]
    texts = list(load(folder, batch_size=4, max_new_tokens=5).answer([*scalars, several]))
    processor = AutoProcessor.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
    for ask, text in zip([*scalars, several], texts, strict=True):
        inputs = chat_inputs(processor, ask.question, ask.pictures())
        new = model.generate(**inputs, max_new_tokens=5, do_sample=False)
        new = new[0, inputs["input_ids"].shape[1] :]
        assert text == processor.tokenizer.decode(new, skip_special_tokens=True).strip()
