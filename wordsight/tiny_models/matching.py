"""Tiny CLIP, SigLIP, SigLIP 2 and ALIGN."""

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

    tokenizer = _siglip_tokenizer(spelling, 64)
    config = SiglipConfig(text_config=_siglip_text(size), vision_config=size.vision)
    pictures = SiglipImageProcessor(size={"height": size.picture, "width": size.picture})
    return SiglipModel(config), SiglipProcessor(image_processor=pictures, tokenizer=tokenizer)


def siglip2(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model and processor of the NaFlex form, which keeps a picture's proportions."""
    from transformers import Siglip2Config, Siglip2ImageProcessor, Siglip2Model, Siglip2Processor

    # as its checkpoints: the tokenizer states no length, the model has 64 places
    tokenizer = _siglip_tokenizer(spelling, 10**30)
    vision = {**size.vision, "patch_size": 16, "num_patches": 256}
    del vision["image_size"]
    config = Siglip2Config(text_config=_siglip_text(size), vision_config=vision)
    pictures = Siglip2ImageProcessor(patch_size=16, max_num_patches=256)
    return Siglip2Model(config), Siglip2Processor(image_processor=pictures, tokenizer=tokenizer)


def _siglip_tokenizer(spelling: bool, length: int) -> Any:
    return build_tokenizer(
        ("<pad>", "</s>", "<unk>"),
        "$A </s>",
        spelling=spelling,
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=length,
    )


def _siglip_text(size: Size) -> dict[str, Any]:
    return {
        **_text(size, 64),
        "bos_token_id": None,
        "eos_token_id": 1,
        "pad_token_id": 0,
        "projection_size": size.vision_hidden,
    }


def align(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model and processor; pictures go through a convolutional network."""
    from transformers import AlignConfig, AlignModel, AlignProcessor, EfficientNetImageProcessor

    tokenizer = build_tokenizer(
        ("[PAD]", "[UNK]", "[CLS]", "[SEP]"),
        "[CLS] $A [SEP]",
        spelling=spelling,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    )
    config = AlignConfig(
        text_config={**_text(size, 512), "vocab_size": len(tokenizer), "pad_token_id": 0},
        vision_config={
            "image_size": size.picture,
            "width_coefficient": 1.0,
            "depth_coefficient": 1.0,
            "kernel_sizes": [3, 5],
            "in_channels": [32, 8],
            # both towers end in one width
            "out_channels": [8, size.vision_hidden],
            "strides": [1, 2],
            "num_block_repeats": [1, 1],
            "expand_ratios": [1, 2],
            "hidden_dim": size.vision_hidden,
        },
        projection_dim=size.vision_hidden,
    )
    side = {"height": size.picture, "width": size.picture}
    pictures = EfficientNetImageProcessor(size=side, do_center_crop=False)
    return AlignModel(config), AlignProcessor(image_processor=pictures, tokenizer=tokenizer)
