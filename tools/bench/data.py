"""Made-up pictures and questions in the proportions of VerSe, for the benchmarks."""

from __future__ import annotations

import io
import random
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from wordsight.models.base import Ask
from wordsight.prompts import YES_NO

if TYPE_CHECKING:
    from PIL.Image import Image

# VerSe: 1,264 queries of ten candidates over about 3,500 pictures
SLOTS_PER_PICTURE = 3.6


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
    """Questions of VerSe's form: each picture in as many slots on average as there."""
    rng = random.Random(seed)
    verbs = ["open", "play", "draw", "strike", "raise", "turn", "serve", "cast"]
    things = ["door", "window", "piano", "card", "picture", "match", "ball", "flag", "wheel"]
    slots = round(len(pictures.files) * slots_per_picture)
    ids = list(pictures.files)
    chosen = ids + rng.choices(ids, k=slots - len(ids))
    asks = []
    for image_id in chosen:
        verb = rng.choice(verbs)
        context = f"a person about to {verb} the {rng.choice(things)} near a {rng.choice(things)}"
        asks.append(
            Ask(
                question=YES_NO.fill(term=verb, context=context),
                image_id=image_id,
                source=pictures,
                term=verb,
                context=context,
            )
        )
    return sorted(asks, key=lambda ask: ask.image_id)


def seconds(work: Callable[[], object], repeat: int = 1) -> float:
    """Median wall-clock seconds of a piece of work."""
    taken = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)
