"""Decoding pictures the same way everywhere."""

from __future__ import annotations

import threading
import warnings
from types import TracebackType
from typing import IO, TYPE_CHECKING

from wordsight.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image


def decode_rgb(stream: IO[bytes], where: str) -> Image:
    """Decode a picture to upright RGB; transparency goes onto white, 16 bits become 8.

    Raises DataError, naming ``where``, when the bytes are no picture, are cut, or hold more than
    about 179 megapixels (twice the size at which Pillow begins to warn).
    """
    from PIL import Image as PILImage
    from PIL import ImageOps

    try:
        # Sources hold pictures of 178 megapixels, so Pillow's warning at 89 is no news.
        with STRICT_DECODING, warnings.catch_warnings():
            warnings.simplefilter("ignore", PILImage.DecompressionBombWarning)
            with PILImage.open(stream) as opened:
                return _to_rgb(ImageOps.exif_transpose(opened))
    except (OSError, SyntaxError, ValueError, PILImage.DecompressionBombError) as error:
        raise DataError(f"{where}: cannot be decoded ({error}); fetch the picture again") from error


def _to_rgb(picture: Image) -> Image:
    from PIL import Image as PILImage

    if picture.mode.startswith("I;16"):
        # Pillow would clip the values at 255, which leaves a white picture
        return picture.convert("I").point(lambda value: value * (1 / 256)).convert("RGB")
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        white = PILImage.new("RGBA", picture.size, (255, 255, 255, 255))
        picture = PILImage.alpha_composite(white, picture)
    return picture.convert("RGB")


class _StrictDecoding:
    """While entered, by any number of threads, Pillow reports cut files.

    lmms-eval tells Pillow to overlook them, for the whole process; half a grey picture would then
    be shown to a model as if it were whole.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before = False

    def __enter__(self) -> None:
        from PIL import ImageFile

        with self._lock:
            if self._inside == 0:
                self._before = ImageFile.LOAD_TRUNCATED_IMAGES
                ImageFile.LOAD_TRUNCATED_IMAGES = False
            self._inside += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        from PIL import ImageFile

        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                ImageFile.LOAD_TRUNCATED_IMAGES = self._before


STRICT_DECODING = _StrictDecoding()
