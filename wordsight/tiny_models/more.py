"""Tiny Gemma 3, Idefics3, SmolVLM, InternVL: each has something that inference code trips over."""

from __future__ import annotations

from typing import Any

from wordsight.tiny_models.size import Size
from wordsight.tiny_models.tokens import build_tokenizer


def _template(start: str, picture: str, end: str, answer: str) -> str:
    return (
        f"{{% for message in messages %}}{start}"
        "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
        "{% for part in message['content'] %}"
        f"{{% if part['type'] == 'image' %}}{picture}"
        "{% elif 'text' in part %}{{ part['text'] }}{% endif %}"
        f"{{% endfor %}}{{% endif %}}{end}{{% endfor %}}"
        f"{{% if add_generation_prompt %}}{answer}{{% endif %}}"
    )


def gemma3(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model, processor and tokenizer; attention to pictures goes both ways, and the window of
    its sliding layers is shorter than a prompt."""
    import torch
    from transformers import (
        Gemma3Config,
        Gemma3ForConditionalGeneration,
        Gemma3ImageProcessor,
        Gemma3Processor,
        Gemma3TextConfig,
        SiglipVisionConfig,
    )

    special = (
        "<pad>",
        "<eos>",
        "<bos>",
        "<start_of_image>",
        "<end_of_image>",
        "<image_soft_token>",
        "<start_of_turn>",
        "<end_of_turn>",
    )
    tokenizer = build_tokenizer(
        special,
        "<bos> $A",
        spelling=spelling,
        pad_token="<pad>",
        eos_token="<eos>",
        bos_token="<bos>",
        extra_special_tokens={
            "image_token": "<image_soft_token>",
            "boi_token": "<start_of_image>",
            "eoi_token": "<end_of_image>",
        },
        padding_side="left",
        model_max_length=8192,
    )
    template = "{{ bos_token }}" + _template(
        "<start_of_turn>{{ message['role'] }}\n",
        "<start_of_image>",
        "<end_of_turn>\n",
        "<start_of_turn>model\n",
    )
    tokenizer.chat_template = template
    config = Gemma3Config(
        text_config=Gemma3TextConfig(
            **size.text,
            head_dim=size.hidden // size.heads,
            vocab_size=size.vocabulary or len(tokenizer),
            pad_token_id=0,
            eos_token_id=1,
            bos_token_id=2,
            sliding_window=16,
            layer_types=["sliding_attention", "full_attention"] * (size.layers // 2),
        ),
        vision_config=SiglipVisionConfig(**size.vision, vision_use_head=False),
        mm_tokens_per_image=4,
        boi_token_index=3,
        eoi_token_index=4,
        image_token_index=5,
    )
    processor = Gemma3Processor(
        image_processor=Gemma3ImageProcessor(size={"height": size.picture, "width": size.picture}),
        tokenizer=tokenizer,
        image_seq_length=4,
        chat_template=template,
    )
    model = Gemma3ForConditionalGeneration(config)
    # transformers starts this one at zero: the model would not see its pictures.
    torch.nn.init.normal_(model.model.multi_modal_projector.mm_input_projection_weight)
    return model, processor, tokenizer


def idefics3(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model, processor and tokenizer; pictures are cut into tiles with words between them."""
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        Idefics3ImageProcessor,
        Idefics3Processor,
    )

    tokenizer, parts, options = _tiled(size, spelling)
    processor = Idefics3Processor(
        image_processor=Idefics3ImageProcessor(**parts), tokenizer=tokenizer, **options
    )
    config = Idefics3Config(**_tiled_towers(size, tokenizer))
    return Idefics3ForConditionalGeneration(config), processor, tokenizer


def smolvlm(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model, processor and tokenizer, as Idefics 3; its processor imports ``num2words``."""
    from transformers import (
        SmolVLMConfig,
        SmolVLMForConditionalGeneration,
        SmolVLMImageProcessor,
        SmolVLMProcessor,
        SmolVLMVideoProcessor,
    )

    tokenizer, parts, options = _tiled(size, spelling)
    side = {"longest_edge": size.picture}
    processor = SmolVLMProcessor(
        image_processor=SmolVLMImageProcessor(**parts),
        tokenizer=tokenizer,
        video_processor=SmolVLMVideoProcessor(
            size=side,
            max_image_size=side,
            fps=1,
            num_frames=2,
            video_sampling={"video_size": side, "max_frames": 2, "fps": 1},
        ),
        **options,
    )
    config = SmolVLMConfig(**_tiled_towers(size, tokenizer))
    return SmolVLMForConditionalGeneration(config), processor, tokenizer


def _tiled(size: Size, spelling: bool) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Tokenizer, options of the picture processor, options of the whole processor."""
    tiles = tuple(f"<row_{i}_col_{j}>" for i in range(1, 7) for j in range(1, 7))
    marks = ("<fake_token_around_image>", "<image>", "<end_of_utterance>", "<global-img>", *tiles)
    tokenizer = build_tokenizer(
        ("<unk>", "<s>", "</s>", "<pad>", *marks),
        "<s> $A",
        spelling=spelling,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        additional_special_tokens=list(marks),
        padding_side="left",
        model_max_length=8192,
    )
    template = "<s>" + _template("User:", "<image>", "<end_of_utterance>\n", "Assistant:")
    tokenizer.chat_template = template
    side = size.picture
    parts = {"size": {"longest_edge": 2 * side}, "max_image_size": {"longest_edge": side}}
    return tokenizer, parts, {"image_seq_len": (side // 28) ** 2, "chat_template": template}


def _tiled_towers(size: Size, tokenizer: Any) -> dict[str, Any]:
    from transformers import LlamaConfig

    return {
        "text_config": LlamaConfig(
            **size.text,
            vocab_size=size.vocabulary or len(tokenizer),
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=3,
        ),
        "vision_config": size.vision,
        "image_token_id": tokenizer.convert_tokens_to_ids("<image>"),
        "scale_factor": 2,
    }


def internvl(size: Size, spelling: bool) -> tuple[Any, ...]:
    """Model, processor and tokenizer; tiles of a picture are stacked along the first axis."""
    from transformers import (
        GotOcr2ImageProcessor,
        InternVLConfig,
        InternVLForConditionalGeneration,
        InternVLProcessor,
        InternVLVideoProcessor,
        Qwen2Config,
    )

    marks = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    tokenizer = build_tokenizer(
        ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *marks.values()),
        spelling=spelling,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens=marks,
        padding_side="left",
        model_max_length=8192,
    )
    template = _template(
        "<|im_start|>{{ message['role'] }}\n",
        "<IMG_CONTEXT>\n",
        "<|im_end|>\n",
        "<|im_start|>assistant\n",
    )
    tokenizer.chat_template = template
    side = size.picture
    config = InternVLConfig(
        text_config=Qwen2Config(
            **size.text,
            vocab_size=size.vocabulary or len(tokenizer),
            bos_token_id=None,
            eos_token_id=2,
            pad_token_id=0,
        ),
        vision_config={**size.vision, "image_size": [side, side], "patch_size": [14, 14]},
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=(side // 14 // 2) ** 2,
        downsample_ratio=0.5,
    )
    processor = InternVLProcessor(
        image_processor=GotOcr2ImageProcessor(
            size={"height": side, "width": side}, crop_to_patches=True, min_patches=1, max_patches=4
        ),
        tokenizer=tokenizer,
        video_processor=InternVLVideoProcessor(size={"height": side, "width": side}),
        image_seq_length=(side // 14 // 2) ** 2,
        chat_template=template,
    )
    return InternVLForConditionalGeneration(config), processor, tokenizer
