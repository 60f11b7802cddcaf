"""Tokenizers trained in code on the words of our prompts."""

from __future__ import annotations

from typing import Any

_WORDS = (
    "Yes No yes no A B C D E F G H I J 0 1 2 3 4 5 6 7 8 9 Answer with one word, Yes or No. "
    "The term is used in this context: Does the picture show the term in the meaning that the "
    "context gives it? a photo of an animal, a tool, a plant or a vehicle"
)


def build_tokenizer(
    special: tuple[str, ...], template: str | None = None, spelling: bool = False, **options: Any
) -> Any:
    """A byte-level BPE tokenizer.

    template : what it puts around a text, where it does ("$A </s>").
    spelling : no merges at all, so that every word, Yes and No too, is spelt byte by byte.
    options : passed on to ``PreTrainedTokenizerFast``.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=0 if spelling else 2048,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator([_WORDS] * 4, trainer)
    if template is not None:
        ends = [(token, core.token_to_id(token)) for token in special if token in template]
        core.post_processor = processors.TemplateProcessing(single=template, special_tokens=ends)
    return PreTrainedTokenizerFast(tokenizer_object=core, **options)
