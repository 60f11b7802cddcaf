"""Building model folders, and bending one so that it answers in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.tiny_models import llava, matching, more, qwen
from wordsight.tiny_models.size import Size

if TYPE_CHECKING:
    import torch

BUILDERS: dict[str, Callable[[Size, bool], tuple[Any, ...]]] = {
    "qwen2_5_vl": qwen.qwen2_5_vl,
    "qwen3_vl": qwen.qwen3_vl,
    "llava": llava.llava,
    "llava_onevision": llava.llava_onevision,
    "gemma3": more.gemma3,
    "idefics3": more.idefics3,
    "smolvlm": more.smolvlm,
    "internvl": more.internvl,
    "clip": matching.clip,
    "siglip": matching.siglip,
    "siglip2": matching.siglip2,
    "align": matching.align,
}


def build_tiny_model(
    kind: str, folder: Path, seed: int = 0, size: Size | None = None, spelling: bool = False
) -> Path:
    """Write a model folder of the given kind and return it.

    kind : a key of ``BUILDERS``; "clip", "siglip", "siglip2" and "align" match pictures with
        texts, the others answer.
    size : towers of another size than tiny, for measurements.
    spelling : give it a tokenizer without merges, so that no single token says Yes or No.

    Raises WordsightError for another kind. Weights depend on ``seed`` and ``size`` alone.
    """
    import torch

    if kind not in BUILDERS:
        raise WordsightError(f"no tiny model {kind!r}; there are {', '.join(sorted(BUILDERS))}")
    builder = BUILDERS[kind]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model, *processors = builder(size or Size(), spelling)
    model.eval().save_pretrained(folder)
    for processor in processors:
        processor.save_pretrained(folder)
    return folder


def steer_to_yes_no(folder: Path, seed: int = 0) -> None:
    """Change a tiny "qwen2_5_vl" folder so that it generates nothing but one Yes or No.

    As :func:`steer_first_word`, and one dimension of the model says that a word was given, and
    ends the answer.
    """
    import torch

    model, processor = _loaded(folder)
    yes, no, end = processor.tokenizer.convert_tokens_to_ids(["Yes", "No", "<|im_end|>"])
    with torch.no_grad():
        inner = model.model
        for layer in inner.language_model.layers:
            layer.self_attn.o_proj.weight[0] = layer.mlp.down_proj.weight[0] = 0
        last = inner.visual.merger.mlp[-1]
        last.weight[0] = last.bias[0] = 0
        embeddings = inner.language_model.embed_tokens.weight
        embeddings[:, 0] = 0
        embeddings[yes], embeddings[no] = 0, 0
        embeddings[yes, 0] = embeddings[no, 0] = 1
    states = _states(model, processor, seed)
    # the dimension that tells of a word takes no part in choosing one
    states[:, 0] = 0
    weight = _choosing_yes_or_no(model, processor, states, seed)
    weight[end, 0] = 50
    model.lm_head.weight = torch.nn.Parameter(weight)
    model.generation_config.eos_token_id = end
    model.save_pretrained(folder)


def steer_first_word(folder: Path, states: torch.Tensor, seed: int = 0) -> None:
    """Change a tiny folder so that the first token of an answer is always Yes or No.

    states : states before its output layer at the end of prompts, shape (n, hidden); over these,
        both words come. What a model says after the first word is noise: ask for one token.
    """
    import torch

    model, processor = _loaded(folder)
    model.lm_head.weight = torch.nn.Parameter(_choosing_yes_or_no(model, processor, states, seed))
    model.save_pretrained(folder)


def _loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForImageTextToText, AutoProcessor

    model = AutoModelForImageTextToText.from_pretrained(folder)
    model.config.tie_word_embeddings = model.config.text_config.tie_word_embeddings = False
    return model, AutoProcessor.from_pretrained(folder)


def _choosing_yes_or_no(
    model: Any, processor: Any, states: torch.Tensor, seed: int
) -> torch.Tensor:
    """Weights of an output layer with one random direction: its sign decides between Yes and No,
    and all other tokens stay at zero. A dimension that is zero in all states takes no part."""
    import torch

    direction = torch.randn(states.shape[1], generator=torch.Generator().manual_seed(seed))
    direction[(states == 0).all(0)] = 0
    # What all states have in common would always win.
    common = states.mean(0)
    direction -= (direction @ common) / (common @ common) * common
    direction *= 8 / (states @ direction).std()
    yes, no = processor.tokenizer.convert_tokens_to_ids(["Yes", "No"])
    weight = torch.zeros_like(model.lm_head.weight)
    weight[yes], weight[no] = direction, -direction
    return weight.detach()


def _states(model: Any, processor: Any, seed: int) -> Any:
    """States before the output layer after questions about random pictures, shape (n, hidden)."""
    import numpy as np
    import torch
    from PIL import Image

    rng = np.random.default_rng(seed)
    states: list[Any] = []
    hook = model.lm_head.register_forward_pre_hook(lambda _, args: states.append(args[0][0, -1]))
    for number in range(24):
        coarse = rng.integers(0, 255, (3, 3, 3), dtype=np.uint8)
        question = f"Does the picture show the term {'tool' if number % 2 else 'plant'}?"
        message = [{"type": "image"}, {"type": "text", "text": question}]
        prompt = processor.apply_chat_template(
            [{"role": "user", "content": message}], add_generation_prompt=True, tokenize=False
        )
        picture = Image.fromarray(coarse).resize((112, 112))
        with torch.no_grad():
            model.eval()(**processor(text=[prompt], images=[[picture]], return_tensors="pt"))
    hook.remove()
    return torch.stack(states)
