"""Vector drawings: some entity pictures of Wikimedia are SVG, which no image decoder reads."""

from __future__ import annotations

from wordsight.errors import DataError

WIDTH = 512  # pixels; what most vision towers take in


def is_svg(content: bytes) -> bool:
    """Whether the bytes are an SVG drawing, whatever the file is called."""
    head = content[:4096].lstrip(b"\xef\xbb\xbf \r\n\t")
    return head.startswith(b"<svg") or (
        head.startswith((b"<?xml", b"<!--", b"<!DOC")) and (b"<svg" in head)
    )


def render_svg(content: bytes, where: str) -> bytes:
    """PNG of the drawing on a transparent ground. Raises DataError when it cannot be rendered."""
    try:
        import resvg_py
    except ImportError:
        raise DataError(
            f"{where}: an SVG drawing; `pip install resvg-py` so that it can be rendered, or store "
            "it as PNG"
        ) from None
    try:
        rendered = resvg_py.svg_to_bytes(svg_string=content.decode("utf-8-sig"), width=WIDTH)
    except (ValueError, RuntimeError) as error:
        raise DataError(f"{where}: an SVG drawing that cannot be rendered ({error})") from error
    return bytes(rendered)
