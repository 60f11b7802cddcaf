"""Tiny CLIP and SigLIP."""

from __future__ import annotations

from typing import Any

from wordsight.tiny_models.size import Size
from wordsight.tiny_models.tokens import build_tokenizer


def _text(size: Size, length: int) -> dict[str, Any]:
    # both towers of these families have one shape here
    return {
        "hidden_size": size.vision_hidden,
        "intermediate_size": size.vision_intermediate,
        "num_hidden_layers": size.vision_layers,
        "num_attention_heads": size.vision_heads,
        "max_position_embeddings": length,
    }


def clip(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model and processor."""
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPProcessor

    start, end = "<|startoftext|>", "<|endoftext|>"
    tokenizer = build_tokenizer(
        (start, end),
        f"{start} $A {end}",
        spelling=spelling,
        bos_token=start,
        eos_token=end,
        pad_token=end,
        unk_token=end,
        model_max_length=77,
    )
    marks = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
    config = CLIPConfig(
        text_config={**_text(size, 77), **marks, "vocab_size": len(tokenizer)},
        vision_config=size.vision,
        projection_dim=32,
    )
    side = size.picture
    pictures = CLIPImageProcessor(
        size={"shortest_edge": side}, crop_size={"height": side, "width": side}
    )
    return CLIPModel(config), CLIPProcessor(image_processor=pictures, tokenizer=tokenizer)


def siglip(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model and processor."""
    from transformers import SiglipConfig, SiglipImageProcessor, SiglipModel, SiglipProcessor

    tokenizer = build_tokenizer(
        ("<pad>", "</s>", "<unk>"),
        "$A </s>",
        spelling=spelling,
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=64,
    )
    marks = {
        "bos_token_id": None,
        "eos_token_id": 1,
        "pad_token_id": 0,
        "projection_size": size.vision_hidden,
    }
    config = SiglipConfig(
        text_config={**_text(size, 64), **marks, "vocab_size": len(tokenizer)},
        vision_config=size.vision,
    )
    pictures = SiglipImageProcessor(size={"height": size.picture, "width": size.picture})
    return SiglipModel(config), SiglipProcessor(image_processor=pictures, tokenizer=tokenizer)
