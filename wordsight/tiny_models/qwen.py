"""Tiny Qwen2.5-VL and Qwen3-VL."""

from __future__ import annotations

from typing import Any

from wordsight.tiny_models.size import Size
from wordsight.tiny_models.tokens import build_tokenizer

_SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif 'text' in part %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_TEMPORAL = 2
_MERGE = 2


def _tokenizer(spelling: bool) -> tuple[Any, dict[str, int]]:
    tokenizer = build_tokenizer(
        _SPECIAL,
        spelling=spelling,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=list(_SPECIAL[1:]),
        padding_side="left",
        model_max_length=8192,
    )
    tokenizer.chat_template = _TEMPLATE
    numbers = tokenizer.convert_tokens_to_ids(list(_SPECIAL))
    return tokenizer, dict(zip(_SPECIAL, numbers, strict=True))


def _text(size: Size, tokenizer: Any, ids: dict[str, int], rope: dict[str, Any]) -> dict[str, Any]:
    return {
        **size.text,
        "vocab_size": size.vocabulary or len(tokenizer),
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, **rope},
        "bos_token_id": None,
        "eos_token_id": ids["<|im_end|>"],
        "pad_token_id": ids["<|endoftext|>"],
        "tie_word_embeddings": False,
    }


def _marks(ids: dict[str, int]) -> dict[str, int]:
    return {
        "image_token_id": ids["<|image_pad|>"],
        "video_token_id": ids["<|video_pad|>"],
        "vision_start_token_id": ids["<|vision_start|>"],
        "vision_end_token_id": ids["<|vision_end|>"],
    }


def _sections(size: Size) -> list[int]:
    """How the rotary dimensions are shared between time, height and width."""
    half = size.hidden // size.heads // 2
    side = half * 3 // 8
    return [half - 2 * side, side, side]


def _finish(model: Any, processor: Any, tokenizer: Any, ids: dict[str, int]) -> tuple[Any, ...]:
    model.generation_config.eos_token_id = ids["<|im_end|>"]
    model.generation_config.pad_token_id = ids["<|endoftext|>"]
    return model, processor, tokenizer


def qwen2_5_vl(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model, processor and tokenizer."""
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
    )

    tokenizer, ids = _tokenizer(spelling)
    config = Qwen2_5_VLConfig(
        text_config=_text(size, tokenizer, ids, {"mrope_section": _sections(size)}),
        vision_config={
            "depth": size.vision_layers,
            "hidden_size": size.vision_hidden,
            "intermediate_size": size.vision_intermediate,
            "num_heads": size.vision_heads,
            "out_hidden_size": size.hidden,
            "patch_size": 14,
            "spatial_merge_size": _MERGE,
            "temporal_patch_size": _TEMPORAL,
            "window_size": 112,
            "fullatt_block_indexes": [size.vision_layers - 1],
        },
        **_marks(ids),
        tie_word_embeddings=False,
    )
    patches = {"patch_size": 14, "merge_size": _MERGE, "temporal_patch_size": _TEMPORAL}
    most = max(112, size.picture)
    processor = Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessor(
            min_pixels=56 * 56, max_pixels=most * most, **patches
        ),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(**patches),
        chat_template=_TEMPLATE,
    )
    return _finish(Qwen2_5_VLForConditionalGeneration(config), processor, tokenizer, ids)


def qwen3_vl(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model, processor and tokenizer."""
    from transformers import (
        Qwen2VLImageProcessor,
        Qwen3VLConfig,
        Qwen3VLForConditionalGeneration,
        Qwen3VLProcessor,
        Qwen3VLVideoProcessor,
    )

    tokenizer, ids = _tokenizer(spelling)
    rope = {"mrope_section": _sections(size), "mrope_interleaved": True}
    config = Qwen3VLConfig(
        text_config={
            **_text(size, tokenizer, ids, rope),
            "head_dim": size.hidden // size.heads,
        },
        vision_config={
            "depth": size.vision_layers,
            "hidden_size": size.vision_hidden,
            "intermediate_size": size.vision_intermediate,
            "num_heads": size.vision_heads,
            "out_hidden_size": size.hidden,
            "patch_size": 16,
            "spatial_merge_size": _MERGE,
            "temporal_patch_size": _TEMPORAL,
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0],
        },
        **_marks(ids),
        tie_word_embeddings=False,
    )
    patches = {"patch_size": 16, "merge_size": _MERGE, "temporal_patch_size": _TEMPORAL}
    most = max(128, size.picture)
    processor = Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessor(
            min_pixels=64 * 64, max_pixels=most * most, **patches
        ),
        tokenizer=tokenizer,
        video_processor=Qwen3VLVideoProcessor(**patches),
        chat_template=_TEMPLATE,
    )
    return _finish(Qwen3VLForConditionalGeneration(config), processor, tokenizer, ids)
