"""Names in WikiDiverse: entity titles out of damaged addresses, picture files out of addresses."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import unquote

from sage_tasks.build.text import clean

PAGE = "/wiki/"
_SUFFIX = re.compile(r"\.(?:jpe?g|png|svg|gif|webp|tiff?|bmp)", re.IGNORECASE)
# The downloaders of this dataset turn these into PNG and keep the rest of the name.
_CONVERTED = (".svg", ".gif")


def entity_title(address: str) -> str:
    """Title behind an entity address, or "" for NIL.

    Takes what the files hold: "https://en.wikipedia.org/wiki/A%C3%A9" with a junk character
    before or inside the scheme ("nhttps", "]https", "ttps"), a bare title, blanks for underscores.
    """
    text = clean(address)
    if not text or text.lower() == "nil":
        return ""
    if PAGE in text:
        text = text.split(PAGE, 1)[1]
    # An anchor is a part of the page, not another entity.
    title = clean(unquote(text).split("#", 1)[0]).replace(" ", "_").strip("_")
    return title[:1].upper() + title[1:]


def picture_name(address: str) -> str:
    """File name of a picture: the MD5 of the address's last part, and its suffix.

    An SVG is stored as PNG by the people who publish the pictures.
    """
    last = address.rsplit("/", 1)[-1]
    suffix = _suffix(last)
    if suffix.lower() == ".svg":
        suffix = ".png"
    return hashlib.md5(last.encode(), usedforsecurity=False).hexdigest() + suffix


def file_names(address: str) -> list[str]:
    """Names under which the picture may lie on disk, most usual first.

    Besides :func:`picture_name`: named after the whole address, and GIF or SVG kept or converted.
    """
    last = address.rsplit("/", 1)[-1]
    suffix = _suffix(last)
    suffixes = [suffix, ".png"] if suffix.lower() in _CONVERTED else [suffix]
    stems = [hashlib.md5(t.encode(), usedforsecurity=False).hexdigest() for t in (last, address)]
    names = [picture_name(address), *(stem + end for stem in stems for end in suffixes)]
    return list(dict.fromkeys(names))


def _suffix(last: str) -> str:
    found = _SUFFIX.findall(last)
    return found[-1] if found else ""
