"""Pictures as they come: modes, orientation, damage."""

from __future__ import annotations

import io

import pytest
from PIL import Image, ImageFile

from wordsight.errors import DataError
from wordsight.pictures import decode_rgb


def _encoded(picture: Image.Image, form: str, **options: object) -> io.BytesIO:
    stream = io.BytesIO()
    picture.save(stream, form, **options)
    stream.seek(0)
    return stream


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "1"])
def test_every_mode_becomes_rgb(mode: str) -> None:
    form = "TIFF" if mode in ("CMYK", "I;16") else "PNG"

    picture = decode_rgb(_encoded(Image.new(mode, (5, 4)), form), "here")

    assert (picture.mode, picture.size) == ("RGB", (5, 4))


def test_transparency_goes_onto_white() -> None:
    picture = decode_rgb(_encoded(Image.new("RGBA", (2, 2), (0, 0, 0, 0)), "PNG"), "here")

    assert picture.getpixel((0, 0)) == (255, 255, 255)


def test_camera_orientation_is_applied() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6

    picture = decode_rgb(_encoded(Image.new("RGB", (8, 4)), "JPEG", exif=exif), "here")

    assert picture.size == (4, 8)


@pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n"])
def test_what_is_no_picture_says_where(content: bytes) -> None:
    with pytest.raises(DataError, match=r"folder/a\.png.*cannot be decoded"):
        decode_rgb(io.BytesIO(content), "folder/a.png")


def test_a_cut_jpeg_is_an_error_and_not_half_a_picture() -> None:
    noise = Image.effect_noise((64, 64), 90)
    content = _encoded(noise, "JPEG").getvalue()

    with pytest.raises(DataError, match="cannot be decoded"):
        decode_rgb(io.BytesIO(content[: len(content) // 2]), "here")


def test_sixteen_bits_keep_their_greys() -> None:
    picture = Image.new("I;16", (4, 4), 128 * 256)

    assert decode_rgb(_encoded(picture, "PNG"), "here").getpixel((0, 0)) == (128, 128, 128)


def test_a_cut_picture_is_found_though_pillow_was_told_to_overlook_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    content = _encoded(Image.effect_noise((64, 64), 90), "JPEG").getvalue()

    with pytest.raises(DataError, match="cannot be decoded"):
        decode_rgb(io.BytesIO(content[: len(content) // 2]), "here")
    assert ImageFile.LOAD_TRUNCATED_IMAGES
