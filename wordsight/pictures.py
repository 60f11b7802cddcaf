"""Decoding pictures the same way everywhere."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from wordsight.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

# Real sources hold pictures of 178 megapixels; what is far above any camera is an attack.
MAX_PIXELS = 400_000_000


def decode_rgb(stream: IO[bytes], where: str) -> Image:
    """Decode a picture to upright RGB; transparency goes onto white.

    Raises DataError, naming ``where``, when the bytes are no picture, are cut, or hold more than
    400 megapixels.
    """
    import warnings

    from PIL import Image as PILImage
    from PIL import ImageOps

    try:
        with warnings.catch_warnings():
            # Our own bound stands in for Pillow's, which refuses pictures that real sources hold.
            warnings.simplefilter("ignore", PILImage.DecompressionBombWarning)
            with PILImage.open(stream) as opened:
                if opened.width * opened.height > MAX_PIXELS:
                    raise DataError(
                        f"{where}: {opened.width} x {opened.height} pixels is too large"
                    )
                picture = ImageOps.exif_transpose(opened)
                if picture.has_transparency_data:
                    picture = picture.convert("RGBA")
                    white = PILImage.new("RGBA", picture.size, (255, 255, 255, 255))
                    picture = PILImage.alpha_composite(white, picture)
                return picture.convert("RGB")
    except DataError:
        raise
    except (OSError, SyntaxError, ValueError, PILImage.DecompressionBombError) as error:
        raise DataError(f"{where}: cannot be decoded ({error}); fetch the picture again") from error
