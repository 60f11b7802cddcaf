"""A chat prompt's tensors by calls of transformers alone, to compare other ways with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def chat_inputs(processor: Any, question: str, pictures: Sequence[Any] = ()) -> Any:
    """The tensors of one user turn, pictures before the question, ready for ``model(**inputs)``."""
    content = [{"type": "image", "image": picture} for picture in pictures]
    return processor.apply_chat_template(
        [{"role": "user", "content": [*content, {"type": "text", "text": question}]}],
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        return_tensors="pt",
    )
