"""Tiny LLaVA and LLaVA-OneVision."""

from __future__ import annotations

from typing import Any

from wordsight.tiny_models.size import Size
from wordsight.tiny_models.tokens import build_tokenizer

_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'user' %}USER: {% else %}ASSISTANT: {% endif %}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>\n"
    "{% elif 'text' in part %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %} {% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)


def _tokenizer(spelling: bool, *more: str) -> Any:
    tokenizer = build_tokenizer(
        ("<unk>", "<s>", "</s>", "<pad>", "<image>", *more),
        spelling=spelling,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        additional_special_tokens=["<image>", *more],
        padding_side="left",
        model_max_length=4096,
    )
    tokenizer.chat_template = _TEMPLATE
    return tokenizer


def llava(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model, processor and tokenizer."""
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    tokenizer = _tokenizer(spelling)
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(
            # the last layer is not used
            **{**size.vision, "num_hidden_layers": size.vision_layers + 1},
            projection_dim=32,
        ),
        text_config=LlamaConfig(
            **{**size.text, "max_position_embeddings": 4096},
            vocab_size=size.vocabulary or len(tokenizer),
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=3,
        ),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_seq_length=(size.picture // 14) ** 2,
        vision_feature_layer=-2,
        vision_feature_select_strategy="default",
    )
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessor(
            size={"shortest_edge": size.picture},
            crop_size={"height": size.picture, "width": size.picture},
        ),
        tokenizer=tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_TEMPLATE,
    )
    return LlavaForConditionalGeneration(config), processor, tokenizer


def llava_onevision(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model, processor and tokenizer; large pictures are cut into tiles."""
    from transformers import (
        LlavaOnevisionConfig,
        LlavaOnevisionForConditionalGeneration,
        LlavaOnevisionImageProcessor,
        LlavaOnevisionProcessor,
        LlavaOnevisionVideoProcessor,
        Qwen2Config,
        SiglipVisionConfig,
    )

    tokenizer = _tokenizer(spelling, "<video>")
    side = size.picture
    tiles = [[side, side], [side, 2 * side], [2 * side, side], [2 * side, 2 * side]]
    config = LlavaOnevisionConfig(
        vision_config=SiglipVisionConfig(**size.vision, vision_use_head=False),
        text_config=Qwen2Config(
            **size.text,
            vocab_size=size.vocabulary or len(tokenizer),
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=3,
        ),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        video_token_index=tokenizer.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=tiles,
        vision_feature_select_strategy="full",
        vision_feature_layer=-1,
    )
    processor = LlavaOnevisionProcessor(
        image_processor=LlavaOnevisionImageProcessor(
            size={"height": side, "width": side}, image_grid_pinpoints=tiles
        ),
        tokenizer=tokenizer,
        video_processor=LlavaOnevisionVideoProcessor(size={"height": side, "width": side}),
        num_image_tokens=(side // 14) ** 2,
        vision_feature_select_strategy="full",
        chat_template=_TEMPLATE,
    )
    return LlavaOnevisionForConditionalGeneration(config), processor, tokenizer
