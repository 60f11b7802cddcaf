"""The two kinds of Parquet file of a board: raw responses, and what the board made of them."""

from __future__ import annotations

import io
import os
import sys
import uuid
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from leaderboard.kinds import Kind
from leaderboard.lines import Submission
from leaderboard.schema import Header
from leaderboard.scoring import STATUSES, ItemScore
from wordsight.errors import DataError

_HEADER = b"wordsight_header"

# names of files that are being written
DRAFTS = ".*.part"


class DamagedError(DataError):
    """A Parquet file is cut, overwritten or not there; the message begins with its path."""


@lru_cache(maxsize=1000)
def say_once(message: str) -> None:
    """Tell whoever runs the process, the first time only."""
    print(f"wordsight: {message}", file=sys.stderr)


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
    """The header of a stored submission. Raises DamagedError."""
    import pyarrow.parquet as pq

    with _whole(str(path)):
        return Header.model_validate_json(pq.read_schema(path).metadata[_HEADER])


def read_scores(kind: Kind, path: Path) -> list[ItemScore]:
    """Every item's score, in gold order. Raises DamagedError."""
    import pyarrow.parquet as pq

    with _whole(str(path)):
        return [_score(kind, row) for row in pq.read_table(path).to_pylist()]


def count_answered(path: Path) -> int:
    """How many items have an answer, readable or not. Raises DamagedError."""
    import pyarrow.parquet as pq

    with _whole(str(path)):
        states = pq.read_table(path, columns=["status"]).column("status").to_pylist()
    return sum(STATUSES[state] != "missing" for state in states)


def query(sql: str, paths: Sequence[Path], parameters: Sequence[Any], fetch: str) -> Any:
    """Run one DuckDB query on a connection of its own, which threads must not share.

    sql : its first parameter is the list of Parquet files. fetch : the method of DuckDB's relation
        that gives the answer ("fetchall", "fetchnumpy", ...).

    Raises DamagedError when a file cannot be read.
    """
    import duckdb

    names = [str(path) for path in paths]
    with duckdb.connect() as connection, _whole(", ".join(names[:3]), duckdb.Error):
        # its progress bar would go to standard output, into what a command prints there
        connection.execute("set enable_progress_bar = false")
        return getattr(connection.sql(sql, params=[names, *parameters]), fetch)()


def read_item_scores(kind: Kind, paths: Sequence[Path], item: str) -> dict[str, ItemScore]:
    """One item's score in each of several files: path -> score. Raises DamagedError."""
    if not paths:
        return {}
    table = query(
        "select * from read_parquet(?, filename = true) where item = ?",
        paths,
        [item],
        "to_arrow_table",
    )
    return {row["filename"]: _score(kind, row) for row in table.to_pylist()}


@contextmanager
def _whole(name: str, *more: type[Exception]) -> Iterator[None]:
    """Errors of the Parquet readers, whose kinds depend on where a file is damaged, as one."""
    kinds: tuple[type[Exception], ...] = (OSError, ValueError, LookupError, TypeError, *more)
    try:
        yield
    except FileNotFoundError:
        raise DamagedError(f"{name}: the file is not there") from None
    except kinds as error:
        reason = str(error).partition("\n")[0][:200]
        raise DamagedError(f"{name}: cannot be read, it is cut or damaged ({reason})") from None


def _score(kind: Kind, row: dict[str, Any]) -> ItemScore:
    own = ("item", "interface", "reason", *(field.name for field in kind.columns()))
    return kind.read({"status": STATUSES[row["status"]], **{name: row[name] for name in own}})
