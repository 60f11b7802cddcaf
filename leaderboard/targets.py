"""What ``submit --to`` names: a board's folder, a running board, a dataset repository, a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from leaderboard.audit import ENTRIES, SNAPSHOTS
from leaderboard.catalog import BOARD_FILE
from wordsight.errors import WordsightError

HUB = "hf://datasets/"
PACKED = ".jsonl"

_FORMS = (
    "--to takes a board's folder, http(s)://ADDRESS of a running board, hf://datasets/ORG/REPO, or "
    f"a file name that ends in {PACKED}"
)
# what may lie in a folder that is, or is to become, a board: its own, and what a clone brings
_OWN = frozenset({ENTRIES, SNAPSHOTS, "scores", "incoming", "ledger.jsonl", BOARD_FILE})


@dataclass(frozen=True)
class Target:
    """``place`` is the folder, address, repository or file; ``new`` where a board begins there."""

    kind: Literal["board", "service", "hub", "file"]
    place: str
    new: bool = False


def read_target(to: str) -> Target:
    """What the text names. Raises WordsightError, saying what was understood, for anything else."""
    if to.startswith(("http://", "https://")):
        return Target("service", to)
    if to.startswith(HUB):
        repository = to.removeprefix(HUB).rstrip("/")
        if not re.fullmatch(r"[^/\s]+/[^/\s]+", repository):
            raise WordsightError(f"{to}: {repository!r} is no repository; give {HUB}ORG/REPO")
        return Target("hub", repository)
    if "://" in to or to.startswith("hf:"):
        raise WordsightError(f"{to}: not understood; {_FORMS}")
    path = Path(to)
    if to.endswith(PACKED):
        if path.is_dir():
            raise WordsightError(f"{to}: is a folder; give the name of a file to pack into")
        return Target("file", to)
    return _board(path)


def _board(path: Path) -> Target:
    if path.exists() and not path.is_dir():
        raise WordsightError(f"{path}: is a file and no board; {_FORMS}")
    if not path.exists():
        if re.fullmatch(r"\.[A-Za-z]\w*", path.suffix):
            raise WordsightError(
                f"{path}: understood as a board's folder, but there is none, and the name looks "
                f"like a file or a server. To pack into a file, end the name in {PACKED}; to "
                "send to a running board, begin with https://; to begin a board in a folder of "
                "this name, make the folder first"
            )
        return Target("board", str(path), new=True)
    names = {one.name for one in path.iterdir()}
    if names & {"ledger.jsonl", BOARD_FILE}:
        return Target("board", str(path))
    others = sorted(n for n in names - _OWN if not n.startswith((".", "README", "LICENSE")))
    if others:
        raise WordsightError(
            f"{path}: holds no board, but other files ({', '.join(others[:3])}); a board needs a "
            "folder of its own"
        )
    return Target("board", str(path), new=True)
