"""What of a dataset may be passed on to others."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from wordsight.errors import DataError

# Licences under which an unchanged copy may be passed on, with credit, at least for no money.
_OPEN = re.compile(
    r"creativecommons\.org/|\bcc[ -]?(?:by|0)\b|\bmit\b|\bapache\b|public domain"
    r"|flickr\.com/commons/usage|usa\.gov/copyright",
    re.IGNORECASE,
)


class RightsError(DataError):
    """The dataset holds something that may not be passed on."""


def check_rights(folder: Path, queries_only: bool = False) -> None:
    """Raise RightsError, with the reason, when a dataset holds what may not be passed on.

    Checked: the licence of each picture (one without a known licence may not), glosses of
    BabelNet, whose terms forbid it, and texts of credentialed sources.
    """
    glosses = _babelnet_glosses(folder)
    if glosses:
        raise RightsError(
            f"{folder}: {glosses} queries carry a gloss from BabelNet, whose licence forbids "
            "passing glosses on; build without them, or push with --i-have-the-rights"
        )
    if credentialed := _credentialed(folder):
        raise RightsError(
            f"{folder}: {credentialed} texts come from a source under a credentialed data use "
            "agreement (MIMIC-CXR), which forbids passing them on; keep this dataset to yourself"
        )
    if queries_only:
        return
    closed = Counter(
        (source, licence) for source, licence in _licences(folder) if not is_open(licence)
    )
    if closed:
        (source, licence), number = closed.most_common(1)[0]
        known = f"licence {licence!r}" if licence else "no known licence"
        raise RightsError(
            f"{folder}: {sum(closed.values())} pictures may not be passed on (most: {number} from "
            f"{source or 'an unknown source'} with {known}); push with --queries-only, so that "
            "others join their own copies, or with --i-have-the-rights if you do have them"
        )


def is_open(licence: str) -> bool:
    """Whether an unchanged copy may be passed on under this licence."""
    return bool(_OPEN.search(licence))


def _licences(folder: Path) -> list[tuple[str, str]]:
    import pyarrow.parquet as pq

    found: list[tuple[str, str]] = []
    for path in sorted((folder / "images").glob("*.parquet")):
        table = pq.read_table(path, columns=["source", "licence"])
        found += zip(table["source"].to_pylist(), table["licence"].to_pylist(), strict=True)
    return found


def _credentialed(folder: Path) -> int:
    import pyarrow.parquet as pq

    number = 0
    for path in sorted((folder / "base").glob("*.parquet")):
        licences = pq.read_table(path, columns=["licence"])["licence"].to_pylist()
        number += sum("credentialed" in licence.lower() for licence in licences)
    return number


def _babelnet_glosses(folder: Path) -> int:
    import pyarrow.parquet as pq

    number = 0
    for path in sorted(folder.glob("*/*.parquet")):
        if {"sense", "gloss"} <= set(pq.read_schema(path).names):
            table = pq.read_table(path, columns=["sense", "gloss"])
            pairs = zip(table["sense"].to_pylist(), table["gloss"].to_pylist(), strict=True)
            number += sum(bool(gloss) and sense.startswith("bn:") for sense, gloss in pairs)
    return number
