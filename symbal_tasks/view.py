"""A setting of SymbalBench as a dataset, made when asked for."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbal_tasks.records import BaseRow, Setting
from symbal_tasks.settings import spoil
from symbal_tasks.store import Stored, read_benchmark
from wordsight.errors import DataError

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image


@dataclass(frozen=True)
class Benchmark:
    """A stored domain and where its pictures are; build one with :func:`open_benchmark`."""

    stored: Stored
    images: Path | None = None

    @property
    def settings(self) -> Sequence[Setting]:
        """All settings in the order of the build."""
        return tuple(self.stored.settings.values())

    @property
    def has_pictures(self) -> bool:
        """Whether the build, or a folder beside it, holds pictures."""
        return self.images is not None or bool(self._places)

    def setting(self, setting_id: str) -> Setting:
        """A setting by its id. Raises DataError with close names when there is none."""
        try:
            return self.stored.settings[setting_id]
        except KeyError:
            from difflib import get_close_matches

            close = get_close_matches(setting_id, self.stored.settings, 3, 0.5)
            raise DataError(
                f"{self.stored.root}: no setting {setting_id!r} among "
                f"{len(self.stored.settings)}; close: {', '.join(close) or 'none'}"
            ) from None

    def captions(self, setting: Setting) -> list[str]:
        """The captions T of every row, errors injected, in the order of the base."""
        captions = list(self._clean)
        for k, (row, sentence) in enumerate(zip(setting.rows, setting.sentences, strict=True)):
            place = setting.places[k] if setting.places else None
            text = self.stored.sentences[sentence]
            captions[row] = spoil(self.stored.rows[row].caption, text, place)
        return captions

    def dataset(self, setting: Setting, *, references: bool = True) -> Dataset:
        """The setting as a ``datasets.Dataset``: id, image, caption and, if asked, reference.

        Pictures are read and decoded when a row is looked at; image is None where the build holds
        no pictures and no folder of them was named.
        """
        from datasets import Dataset

        columns: dict[str, list[Any]] = {
            "id": [row.id for row in self.stored.rows],
            "image": list(range(len(self.stored.rows))),
            "caption": self.captions(setting),
        }
        if references:
            columns["reference"] = [row.reference for row in self.stored.rows]

        def show(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
            if "image" in batch:
                batch = {**batch, "image": [self.picture(number) for number in batch["image"]]}
            return batch

        return Dataset.from_dict(columns).with_transform(show)

    def picture(self, number: int) -> Image | None:
        """The picture of a base row, decoded to upright RGB, or None where there are none."""
        from wordsight.pictures import decode_rgb

        content = self.picture_bytes(number)
        if content is None:
            return None
        return decode_rgb(io.BytesIO(content), f"{self.stored.root}: {self._row(number).file}")

    def picture_bytes(self, number: int) -> bytes | None:
        """The picture's bytes as they came, or None where the benchmark has no pictures at all.

        Raises DataError when it has pictures but not this one.
        """
        row = self._row(number)
        if self.images is not None:
            path = self.images / row.file
            if not path.is_file():
                raise DataError(f"{path}: the picture of row {row.id} is missing")
            return path.read_bytes()
        if not self._places:
            return None
        if row.id not in self._places:
            raise DataError(
                f"{self.stored.root / 'images'}: no picture {row.file} (row {row.id}); it was "
                "missing when the benchmark was built"
            )
        shard, group, offset = self._places[row.id]
        content: bytes = _row_group(shard, group)[offset]
        return content

    def _row(self, number: int) -> BaseRow:
        return self.stored.rows[number]

    @cached_property
    def _clean(self) -> tuple[str, ...]:
        return tuple(" ".join(row.caption) for row in self.stored.rows)

    @cached_property
    def _places(self) -> dict[str, tuple[Path, int, int]]:
        import pyarrow.parquet as pq

        places = {}
        folder = self.stored.root / "images"
        for shard in sorted(folder.glob(f"{self.stored.domain}-*.parquet")):
            reader = pq.ParquetFile(shard)
            for group in range(reader.num_row_groups):
                ids = reader.read_row_group(group, columns=["id"]).column(0).to_pylist()
                places.update({key: (shard, group, k) for k, key in enumerate(ids)})
        return places


def open_benchmark(root: Path, domain: str, images: Path | None = None) -> Benchmark:
    """Open a built domain. ``images`` names a folder of the pictures where the build has none.

    Raises DataError as :func:`symbal_tasks.store.read_benchmark`.
    """
    if images is not None and not images.is_dir():
        raise DataError(f"{images}: no such folder of pictures")
    return Benchmark(read_benchmark(root, domain), images)


@lru_cache(maxsize=4)
def _row_group(shard: Path, group: int) -> list[bytes]:
    import pyarrow.parquet as pq

    column = pq.ParquetFile(shard).read_row_group(group, columns=["image"]).column(0)
    return [entry["bytes"] for entry in column.to_pylist()]
