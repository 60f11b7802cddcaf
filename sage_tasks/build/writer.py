"""Writing a dataset folder: pictures in bounded Parquet shards, queries, each file whole or not.

A shard is written beside its place and moved there when complete. Its plan (which pictures, in
which order) stands in its metadata, so a build that was killed keeps the shards that are done.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sage_tasks.build.inspect import load_picture
from sage_tasks.build.scan import Scanned
from sage_tasks.build.schema import IMAGE_FEATURES, KINDS, QUERY_FEATURES, arrow_schema
from sage_tasks.records import ImageRecord, Query
from wordsight.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

SHARD_BYTES = 256 * 2**20
# One picture is read by reading its row group, so groups stay small.
GROUP_PICTURES = 16
GROUP_BYTES = 4 * 2**20
PLAN_KEY = "wordsight.plan"


@dataclass(frozen=True)
class Stored:
    """A picture to store: its record and the file that holds it."""

    record: ImageRecord
    scanned: Scanned


def write_images(
    folder: Path,
    pictures: Sequence[Stored],
    shard_bytes: int = SHARD_BYTES,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[int, int]:
    """Write distinct pictures to ``folder``; one row group is in memory at a time.

    Returns (shards written, shards kept from an earlier run). Raises DataError when a picture
    changed since it was scanned.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shards = list(_bounded(pictures, shard_bytes))
    names = [f"images-{n:05d}-of-{len(shards):05d}.parquet" for n in range(len(shards))]
    for stale in {path.name for path in folder.iterdir()} - set(names):
        (folder / stale).unlink()
    written = done = 0
    for name, shard in zip(names, shards, strict=True):
        path = folder / name
        if _plan_of(path) != _plan(shard):
            _write_shard(path, shard)
            written += 1
        done += len(shard)
        progress(done)
    return written, len(shards) - written


def write_queries(folder: Path, split: str, queries: Sequence[Query]) -> Path:
    """Write one split of one config; a split of some ten thousand queries is one small file."""
    import pyarrow as pa

    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            **query.model_dump(),
            "candidates": list(query.candidates),
            "candidate_sources": list(query.candidate_sources),
            "kinds": [KINDS.index(kind) for kind in query.kinds],
        }
        for query in queries
    ]
    path = folder / f"{split}-00000-of-00001.parquet"
    schema = arrow_schema(QUERY_FEATURES)
    _write_parquet(path, schema, iter([pa.Table.from_pylist(rows, schema=schema)]))
    return path


def write_text(path: Path, text: str) -> None:
    """Write a small file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(text.encode())
    os.replace(partial, path)


def _bounded(pictures: Sequence[Stored], limit: int) -> Iterator[list[Stored]]:
    shard: list[Stored] = []
    total = 0
    for picture in pictures:
        if shard and total + picture.scanned.stored_bytes > limit:
            yield shard
            shard, total = [], 0
        shard.append(picture)
        total += picture.scanned.stored_bytes
    if shard:
        yield shard


def _groups(shard: Sequence[Stored]) -> Iterator[list[Stored]]:
    group: list[Stored] = []
    total = 0
    for picture in shard:
        size = picture.scanned.stored_bytes
        if group and (len(group) == GROUP_PICTURES or total + size > GROUP_BYTES):
            yield group
            group, total = [], 0
        group.append(picture)
        total += size
    if group:
        yield group


def _plan(shard: Sequence[Stored]) -> str:
    records = [picture.record.model_dump() for picture in shard]
    return hashlib.sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()


def _plan_of(path: Path) -> str | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        return None
    try:
        metadata = pq.read_schema(path).metadata or {}
    except (pa.ArrowInvalid, OSError):
        return None
    plan: bytes = metadata.get(PLAN_KEY.encode(), b"")
    return plan.decode()


def _write_shard(path: Path, shard: Sequence[Stored]) -> None:
    import pyarrow as pa

    schema = arrow_schema(IMAGE_FEATURES, {PLAN_KEY: _plan(shard)})
    tables = (
        pa.Table.from_pylist([_row(picture) for picture in group], schema=schema)
        for group in _groups(shard)
    )
    _write_parquet(path, schema, tables)


def _row(picture: Stored) -> dict[str, Any]:
    scanned = picture.scanned
    content = load_picture(Path(scanned.path))
    if hashlib.sha256(content).hexdigest() != scanned.id:
        raise DataError(
            f"{scanned.path}: changed while the dataset was being built; run the same command again"
        )
    name = Path(scanned.name).with_suffix(scanned.suffix).name
    return {**picture.record.model_dump(), "image": {"bytes": content, "path": name}}


def _write_parquet(path: Path, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
    import pyarrow.parquet as pq

    partial = path.with_name(path.name + ".partial")
    texts = [name for name in schema.names if name != "image"]
    with pq.ParquetWriter(
        partial,
        schema,
        # picture bytes are compressed already
        compression={**dict.fromkeys(_leaves(schema), "zstd"), "image.bytes": "none"},
        use_dictionary=False,
        write_statistics=texts,
    ) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=table.num_rows)
    os.replace(partial, path)


def _leaves(schema: pa.Schema) -> list[str]:
    import pyarrow as pa

    leaves: list[str] = []
    for column in schema:
        if pa.types.is_list(column.type):
            leaves.append(f"{column.name}.list.element")
        elif pa.types.is_struct(column.type):
            leaves += [f"{column.name}.{part.name}" for part in column.type]
        else:
            leaves.append(column.name)
    return leaves


def picture_record(scanned: Scanned, source: str, licence: str, credit: str) -> ImageRecord:
    """The record of a scanned picture."""
    return ImageRecord(
        id=scanned.id,
        source_id=scanned.name,
        width=scanned.width,
        height=scanned.height,
        source=source,
        licence=licence,
        credit=credit,
    )
