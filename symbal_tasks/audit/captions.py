"""Reading captions in the forms people keep them in."""

from __future__ import annotations

import codecs
import csv
import io
import json
import tarfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symbal_tasks.backends import Row
from wordsight.errors import DataError

CAPTION_KEYS = ("caption", "text", "txt", "generated_caption", "prediction")
IMAGE_KEYS = ("image", "file_name", "filename", "image_path", "path", "image_id")
REFERENCE_KEYS = ("reference", "reference_caption", "ground_truth")
PICTURES = (".jpg", ".jpeg", ".png", ".webp")


@dataclass(frozen=True)
class Columns:
    """Names of the fields, where they are not among those that are tried."""

    caption: str = ""
    image: str = ""
    reference: str = ""
    id: str = ""


@dataclass(frozen=True)
class CaptionSet:
    """Rows to audit and how many were left out, by reason.

    ``picture_of`` maps a row's id to its picture's key: several captions may share a picture.
    """

    rows: tuple[Row, ...]
    picture_of: Mapping[str, str]
    skipped: Mapping[str, int] = field(default_factory=dict)


def read_captions(
    path: Path,
    images: Path | None = None,
    columns: Columns = Columns(),
) -> CaptionSet:
    """Read CSV, JSONL, Parquet, a webdataset .tar, COCO captions or ShareGPT4V JSON.

    Rows without a caption, with an id that stood before, that are not UTF-8, or whose picture is
    not in ``images`` are counted and left out. Where the file gives no ids a row is called after
    its picture, from a picture's second caption on with a number ("a.png#2"). Raises DataError
    when the file is missing, of no known form, not UTF-8 as a whole, lacks a caption field, or no
    row is left.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file of captions")
    if images is not None and not images.is_dir():
        raise DataError(f"{images}: no such folder of pictures")
    readers: dict[str, Callable[[Path], Iterator[Entry]]] = {
        ".csv": _csv,
        ".tsv": _csv,
        ".jsonl": _jsonl,
        ".parquet": _parquet,
        ".tar": _tar,
        ".json": _json,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise DataError(f"{path}: no known form; use {', '.join(readers)}")
    with path.open("rb") as stream:
        if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise DataError(f"{path}: this is UTF-16 text; save it as UTF-8")
    return collect(reader(path), str(path), images, columns)


@dataclass(frozen=True)
class Entry:
    """One raw row: its fields, or why it cannot be read; and its picture's bytes if it has them."""

    fields: Mapping[str, Any]
    problem: str = ""
    content: bytes | None = None


def collect(
    entries: Iterable[Entry], where: str, images: Path | None, columns: Columns
) -> CaptionSet:
    """Turn raw rows into a set. Raises DataError as :func:`read_captions`."""
    skipped: Counter[str] = Counter()
    rows: dict[str, Row] = {}
    pictures: dict[str, str] = {}
    caption_key = ""
    named: Counter[str] = Counter()
    given: set[str] = set()
    any_picture = False
    for number, entry in enumerate(entries):
        if entry.problem:
            skipped[entry.problem] += 1
            continue
        if not caption_key:
            caption_key = _caption_key(entry.fields, columns, where)
        caption = str(entry.fields.get(caption_key) or "").strip()
        image = _first(entry.fields, (columns.image,) if columns.image else IMAGE_KEYS)
        own = _first(entry.fields, (columns.id,) if columns.id else ("id",))
        picture = _picture(entry, image, images)
        any_picture = any_picture or bool(image)
        if not caption:
            skipped["empty caption"] += 1
        elif own and own in given:
            skipped["id that stood before"] += 1
        elif picture is _MISSING:
            skipped["picture missing"] += 1
        else:
            given.add(own)
            key = _free(own or image or str(number), named, rows)
            reference = _first(
                entry.fields, (columns.reference,) if columns.reference else REFERENCE_KEYS
            )
            rows[key] = Row(key, caption, reference, picture)
            pictures[key] = image or key
    if not rows:
        no_field = images is not None and skipped["picture missing"] and not any_picture
        field_hint = "; no field names a picture: name it with --image-field" if no_field else ""
        raise DataError(f"{where}: no row is left to audit; {left_out(skipped)}{field_hint}")
    return CaptionSet(tuple(rows.values()), pictures, dict(skipped))


def left_out(skipped: Mapping[str, int]) -> str:
    """What was left out in words; says that there was nothing where nothing was."""
    told = ", ".join(f"{count} ({reason})" for reason, count in skipped.items() if count)
    return f"left out: {told}" if told else "the file is empty"


def _free(wanted: str, named: Counter[str], taken: Collection[str]) -> str:
    """``wanted``, or with the first number behind it that makes it a name not taken yet."""
    key = wanted
    while key in taken:
        named[wanted] += 1
        key = f"{wanted}#{named[wanted] + 1}"
    return key


def read_hub(
    name: str,
    split: str = "train",
    columns: Columns = Columns(),
) -> CaptionSet:
    """Read a dataset by its hub name or a local folder, without decoding its pictures."""
    from datasets import Image, load_dataset

    dataset = load_dataset(name, split=split)
    for column, feature in dataset.features.items():
        if isinstance(feature, Image):
            dataset = dataset.cast_column(column, Image(decode=False))
    return collect((_hub_entry(row) for row in dataset), name, None, columns)


