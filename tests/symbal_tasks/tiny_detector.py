"""A detector of OWLv2's real classes with random weights: it runs, its marks mean nothing."""

from __future__ import annotations

from pathlib import Path


def build_tiny_detector(folder: Path) -> Path:
    """Write the folder and return it."""
    import torch
    from transformers import (
        AutoTokenizer,
        Owlv2Config,
        Owlv2ForObjectDetection,
        Owlv2ImageProcessor,
        Owlv2Processor,
    )

    from wordsight.tiny_models import build_tiny_model

    clip = build_tiny_model("clip", folder.with_name(folder.name + "-tokenizer"))
    tokenizer = AutoTokenizer.from_pretrained(clip)
    tokenizer.model_max_length = 16
    small = {
        "hidden_size": 32,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    text = small | {
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 16,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    config = Owlv2Config(
        text_config=text,
        vision_config=small | {"image_size": 32, "patch_size": 16},
        projection_dim=32,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        Owlv2ForObjectDetection(config).save_pretrained(folder)
    pictures = Owlv2ImageProcessor(size={"height": 32, "width": 32})
    Owlv2Processor(image_processor=pictures, tokenizer=tokenizer).save_pretrained(folder)
    return folder
