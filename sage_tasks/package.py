"""A SAGE dataset on disk: pictures stored once, queries that name them by content.

Two forms are read, with the same meaning:

* Parquet, as built and pushed: ``images/*.parquet`` (config ``images``) and
  ``<config>/<split>-*.parquet`` (one config per subset);
* plain files, as in the demo set: ``images.jsonl`` beside an ``images/`` folder, and
  ``<config>/<split>.jsonl``.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from sage_tasks.records import ImageRecord, Query, fingerprint
from wordsight.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

Record = TypeVar("Record", bound=BaseModel)


@dataclass(frozen=True)
class Package:
    """Queries of one config and split, and the pictures they use.

    Build one with :func:`open_package`, which checks that the parts fit together.
    """

    root: Path
    config: str
    split: str
    queries: tuple[Query, ...]
    images: Mapping[str, ImageRecord]
    _read: Callable[[ImageRecord], bytes]

    @cached_property
    def fingerprint(self) -> str:
        """Identity of this build: item ids, gold and picture content."""
        return fingerprint(self.queries)

    def picture_bytes(self, image_id: str) -> bytes:
        """The picture's bytes as they came. Raises DataError when they are missing or changed."""
        record = self.images[image_id]
        content = self._read(record)
        found = hashlib.sha256(content).hexdigest()
        if found != image_id:
            raise DataError(
                f"{self._where(record)}: the bytes hash to {found[:12]}, not {image_id[:12]}; "
                "the file was changed or cut after the dataset was built: fetch it again"
            )
        return content

    def picture(self, image_id: str) -> Image:
        """The picture decoded to RGB, upright. Raises DataError when it cannot be decoded."""
        from wordsight.pictures import decode_rgb

        content = self.picture_bytes(image_id)
        return decode_rgb(io.BytesIO(content), self._where(self.images[image_id]))

    def _where(self, record: ImageRecord) -> str:
        used = next((q.id for q in self.queries if record.id in q.candidates), "no item")
        name = record.file or record.source_id
        return f"{self.root / 'images'}: picture {name} (used by item {used})"


def open_package(root: Path, config: str, split: str = "test") -> Package:
    """Open and check a dataset folder.

    Raises DataError naming file, line and item for: a missing folder or file, a line that is not
    JSON or breaks the schema, a duplicate item or picture, a candidate that no picture has, a
    picture file that is not there.
    """
    if not root.is_dir():
        raise DataError(f"no dataset at {root}: the folder does not exist")
    queries = tuple(read_queries(root, config, split))
    if not queries:
        raise DataError(f"{root}: config {config!r}, split {split!r} holds no queries")
    if (root / "images.jsonl").is_file():
        images, read = _plain_images(root)
    else:
        images, read = _parquet_images(root)
    _check_unique([q.id for q in queries], f"{root}: config {config!r}: item")
    for query in queries:
        for position, image_id in enumerate(query.candidates):
            if image_id not in images:
                raise DataError(
                    f"{root}: config {config!r}: item {query.id} ({query.term!r}): candidate "
                    f"{position} is picture {image_id[:12]}..., which config 'images' does not hold"
                )
    used = {image_id for query in queries for image_id in query.candidates}
    package = Package(
        root, config, split, queries, {k: v for k, v in images.items() if k in used}, read
    )
    for record in package.images.values():
        if record.file and not (root / "images" / record.file).is_file():
            raise DataError(f"{package._where(record)}: the file is missing")
    return package


def read_queries(root: Path, config: str, split: str) -> Iterator[Query]:
    """Yield the validated queries of a dataset folder, which may be without its pictures.

    Raises DataError naming file and row.
    """
    plain = root / config / f"{split}.jsonl"
    if plain.is_file():
        yield from read_jsonl(plain, Query)
        return
    shards = sorted((root / config).glob(f"{split}-*.parquet"))
    if not shards:
        known = sorted(p.name for p in root.iterdir() if p.is_dir() and p.name != "images")
        raise DataError(
            f"{root}: no config {config!r} with split {split!r}; configs here: {known or 'none'}"
        )
    import pyarrow.parquet as pq

    for shard in shards:
        table = pq.read_table(shard)
        labels = _class_labels(table.schema.metadata or {})
        for row_number, row in enumerate(table.to_pylist()):
            for column, names in labels.items():
                row[column] = [names[value] for value in row[column]]
            yield parse_record(row, Query, f"{shard}: row {row_number}")


def _class_labels(metadata: Mapping[bytes, bytes]) -> dict[str, list[str]]:
    """Names of the columns that are lists of class numbers, from Hugging Face's description."""
    described = json.loads(metadata.get(b"huggingface", b"{}"))
    features = described.get("info", {}).get("features", {})
    inner = {name: feature.get("feature") for name, feature in features.items()}
    return {
        name: feature["names"]
        for name, feature in inner.items()
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
    }


def read_jsonl(path: Path, model: type[Record]) -> Iterator[Record]:
    """Yield the validated records of a JSON Lines file; DataError names file and line."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            where = f"{path}: line {number}"
            try:
                payload = json.loads(line)
            except ValueError as error:
                raise DataError(f"{where}: not JSON ({error}); was the file cut?") from None
            yield parse_record(payload, model, where)


def parse_record(payload: Any, model: type[Record], where: str) -> Record:
    """Validate one row; DataError names the place, the item where it has an id, and the field."""
    try:
        return model.model_validate(payload)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        item = payload.get("id", "without an id") if isinstance(payload, dict) else "not an object"
        message = first["msg"].removeprefix("Value error, ")
        raise DataError(f"{where}: item {item}: {field + ': ' if field else ''}{message}") from None


def _plain_images(root: Path) -> tuple[dict[str, ImageRecord], Callable[[ImageRecord], bytes]]:
    records = list(read_jsonl(root / "images.jsonl", ImageRecord))
    _check_unique([r.id for r in records], f"{root / 'images.jsonl'}: picture")
    folder = (root / "images").resolve()
    for record in records:
        # a hostile name ("../../etc/passwd") must not leave the dataset
        if not record.file or not (folder / record.file).resolve().is_relative_to(folder):
            raise DataError(
                f"{root / 'images.jsonl'}: picture {record.id[:12]}...: file {record.file!r} is "
                "empty or outside the images folder"
            )

    def read(record: ImageRecord) -> bytes:
        return (folder / record.file).read_bytes()

    return {r.id: r for r in records}, read


def _parquet_images(root: Path) -> tuple[dict[str, ImageRecord], Callable[[ImageRecord], bytes]]:
    from sage_tasks.image_shards import ImageShards

    shards = ImageShards(root / "images")
    images: dict[str, ImageRecord] = {}
    for row, where in shards.rows():
        record = parse_record(row, ImageRecord, where)
        if record.id in images:
            raise DataError(f"{where}: picture {record.id} stands twice")
        images[record.id] = record

    def read(record: ImageRecord) -> bytes:
        return shards.read(record.id)

    return images, read


def _check_unique(ids: Sequence[str], what: str) -> None:
    seen: set[str] = set()
    for identifier in ids:
        if identifier in seen:
            raise DataError(f"{what} {identifier} stands twice")
        seen.add(identifier)