def _missing() -> bytes:
    raise DataError("the picture is missing")


_MISSING: Callable[[], bytes] = _missing


def _picture(entry: Entry, image: str, images: Path | None) -> Callable[[], bytes] | None:
    if entry.content is not None:
        content = entry.content
        return lambda: content
    if images is None:
        return None
    if not image:
        return _MISSING
    root = images.resolve()
    names = [image] if Path(image).suffix else [image + ending for ending in PICTURES]
    for name in names:
        path = (root / name).resolve()
        # a hostile name ("../../etc/passwd") must not leave the folder
        if path.is_relative_to(root) and path.is_file():
            return path.read_bytes
    return _MISSING


def _caption_key(fields: Mapping[str, Any], columns: Columns, where: str) -> str:
    if columns.caption:
        if columns.caption not in fields:
            raise DataError(
                f"{where}: no field {columns.caption!r}; it has {', '.join(map(str, fields))}"
                f"{_separator(fields)}"
            )
        return columns.caption
    for name in CAPTION_KEYS:
        if name in fields:
            return name
    raise DataError(
        f"{where}: no caption field among {', '.join(map(str, fields))}; name it with "
        f"--caption-field{_separator(fields)}"
    )


def _separator(fields: Mapping[str, Any]) -> str:
    """What to add where the header of a CSV was not cut into columns."""
    names = [str(name) for name in fields if name is not None]
    mark = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), "")
    return f"; the separator looks like {mark!r}: save the file with commas" if mark else ""


def _first(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, (str, int)) and str(value) != "":
            return str(value)
    return ""


def _csv(path: Path) -> Iterator[Entry]:
    text = path.read_bytes().decode("utf-8-sig", errors="surrogateescape")
    csv.field_size_limit(1 << 24)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    for row in csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter):
        broken = any(_not_utf8(str(value)) for value in row.values())
        yield Entry({} if broken else row, "not UTF-8" if broken else "")


def _jsonl(path: Path) -> Iterator[Entry]:
    with path.open("rb") as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                fields = json.loads(line.decode("utf-8"))
            except UnicodeDecodeError:
                yield Entry({}, "not UTF-8")
                continue
            except ValueError:
                yield Entry({}, "line is not JSON")
                continue
            if isinstance(fields, dict):
                yield Entry(fields)
            else:
                yield Entry({}, "line is not a JSON object")


def _parquet(path: Path) -> Iterator[Entry]:
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({error})") from None
    for batch in file.iter_batches(batch_size=1024):
        for row in batch.to_pylist():
            yield _hub_entry(row)


def _hub_entry(row: Mapping[str, Any]) -> Entry:
    for name, value in row.items():
        if isinstance(value, dict) and isinstance(value.get("bytes"), bytes):
            return Entry({**row, name: value.get("path") or ""}, content=value["bytes"])
    return Entry(row)


def _tar(path: Path) -> Iterator[Entry]:
    groups: dict[str, dict[str, bytes]] = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isfile() else None
                if stream is None:
                    continue
                folder, _, base = member.name.rpartition("/")
                stem, _, ending = base.partition(".")
                groups.setdefault(f"{folder}/{stem}".lstrip("/"), {})[ending] = stream.read()
    except tarfile.TarError as error:
        raise DataError(f"{path}: cannot be read as tar ({error}); was it cut?") from None
    for key, parts in groups.items():
        content = next((parts[e.lstrip(".")] for e in PICTURES if e.lstrip(".") in parts), None)
        try:
            fields = json.loads(parts["json"]) if "json" in parts else {}
            if "txt" in parts:
                fields["caption"] = parts["txt"].decode("utf-8")
        except UnicodeDecodeError:
            yield Entry({}, "not UTF-8")
            continue
        except ValueError:
            yield Entry({}, "line is not JSON")
            continue
        yield Entry({"id": key, "image": key, **fields}, content=content)


def _json(path: Path) -> Iterator[Entry]:
    try:
        payload = json.loads(path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error})") from None
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error})") from None
    if isinstance(payload, dict) and "annotations" in payload:
        files = {image["id"]: image["file_name"] for image in payload.get("images", [])}
        for annotation in payload["annotations"]:
            image = files.get(annotation.get("image_id"), str(annotation.get("image_id", "")))
            yield Entry({**annotation, "image": image})
    elif isinstance(payload, list):
        for row in payload:
            if isinstance(row, dict) and "conversations" in row:
                yield Entry({**row, "caption": _said_by_model(row["conversations"])})
            elif isinstance(row, dict):
                yield Entry(row)
            else:
                yield Entry({}, "row is not a JSON object")
    else:
        raise DataError(f"{path}: neither COCO captions nor a list of rows")


def _said_by_model(turns: Iterable[Mapping[str, Any]]) -> str:
    said = [str(t.get("value", "")) for t in turns if t.get("from") in ("gpt", "assistant")]
    return said[0] if said else ""


def _not_utf8(text: str) -> bool:
    return any("\udc80" <= letter <= "\udcff" for letter in text)
