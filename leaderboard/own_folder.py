"""A folder that one command fills: never mixed with what others put there, never half."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wordsight.errors import DataError

# names what the command wrote, so that the next run can take it away
LIST = ".wordsight-files"


@contextmanager
def own_folder(out: Path) -> Iterator[Path]:
    """An empty folder to write into, which becomes ``out`` when the block ends well.

    What an earlier run wrote to ``out`` is replaced. Hidden files there are left alone.

    Raises DataError where ``out`` is a file or holds anything else.
    """
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: is a file; give a folder")
    before = _listed(out)
    others = sorted(_files(out) - before)
    if others:
        raise DataError(
            f"{out}: holds other files ({', '.join(others[:3])}); give a new folder, or empty this "
            "one"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = out.parent / f".{out.name}-{uuid.uuid4().hex}.part"
    draft.mkdir()
    try:
        yield draft
        written = _files(draft)
        (draft / LIST).write_text("\n".join(sorted(written)) + "\n", encoding="utf-8")
        for name in [*sorted(written), LIST]:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (draft / name).replace(out / name)
        _remove(out, before - written)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _listed(out: Path) -> set[str]:
    path = out / LIST
    return set(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else set()


def _files(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir())
    return {name.as_posix() for name in found if not name.parts[0].startswith(".")}


def _remove(out: Path, names: set[str]) -> None:
    for name in names & _files(out):
        (out / name).unlink()
    # deepest first, so that a folder is empty when its turn comes
    for folder in sorted((p for p in out.rglob("*") if p.is_dir()), reverse=True):
        if not folder.name.startswith(".") and not any(folder.iterdir()):
            folder.rmdir()
