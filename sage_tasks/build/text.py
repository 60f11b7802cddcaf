"""Reading text files as they come: either line end, byte-order marks, invisible marks."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from pathlib import Path
from typing import Any

from wordsight.errors import DataError

# Marks that steer the direction of writing or join characters; one Farsi target carries U+200E.
_INVISIBLE = dict.fromkeys([0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0xFEFF])


def clean(text: str) -> str:
    """Composed form (NFC) without direction marks and outer blanks."""
    return unicodedata.normalize("NFC", text.translate(_INVISIBLE)).strip()


def read_text(path: Path) -> str:
    """Content of a UTF-8 file, line ends as they are. Raises DataError when it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"{path}: the file does not exist") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 (byte {error.start}); fetch the file again") from error


def read_lines(path: Path) -> list[str]:
    """Lines without their ends; a last empty line is no line."""
    lines = read_text(path).replace("\r\n", "\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def read_json(path: Path) -> Any:
    """A JSON document. Raises DataError naming the place of a fault."""
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error}); was the download cut?") from None


def read_table(path: Path, columns: set[str], delimiter: str) -> list[tuple[int, dict[str, str]]]:
    """Rows of a CSV or TSV file with a header, each with the line on which it ends.

    Cells may be quoted and span lines; values stay text (sense 7.1 is not 7.10). Raises DataError
    when a column is missing.
    """
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), delimiter=delimiter)
    missing = columns - set(reader.fieldnames or ())
    if missing:
        raise DataError(f"{path}: no column {', '.join(sorted(missing))} in the header")
    return [
        (reader.line_num, {key: value or "" for key, value in row.items() if key}) for row in reader
    ]
