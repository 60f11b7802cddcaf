"""Leaving out what a composition cannot work with, before it starts.

One bad row must not cost an audit of thousands. Pictures are decoded in full, because the header of
a cut file is sound; what was found is kept by content, so a second run does not decode again.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from symbal_tasks.audit.captions import PICTURES, CaptionSet, left_out
from symbal_tasks.backends import Row
from symbal_tasks.cache import ContentCache, content_key
from symbal_tasks.compositions import Needs
from symbal_tasks.symbal import Progress, no_progress
from wordsight.errors import DataError

NO_PICTURE = "picture cannot be decoded"


def usable(
    captions: CaptionSet,
    needs: Needs,
    cache: ContentCache,
    progress: Progress = no_progress,
) -> CaptionSet:
    """The rows that have what is needed; the others are counted in ``skipped``.

    Raises DataError when none is left.
    """
    skipped: Counter[str] = Counter()
    kept: list[Row] = []
    for number, row in enumerate(captions.rows, 1):
        progress("check rows", number, len(captions.rows))
        if problem := _problem(row, needs, cache):
            skipped[problem] += 1
        else:
            kept.append(row)
    if not kept:
        raise DataError(
            f"no row is left to audit; {left_out(skipped)}; give references, pictures (--images) "
            "or another --composition"
        )
    # counts add up: the reader may have left out rows for the same reason
    total = dict(Counter(captions.skipped) + skipped)
    return CaptionSet(tuple(kept), {row.id: captions.picture_of[row.id] for row in kept}, total)


def pictures_in(
    folder: Path, cache: ContentCache, progress: Progress = no_progress
) -> tuple[list[Path], dict[str, list[str]]]:
    """Pictures below a folder, and by reason the names of what only bears a picture's name.

    A link out of the folder is left out: what lies there was not meant to be sent anywhere.
    """
    root = folder.resolve()
    named = sorted(p for p in folder.rglob("*") if p.suffix.lower() in PICTURES)
    kept: list[Path] = []
    skipped: dict[str, list[str]] = {}
    for number, path in enumerate(named, 1):
        progress("check pictures", number, len(named))
        if problem := _no_picture(path, root, cache):
            skipped.setdefault(problem, []).append(path.relative_to(folder).as_posix())
        else:
            kept.append(path)
    return kept, skipped


def names_left_out(skipped: Mapping[str, Sequence[str]], most: int = 10) -> list[str]:
    """A line for each reason, with the first names."""
    lines = []
    for reason, names in skipped.items():
        more = f" and {len(names) - most} more" if len(names) > most else ""
        shown = ", ".join(names[:most])
        lines.append(f"left out: {len(names)} ({reason}): {shown}{more}")
    return lines


def _problem(row: Row, needs: Needs, cache: ContentCache) -> str:
    if needs.references and not row.reference.strip():
        return "no reference"
    if not needs.pictures and (row.reference or not needs.captioned):
        return ""
    if row.picture is None:
        return "no picture"
    try:
        content = row.picture()
    except OSError:
        return "picture cannot be read"
    return "" if _decodes(content, cache) else NO_PICTURE


def _no_picture(path: Path, root: Path, cache: ContentCache) -> str:
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(root):
            return "link out of the folder"
        if not real.is_file():
            return "not a file"
        content = real.read_bytes()
    except (OSError, RuntimeError):
        return "cannot be read"
    return "" if _decodes(content, cache) else "no picture"


def _decodes(content: bytes, cache: ContentCache) -> bool:
    from wordsight.pictures import decode_rgb

    key = content_key("decodes", content)
    held = cache.get_many([key])
    if not held:
        try:
            decode_rgb(io.BytesIO(content), "picture")
            held = {key: b"1"}
        except DataError:
            held = {key: b"0"}
        cache.put_many(held)
    return held[key] == b"1"
