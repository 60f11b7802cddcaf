"""Pictures in Parquet, read one at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

# A query's pictures lie in a few neighbouring row groups of at most 4 MiB; this keeps them.
KEPT_GROUPS = 8


class ImageShards:
    """The ``images/*.parquet`` of a dataset: an index of ids, files kept open, groups kept briefly.

    Safe to use from several threads.
    """

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.glob("*.parquet"))
        if not self.paths:
            raise DataError(
                f"{folder.parent}: neither images.jsonl nor images/*.parquet is there; a download "
                "of queries alone needs your own pictures: `wordsight pull --images DIR`"
            )
        self._place: dict[str, tuple[int, int, int]] = {}
        self._lock = threading.Lock()
        self._files: dict[int, pq.ParquetFile] = {}
        self._groups: OrderedDict[tuple[int, int], pa.ChunkedArray] = OrderedDict()

    def rows(self) -> Iterator[tuple[dict[str, Any], str]]:
        """(columns but the picture, place) of every row; learns where each picture lies."""
        for number, path in enumerate(self.paths):
            reader = self._file(number)
            columns = [name for name in reader.schema_arrow.names if name != "image"]
            start = 0
            sizes = [reader.metadata.row_group(g).num_rows for g in range(reader.num_row_groups)]
            table = reader.read(columns=columns).to_pylist()
            for group, size in enumerate(sizes):
                for offset, row in enumerate(table[start : start + size]):
                    self._place[str(row.get("id"))] = (number, group, offset)
                    yield row, f"{path}: row {start + offset}"
                start += size

    def read(self, image_id: str) -> bytes:
        """Bytes of a picture that :meth:`rows` has passed."""
        number, group, offset = self._place[image_id]
        with self._lock:
            column = self._groups.get((number, group))
            if column is None:
                reader = self._file(number)
                column = reader.read_row_group(group, columns=["image"]).column("image")
                self._groups[number, group] = column
                if len(self._groups) > KEPT_GROUPS:
                    self._groups.popitem(last=False)
            else:
                self._groups.move_to_end((number, group))
        content: bytes = column[offset].as_py()["bytes"]
        return content

    def _file(self, number: int) -> pq.ParquetFile:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if number not in self._files:
            try:
                self._files[number] = pq.ParquetFile(self.paths[number])
            except (pa.ArrowInvalid, OSError) as error:
                raise DataError(
                    f"{self.paths[number]}: not a whole Parquet file ({error}); fetch it again"
                ) from error
        return self._files[number]
