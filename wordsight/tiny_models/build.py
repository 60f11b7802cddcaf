"""Building model folders, and bending one so that it answers in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from wordsight.tiny_models import llava, matching, more, qwen
from wordsight.tiny_models.size import Size

BUILDERS: dict[str, Callable[[Size, bool], tuple[Any, ...]]] = {
    "qwen2_5_vl": qwen.qwen2_5_vl,
    "qwen3_vl": qwen.qwen3_vl,
    "llava": llava.llava,
    "llava_onevision": llava.llava_onevision,
    "gemma3": more.gemma3,
    "idefics3": more.idefics3,
    "internvl": more.internvl,
    "clip": matching.clip,
    "siglip": matching.siglip,
}


def build_tiny_model(
    kind: str, folder: Path, seed: int = 0, size: Size | None = None, spelling: bool = False
) -> Path:
    """Write a model folder of the given kind and return it.

    kind : a key of ``BUILDERS``; "clip" and "siglip" match pictures with texts, the others answer.
    size : towers of another size than tiny, for measurements.
    spelling : give it a tokenizer without merges, so that no single token says Yes or No.

    Raises KeyError for another kind. Weights depend on ``seed`` and ``size`` alone.
    """
    import torch

    builder = BUILDERS[kind]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model, *processors = builder(size or Size(), spelling)
    model.eval().save_pretrained(folder)
    for processor in processors:
        processor.save_pretrained(folder)
    return folder


def steer_to_yes_no(folder: Path, seed: int = 0) -> None:
    """Change a tiny "qwen2_5_vl" folder so that it generates nothing but Yes or No.

    The output layer gets one random direction: its sign decides between the two words, and all
    other tokens stay at zero. Which word comes depends on the picture and the question.
    """
    import torch
    from transformers import AutoModelForImageTextToText, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder)
    model.config.tie_word_embeddings = model.config.text_config.tie_word_embeddings = False
    head = model.lm_head
    yes, no, end = tokenizer.convert_tokens_to_ids(["Yes", "No", "<|im_end|>"])
    hidden = head.weight.shape[1]
    direction = torch.randn(hidden, generator=torch.Generator().manual_seed(seed))
    # Mean-free: the normalised hidden state has a large common part that would always win.
    direction -= direction.mean()
    weight = torch.zeros_like(head.weight)
    weight[yes], weight[no] = 50 * direction, -50 * direction
    head.weight = torch.nn.Parameter(weight)
    model.generation_config.eos_token_id = end
    model.save_pretrained(folder)
