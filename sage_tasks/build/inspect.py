"""Looking at a picture without decoding it: can it be used, and how large is it."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path

from sage_tasks.build.svg import is_svg, render_svg
from wordsight.errors import DataError
from wordsight.pictures import decode_rgb

_ORIENTATION = 0x0112  # EXIF tag; values from 5 on turn the picture by a quarter
_PNG_END = b"IEND\xaeB`\x82"


@dataclass(frozen=True)
class Look:
    """Size of the picture as it will be seen, and the suffix that its content asks for."""

    width: int
    height: int
    suffix: str


def load_picture(path: Path) -> bytes:
    """The bytes to store: as they came, except that SVG is rendered to PNG.

    Raises DataError when the file cannot be read or the SVG not rendered.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    return render_svg(content, str(path)) if is_svg(content) else content


def look(content: bytes, where: str, thorough: bool = False) -> Look:
    """Inspect a picture. Raises DataError with the reason when it cannot be used.

    The header and the end mark of JPEG, PNG, GIF and WebP tell whether the file is whole; only a
    file without its end mark, or of another format, is decoded. ``thorough`` decodes every one.
    """
    from PIL import Image as PILImage
    from PIL import UnidentifiedImageError

    if not content:
        raise DataError(f"{where}: zero bytes")
    if content[:512].lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        raise DataError(f"{where}: a web page, not a picture; the download was refused")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PILImage.DecompressionBombWarning)
            with PILImage.open(io.BytesIO(content)) as opened:
                form = opened.format or ""
                width, height = opened.size
                turned = _orientation(opened, content) >= 5
    except PILImage.DecompressionBombError as error:
        raise DataError(f"{where}: more pixels than can be decoded safely") from error
    except UnidentifiedImageError:
        # Pillow's own message holds a memory address, and reports must repeat bit for bit.
        raise DataError(f"{where}: not a picture of any known format") from None
    except (OSError, SyntaxError, ValueError) as error:
        raise DataError(f"{where}: not a picture that can be decoded ({error})") from error
    if thorough or not _is_whole(form, content):
        decode_rgb(io.BytesIO(content), where)
    if turned:
        width, height = height, width
    return Look(width, height, _suffix(form))


def _orientation(opened: object, content: bytes) -> int:
    # Pillow decodes a whole PNG to look for EXIF after the pixels; most have none.
    if getattr(opened, "format", "") == "PNG" and b"eXIf" not in content:
        return 1
    return int(opened.getexif().get(_ORIENTATION, 1))  # type: ignore[attr-defined]


def _is_whole(form: str, content: bytes) -> bool:
    if form in ("JPEG", "MPO"):
        return content.rstrip(b"\0\r\n ").endswith(b"\xff\xd9")
    if form == "PNG":
        return content.endswith(_PNG_END)
    if form == "GIF":
        return content.rstrip(b"\0").endswith(b";")
    if form == "WEBP":
        return int.from_bytes(content[4:8], "little") + 8 <= len(content)
    return False


def _suffix(form: str) -> str:
    return {"JPEG": ".jpg", "MPO": ".jpg", "TIFF": ".tif"}.get(form, f".{form.lower()}")
