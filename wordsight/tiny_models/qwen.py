"""Tiny Qwen2.5-VL and Qwen3-VL."""

from __future__ import annotations

from dataclasses import dataclass
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


def qwen2_5_vl(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model, processor and tokenizer."""
    import transformers as t

    form = _Form(
        config=t.Qwen2_5_VLConfig,
        model=t.Qwen2_5_VLForConditionalGeneration,
        processor=t.Qwen2_5_VLProcessor,
        videos=t.Qwen2VLVideoProcessor,
        patch=14,
        rope={},
        text={},
        vision={
            "out_hidden_size": size.hidden,
            "window_size": 112,
            "fullatt_block_indexes": [size.vision_layers - 1],
        },
    )
    return _build(form, size, spelling)


def qwen3_vl(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model, processor and tokenizer."""
    import transformers as t

    form = _Form(
        config=t.Qwen3VLConfig,
        model=t.Qwen3VLForConditionalGeneration,
        processor=t.Qwen3VLProcessor,
        videos=t.Qwen3VLVideoProcessor,
        patch=16,
        rope={"mrope_interleaved": True},
        text={"head_dim": size.hidden // size.heads},
        vision={
            "out_hidden_size": size.hidden,
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0],
        },
    )
    return _build(form, size, spelling)


@dataclass(frozen=True)
class _Form:
    """What differs between the two: classes, patch size, options of the parts."""

    config: Any
    model: Any
    processor: Any
    videos: Any
    patch: int
    rope: dict[str, Any]
    text: dict[str, Any]
    vision: dict[str, Any]


def _build(form: _Form, size: Size, spelling: bool) -> tuple[Any, ...]:
    from transformers import Qwen2VLImageProcessor

    tokenizer, ids = _tokenizer(spelling)
    rope = {"mrope_section": _sections(size), **form.rope}
    model = form.model(
        form.config(
            text_config={**_text(size, tokenizer, ids, rope), **form.text},
            vision_config={
                "depth": size.vision_layers,
                "hidden_size": size.vision_hidden,
                "intermediate_size": size.vision_intermediate,
                "num_heads": size.vision_heads,
                "patch_size": form.patch,
                "spatial_merge_size": _MERGE,
                "temporal_patch_size": _TEMPORAL,
                **form.vision,
            },
            **_marks(ids),
            tie_word_embeddings=False,
        )
    )
    model.generation_config.eos_token_id = ids["<|im_end|>"]
    model.generation_config.pad_token_id = ids["<|endoftext|>"]
    patches = {
        "patch_size": form.patch,
        "merge_size": _MERGE,
        "temporal_patch_size": _TEMPORAL,
    }
    least, most = 4 * form.patch, max(8 * form.patch, size.picture)
    processor = form.processor(
        image_processor=Qwen2VLImageProcessor(
            min_pixels=least * least, max_pixels=most * most, **patches
        ),
        tokenizer=tokenizer,
        video_processor=form.videos(**patches),
        chat_template=_TEMPLATE,
    )
    return model, processor, tokenizer
