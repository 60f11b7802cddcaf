"""How large a built model is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Size:
    """Widths and depths of the two towers; the defaults are as small as the families allow.

    ``picture`` is the side, in pixels, of the pictures that the vision tower sees (the largest
    side for families that take any size).
    """

    hidden: int = 64
    intermediate: int = 128
    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    vision_hidden: int = 32
    vision_intermediate: int = 64
    vision_layers: int = 2
    vision_heads: int = 2
    picture: int = 56
    vocabulary: int = 0

    @property
    def text(self) -> dict[str, Any]:
        """The language model's part, as configurations of transformers name it."""
        return {
            "hidden_size": self.hidden,
            "intermediate_size": self.intermediate,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "max_position_embeddings": 8192,
        }

    @property
    def vision(self) -> dict[str, Any]:
        """A plain vision transformer's part."""
        return {
            "hidden_size": self.vision_hidden,
            "intermediate_size": self.vision_intermediate,
            "num_hidden_layers": self.vision_layers,
            "num_attention_heads": self.vision_heads,
            "image_size": self.picture,
            "patch_size": 14,
        }
