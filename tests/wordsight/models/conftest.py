"""Tiny checkpoints and pictures for the model tests."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from wordsight.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

    from wordsight.models.base import Ask


class Pictures:
    """Random pictures of several sizes, two of them of one size, kept as encoded bytes."""

    SIZES = ((64, 64), (100, 60), (64, 64), (90, 120), (300, 200))

    def __init__(self) -> None:
        from PIL import Image as PILImage

        rng = np.random.default_rng(5)
        self.files: dict[str, bytes] = {}
        for number, (width, height) in enumerate(self.SIZES):
            coarse = rng.integers(0, 255, (4, 4, 3), dtype=np.uint8)
            picture = PILImage.fromarray(coarse).resize((width, height))
            buffer = io.BytesIO()
            picture.save(buffer, "PNG" if number % 2 else "JPEG")
            self.files[f"picture{number}"] = buffer.getvalue()
        self.decoded: list[str] = []

    def picture(self, image_id: str) -> Image:
        from wordsight.pictures import decode_rgb

        self.decoded.append(image_id)
        return decode_rgb(io.BytesIO(self.picture_bytes(image_id)), image_id)

    def picture_bytes(self, image_id: str) -> bytes:
        if image_id not in self.files:
            raise DataError(f"no picture {image_id}")
        return self.files[image_id]


QUESTIONS = (
    "Is it a dog? Answer Yes or No.",
    "Does the picture show the term in the meaning that the context gives it?",
    "A plant?",
)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


@pytest.fixture
def pictures() -> Pictures:
    return Pictures()


@pytest.fixture
def asks(pictures: Pictures) -> list[Ask]:
    """Three questions about each of five pictures, picture by picture."""
    from wordsight.models.base import Ask

    return [
        Ask(question=question, image_id=image_id, source=pictures, term="dog", context=question)
        for image_id in pictures.files
        for question in QUESTIONS
    ]


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folder of a tiny checkpoint, built when first asked for; "spelling" has no word tokens."""
    from wordsight.tiny_models import build_tiny_model

    root = tmp_path_factory.mktemp("checkpoints")

    def folder(kind: str) -> Path:
        path = root / kind
        if kind == "smolvlm":
            pytest.importorskip("num2words", reason="SmolVLM's processor needs num2words")
        if not path.exists():
            spelling = kind == "spelling"
            build_tiny_model("llava" if spelling else kind, path, spelling=spelling)
        return path

    return folder
