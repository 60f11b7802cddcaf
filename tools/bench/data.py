"""Made-up pictures and questions in the proportions of VerSe, for the benchmarks."""

from __future__ import annotations

import io
import random
from typing import TYPE_CHECKING

import numpy as np

from wordsight.models.base import Ask
from wordsight.prompts import YES_NO

if TYPE_CHECKING:
    from PIL.Image import Image

# VerSe: 1,264 queries of ten candidates over about 3,500 pictures
SLOTS_PER_PICTURE = 3.6
CANDIDATES = 10


class JpegPictures:
    """JPEGs in memory, decoded when asked for; the same for the same seed."""

    def __init__(self, count: int, side: int, seed: int = 0) -> None:
        from PIL import Image as PILImage

        rng = np.random.default_rng(seed)
        self.files: dict[str, bytes] = {}
        for number in range(count):
            coarse = rng.integers(0, 255, (side // 8, side // 8, 3), dtype=np.uint8)
            buffer = io.BytesIO()
            PILImage.fromarray(coarse).resize((side, side)).save(buffer, "JPEG", quality=90)
            self.files[f"{number:05d}"] = buffer.getvalue()

    def picture(self, image_id: str) -> Image:
        """The picture, decoded."""
        from wordsight.pictures import decode_rgb

        return decode_rgb(io.BytesIO(self.files[image_id]), image_id)

    def picture_bytes(self, image_id: str) -> bytes:
        """The picture's JPEG."""
        return self.files[image_id]


def verse_like(pictures: JpegPictures, slots_per_picture: float, seed: int = 0) -> list[Ask]:
    """Questions in VerSe's proportions: ten candidates per query, pictures used several times.

    The words are known to the tokenizers built here, so that a question has about as many tokens
    as with a tokenizer of full size.
    """
    rng = random.Random(seed)
    words = ["tool", "plant", "vehicle", "animal", "photo", "term", "word", "context", "meaning"]
    ids = list(pictures.files)
    slots = round(len(ids) * slots_per_picture / CANDIDATES) * CANDIDATES
    chosen = ids + rng.choices(ids, k=slots - len(ids))
    rng.shuffle(chosen)
    asks = []
    for start in range(0, slots, CANDIDATES):
        term, *others = rng.sample(words, 5)
        context = f"a {term} of an {others[0]} with the {others[1]}, a {others[2]} or a {others[3]}"
        asks += [
            Ask(
                question=YES_NO.fill(term=term, context=context),
                image_id=image_id,
                source=pictures,
                term=term,
                context=context,
            )
            for image_id in chosen[start : start + CANDIDATES]
        ]
    return sorted(asks, key=lambda ask: ask.image_id)
