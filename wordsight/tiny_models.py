"""Tiny models with random weights, built without a download, that load as real checkpoints do.

They answer at chance, which makes them the demo's chance row, and they exercise the same loading
and inference code as models of full size.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

_WORDS = (
    "Yes No yes no A B C D E F G H I J 0 1 2 3 4 5 6 7 8 9 Answer with one word, Yes or No. "
    "The term is used in this context: Does the picture show the term in the meaning that the "
    "context gives it? a photo of an animal, a tool, a plant or a vehicle"
)
_QWEN_SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
_QWEN_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif 'text' in part %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_LLAVA_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'user' %}USER: {% else %}ASSISTANT: {% endif %}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>\n"
    "{% elif 'text' in part %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %} {% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)


def build_tiny_model(kind: str, folder: Path, seed: int = 0) -> Path:
    """Write a model folder of the given kind and return it.

    kind : "qwen2_5_vl" or "llava" (image and text to text), "clip" or "siglip" (matching).
    Raises KeyError for another kind. Weights depend on ``seed`` alone.
    """
    import torch

    builder = BUILDERS[kind]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model, *processors = builder()
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


def _tokenizer(special: tuple[str, ...], template: Any = None, **options: Any) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=2048,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator([_WORDS] * 4, trainer)
    if template is not None:
        ends = [(token, core.token_to_id(token)) for token in special if f"{token}" in template]
        core.post_processor = processors.TemplateProcessing(single=template, special_tokens=ends)
    return PreTrainedTokenizerFast(tokenizer_object=core, **options)


def _qwen2_5_vl() -> tuple[Any, ...]:
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
    )

    tokenizer = _tokenizer(
        _QWEN_SPECIAL,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=list(_QWEN_SPECIAL[1:]),
        padding_side="left",
        model_max_length=8192,
    )
    tokenizer.chat_template = _QWEN_TEMPLATE
    ids = dict(
        zip(_QWEN_SPECIAL, tokenizer.convert_tokens_to_ids(list(_QWEN_SPECIAL)), strict=True)
    )
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 8192,
            "rope_parameters": {
                "rope_type": "default",
                "mrope_section": [2, 3, 3],
                "rope_theta": 10000.0,
            },
            "bos_token_id": None,
            "eos_token_id": ids["<|im_end|>"],
            "pad_token_id": ids["<|endoftext|>"],
            "tie_word_embeddings": False,
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "out_hidden_size": 64,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "window_size": 112,
            "fullatt_block_indexes": [1],
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=False,
    )
    model = Qwen2_5_VLForConditionalGeneration(config)
    model.generation_config.eos_token_id = ids["<|im_end|>"]
    model.generation_config.pad_token_id = ids["<|endoftext|>"]
    patches = {"patch_size": 14, "merge_size": 2, "temporal_patch_size": 2}
    processor = Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessor(min_pixels=56 * 56, max_pixels=112 * 112, **patches),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(**patches),
        chat_template=_QWEN_TEMPLATE,
    )
    return model, processor, tokenizer


def _llava() -> tuple[Any, ...]:
    from transformers import (
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    tokenizer = _tokenizer(
        ("<unk>", "<s>", "</s>", "<pad>", "<image>"),
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        additional_special_tokens=["<image>"],
        padding_side="left",
        model_max_length=4096,
    )
    tokenizer.chat_template = _LLAVA_TEMPLATE
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=3,
            num_attention_heads=2,
            image_size=56,
            patch_size=14,
            projection_dim=32,
        ),
        text_config=LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=4096,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=3,
        ),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_seq_length=16,
        vision_feature_layer=-2,
        vision_feature_select_strategy="default",
    )
    processor = LlavaProcessor(
        image_processor=_clip_pictures(),
        tokenizer=tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_LLAVA_TEMPLATE,
    )
    return LlavaForConditionalGeneration(config), processor, tokenizer


def _clip_pictures() -> Any:
    from transformers import CLIPImageProcessor

    return CLIPImageProcessor(size={"shortest_edge": 56}, crop_size={"height": 56, "width": 56})


def _towers(length: int) -> tuple[dict[str, int], dict[str, int]]:
    shape = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }
    return (
        {**shape, "max_position_embeddings": length},
        {**shape, "image_size": 56, "patch_size": 14},
    )


def _clip() -> tuple[Any, ...]:
    from transformers import CLIPConfig, CLIPModel, CLIPProcessor

    start, end = "<|startoftext|>", "<|endoftext|>"
    tokenizer = _tokenizer(
        (start, end),
        f"{start} $A {end}",
        bos_token=start,
        eos_token=end,
        pad_token=end,
        unk_token=end,
        model_max_length=77,
    )
    text, vision = _towers(77)
    marks = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
    config = CLIPConfig(
        text_config={**text, **marks, "vocab_size": len(tokenizer)},
        vision_config=vision,
        projection_dim=32,
    )
    processor = CLIPProcessor(image_processor=_clip_pictures(), tokenizer=tokenizer)
    return CLIPModel(config), processor


def _siglip() -> tuple[Any, ...]:
    from transformers import SiglipConfig, SiglipImageProcessor, SiglipModel, SiglipProcessor

    tokenizer = _tokenizer(
        ("<pad>", "</s>", "<unk>"),
        "$A </s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=64,
    )
    text, vision = _towers(64)
    marks = {"bos_token_id": None, "eos_token_id": 1, "pad_token_id": 0, "projection_size": 32}
    config = SiglipConfig(
        text_config={**text, **marks, "vocab_size": len(tokenizer)}, vision_config=vision
    )
    processor = SiglipProcessor(
        image_processor=SiglipImageProcessor(size={"height": 56, "width": 56}),
        tokenizer=tokenizer,
    )
    return SiglipModel(config), processor


BUILDERS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "qwen2_5_vl": _qwen2_5_vl,
    "llava": _llava,
    "clip": _clip,
    "siglip": _siglip,
}
