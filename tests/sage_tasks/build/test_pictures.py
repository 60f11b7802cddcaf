"""Awkward pictures: each is kept and can be decoded, or is refused with a reason."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile

from sage_tasks.build.folders import PictureFolder
from sage_tasks.build.inspect import load_picture, look
from sage_tasks.build.scan import scan_pictures
from wordsight.errors import DataError
from wordsight.pictures import decode_rgb


def encoded(picture: Image.Image, form: str, **options: object) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, form, **options)
    return stream.getvalue()


def gradient(mode: str = "RGB") -> Image.Image:
    values = np.linspace(0, 255, 40 * 30, dtype=np.uint8).reshape(30, 40)
    return Image.fromarray(np.stack([values] * 3, axis=-1)).convert(mode)


def noise() -> Image.Image:
    values = np.random.default_rng(0).integers(0, 256, (120, 160, 3), dtype=np.uint8)
    return Image.fromarray(values)


def rotated() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return encoded(gradient(), "JPEG", exif=exif)


def transparent_palette() -> bytes:
    return encoded(gradient().convert("P"), "PNG", transparency=0)


def animated() -> bytes:
    return encoded(
        gradient("P"), "GIF", save_all=True, append_images=[gradient("P").rotate(90)], duration=10
    )


def sixteen_bit() -> bytes:
    values = np.linspace(0, 65535, 40 * 30).astype(np.uint16).reshape(30, 40)
    return encoded(Image.fromarray(values), "PNG")


@pytest.mark.parametrize(
    ("content", "size", "suffix"),
    [
        (encoded(gradient("CMYK"), "JPEG"), (40, 30), ".jpg"),
        (transparent_palette(), (40, 30), ".png"),
        (sixteen_bit(), (40, 30), ".png"),
        (animated(), (40, 30), ".gif"),
        (rotated(), (30, 40), ".jpg"),
        (encoded(gradient("RGBA"), "WEBP"), (40, 30), ".webp"),
        (encoded(gradient(), "TIFF"), (40, 30), ".tif"),
        (encoded(gradient(), "BMP"), (40, 30), ".bmp"),
        (encoded(gradient(), "JPEG") + b"\0\0\n", (40, 30), ".jpg"),
    ],
    ids=["cmyk", "palette", "16-bit", "animated", "exif", "webp", "tiff", "bmp", "padded"],
)
def test_kept_and_seen_upright(content: bytes, size: tuple[int, int], suffix: str) -> None:
    seen = look(content, "x")
    assert (seen.width, seen.height, seen.suffix) == (*size, suffix)
    decoded = decode_rgb(io.BytesIO(content), "x")
    assert decoded.mode == "RGB"
    assert decoded.size == size


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "zero bytes"),
        (b"<!DOCTYPE html><html>429 Too Many Requests</html>", "a web page"),
        (b"no picture at all", "not a picture"),
        (encoded(noise(), "JPEG")[:-2000], "cannot be decoded"),
        (encoded(gradient(), "PNG")[:-30], "cannot be decoded"),
        (encoded(noise(), "WEBP")[:-2000], "can(not)? be decoded"),
        (encoded(gradient(), "TIFF")[:-1000], "cannot be decoded"),
        (b"<?xml version='1.0'?><svg", "SVG"),
    ],
    ids=["empty", "html", "text", "cut jpeg", "cut png", "cut webp", "cut tiff", "cut svg"],
)
def test_refused_with_the_reason(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "picture.jpg"
    path.write_bytes(content)
    with pytest.raises(DataError, match=reason):
        look(load_picture(path), str(path))


def test_a_cut_picture_is_found_where_pillow_was_told_to_overlook_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # as importing lmms-eval does
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    with pytest.raises(DataError, match="cannot be decoded"):
        look(encoded(noise(), "JPEG")[:-2000], "x")
    assert ImageFile.LOAD_TRUNCATED_IMAGES


def test_a_cut_jpeg_is_not_saved_by_the_thumbnail_in_it() -> None:
    exif = Image.Exif()
    exif[0x010E] = "\xff\xd9"
    content = encoded(noise(), "JPEG", exif=exif)
    look(content, "x")
    with pytest.raises(DataError):
        look(content[:-2000], "x")


def test_178_megapixels_are_kept_and_more_than_can_be_decoded_is_not() -> None:
    large = encoded(Image.new("1", (13_300, 13_380)), "PNG")
    assert look(large, "x").width == 13_300
    with pytest.raises(DataError, match="more pixels than can be decoded safely"):
        look(encoded(Image.new("1", (13_400, 13_400)), "PNG"), "x")


def test_svg_is_rendered_to_png_the_same_each_time(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="resvg-py is not installed")
    path = tmp_path / "flag.png"  # the name says PNG, the content does not
    path.write_bytes(
        b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20">'
        b'<rect width="30" height="20" fill="#ff0000"/></svg>'
    )
    content = load_picture(path)
    assert content == load_picture(path)
    seen = look(content, "x")
    assert seen.suffix == ".png"
    assert decode_rgb(io.BytesIO(content), "x").getpixel((5, 5)) == (255, 0, 0)


def test_a_sound_ending_with_damage_inside_is_found_when_asked() -> None:
    content = bytearray(encoded(gradient(), "PNG"))
    middle = len(content) // 2
    content[middle : middle + 20] = bytes(20)
    look(bytes(content), "x")
    with pytest.raises(DataError):
        look(bytes(content), "x", thorough=True)


def test_a_scan_lists_what_it_skips_and_takes_up_its_journal(
    tmp_path: Path, picture: Callable[..., bytes]
) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "good.png").write_bytes(picture(1))
    (folder / "bad.png").write_bytes(b"")
    find = PictureFolder(folder).find
    journal = tmp_path / "scan.jsonl"
    names = ["good.png", "bad.png", "gone.png"]
    scan = scan_pictures(names, find, journal)
    assert {(s.detail, s.reason) for s in scan.skipped()} == {
        ("bad.png", "zero bytes"),
        ("gone.png", "the file is missing"),
    }
    assert scan.content("bad.png") is None
    lines = journal.read_text("utf-8").count("\n")
    with journal.open("a", encoding="utf-8") as stream:
        stream.write('{"name": "cut')  # killed while writing
    assert scan_pictures(names, find, journal).pictures == scan.pictures
    assert journal.read_text("utf-8").count("\n") == lines
    (folder / "good.png").write_bytes(picture(2))  # changed: looked at again
    assert scan_pictures(names, find, journal).content("good.png") != scan.content("good.png")


def test_no_damage_to_a_file_ends_a_scan(tmp_path: Path) -> None:
    draw = np.random.default_rng(7)
    originals = [
        encoded(noise(), "JPEG"),
        transparent_palette(),
        animated(),
        rotated(),
        encoded(gradient(), "TIFF"),
        encoded(gradient("RGBA"), "WEBP"),
        encoded(gradient(), "BMP"),
        encoded(gradient(), "ICO"),
        encoded(gradient(), "PPM"),
    ]
    for number in range(400):
        content = bytearray(originals[number % len(originals)])
        for _ in range(int(draw.integers(1, 9))):
            content[int(draw.integers(len(content)))] = int(draw.integers(256))
        cut = int(draw.integers(1, len(content) + 1))
        kept = content[:cut] if number % 3 == 0 else content
        (tmp_path / f"{number}.png").write_bytes(bytes(kept))
    names = [f"{number}.png" for number in range(400)]
    scan = scan_pictures(names, PictureFolder(tmp_path).find, tmp_path / "scan.jsonl")
    assert len(scan.pictures) == 400
    for picture in scan.pictures.values():
        assert bool(picture.id) != bool(picture.reason)
        assert "\n" not in picture.reason
        assert " at 0x" not in picture.reason


def test_linked_folders_are_entered_once(tmp_path: Path, picture: Callable[..., bytes]) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.png").write_bytes(picture(1))
    (tmp_path / "real" / "loop").symlink_to(tmp_path / "real")
    (tmp_path / "coco").mkdir()
    (tmp_path / "coco" / "train2014").symlink_to(tmp_path / "real")
    found = PictureFolder(tmp_path / "coco").find("a.png")
    assert found == tmp_path / "coco" / "train2014" / "a.png"


def test_names_match_in_another_case_or_composition(
    tmp_path: Path, picture: Callable[..., bytes]
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "Cafe\u0301.JPG").write_bytes(picture(1))
    (tmp_path / "a.png").write_bytes(picture(2))
    (tmp_path / "A.png").write_bytes(picture(3))
    folder = PictureFolder(tmp_path)
    assert folder.find("caf\u00e9.jpg") == tmp_path / "sub" / "Cafe\u0301.JPG"
    assert folder.find("A.png") == tmp_path / "A.png"
    assert folder.find("a.png") == tmp_path / "a.png"
    assert folder.find("b.png") is None
