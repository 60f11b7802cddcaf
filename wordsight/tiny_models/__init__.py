"""Tiny models with random weights, built without a download, that load as real checkpoints do.

They answer at chance, which makes them the demo's chance row, and they exercise the same loading
and inference code as models of full size.
"""

from wordsight.tiny_models.build import (
    BUILDERS,
    build_tiny_model,
    steer_first_word,
    steer_to_yes_no,
)
from wordsight.tiny_models.plain import chat_inputs
from wordsight.tiny_models.size import Size

__all__ = [
    "BUILDERS",
    "Size",
    "build_tiny_model",
    "chat_inputs",
    "steer_first_word",
    "steer_to_yes_no",
]
