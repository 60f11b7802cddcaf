"""The two kinds of Parquet file of a board: raw responses, and what the board made of them."""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from leaderboard.kinds import Kind
from leaderboard.lines import Submission
from leaderboard.schema import Header
from leaderboard.scoring import STATUSES, ItemScore

_HEADER = b"wordsight_header"


def write_atomic(path: Path, content: bytes, *, sync: bool = True) -> None:
    """Write a file so that readers see all of it or nothing, also after a kill.

    sync : wait until it is on disk; False for what can be made again.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.parent / f".{uuid.uuid4().hex}.part"
    try:
        with draft.open("wb") as stream:
            stream.write(content)
            stream.flush()
            if sync:
                os.fsync(stream.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def entry_bytes(submission: Submission) -> bytes:
    """Parquet of the raw responses, the header in the metadata; equal submissions, equal bytes."""
    import pyarrow as pa

    items = sorted(submission.items, key=lambda item: (item.task, item.item))
    table = pa.table(
        {
            "task": pa.array([i.task for i in items], pa.string()),
            "item": pa.array([i.item for i in items], pa.string()),
            "images": pa.array([i.images for i in items], pa.string()),
            "responses": pa.array([i.responses for i in items], pa.list_(pa.string())),
        }
    )
    header = submission.header.model_dump_json(by_alias=True).encode()
    return _parquet(table.replace_schema_metadata({_HEADER: header}))


def score_bytes(
    kind: Kind, scores: Sequence[ItemScore], other_pictures: Container[str] = ()
) -> bytes:
    """Parquet of one task's scores, in gold order.

    other_pictures : ids of items answered on other copies of the pictures.
    """
    import pyarrow as pa

    fields = {field.name: field.type for field in kind.columns()}
    return _parquet(
        pa.table(
            {
                "place": pa.array(range(len(scores)), pa.int32()),
                "item": pa.array([s.item for s in scores], pa.string()),
                "status": pa.array([STATUSES.index(s.status) for s in scores], pa.uint8()),
                "interface": pa.array([s.interface for s in scores], pa.string()),
                "reason": pa.array([s.reason for s in scores], pa.string()),
                "other": pa.array([s.item in other_pictures for s in scores], pa.bool_()),
                **{
                    name: pa.array([getattr(s, name) for s in scores], form)
                    for name, form in fields.items()
                },
            }
        )
    )


def _parquet(table: Any) -> bytes:
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def read_header(path: Path) -> Header:
    """The header of a stored submission."""
    import pyarrow.parquet as pq

    return Header.model_validate_json(pq.read_schema(path).metadata[_HEADER])


def read_scores(kind: Kind, path: Path) -> list[ItemScore]:
    """Every item's score, in gold order."""
    import pyarrow.parquet as pq

    return [_score(kind, row) for row in pq.read_table(path).to_pylist()]


def query(sql: str, parameters: Sequence[Any]) -> Any:
    """Run one DuckDB query on a connection of its own, which threads must not share."""
    import duckdb

    connection = duckdb.connect()
    # its progress bar would go to standard output, into what a command prints there
    connection.execute("set enable_progress_bar = false")
    return connection.execute(sql, parameters)


def read_item_scores(kind: Kind, paths: Sequence[Path], item: str) -> dict[str, ItemScore]:
    """One item's score in each of several files: path -> score."""
    if not paths:
        return {}
    table = query(
        "select * from read_parquet(?, filename = true) where item = ?",
        [[str(path) for path in paths], item],
    ).to_arrow_table()
    return {row["filename"]: _score(kind, row) for row in table.to_pylist()}


def _score(kind: Kind, row: dict[str, Any]) -> ItemScore:
    own = ("item", "interface", "reason", *(field.name for field in kind.columns()))
    return kind.read({"status": STATUSES[row["status"]], **{name: row[name] for name in own}})
