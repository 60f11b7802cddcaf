"""Figures that papers print: shown beside the board's own rows, part of no ranking and no test."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from wordsight.errors import DataError

_STRICT = ConfigDict(frozen=True, extra="forbid")


class Figure(BaseModel):
    """One printed number, in percent; ``half_width`` of its interval where the paper has one."""

    model_config = _STRICT

    value: float = Field(ge=-100, le=100)
    half_width: float | None = None
    significant: Literal["", "p<0.05", "p<0.01"] = ""

    @property
    def text(self) -> str:
        """As it is shown: "57.7 ± 4.5"."""
        mark = {"": "", "p<0.05": " *", "p<0.01": " †"}[self.significant]
        spread = "" if self.half_width is None else f" \N{PLUS-MINUS SIGN} {self.half_width:.1f}"
        digits = 1 if round(self.value, 1) == self.value else 2
        return f"{self.value:.{digits}f}{spread}{mark}"


class PublishedRow(BaseModel):
    """A row of a printed table; None where the paper has a dash."""

    model_config = _STRICT

    label: str
    group: str = ""
    cells: tuple[Figure | None, ...]


class PublishedTable(BaseModel):
    """A printed table. ``main`` tables are shown under the track's own rows."""

    model_config = _STRICT

    table: str
    title: str
    track: str
    main: bool = False
    note: str = ""
    columns: tuple[str, ...]
    rows: tuple[PublishedRow, ...]

    @model_validator(mode="after")
    def _full(self) -> PublishedTable:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"row {row.label!r} has {len(row.cells)} cells")
        return self

    def of_group(self, group: str) -> PublishedTable:
        """The table with the rows of one group only; of all for ""."""
        rows = tuple(row for row in self.rows if group in ("", row.group))
        return self.model_copy(update={"rows": rows})


class Paper(BaseModel):
    """All tables held of one paper."""

    model_config = _STRICT

    paper: str
    authors: str
    date: str = ""
    unit: Literal["percent"]
    tables: tuple[PublishedTable, ...]


def published_folder() -> Path:
    """Inside the package in a wheel, ``submissions/published`` in a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "_published"
    return installed if installed.is_dir() else package.parent / "submissions" / "published"


@lru_cache(maxsize=4)
def published(folder: Path | None = None) -> tuple[Paper, ...]:
    """The papers' figures. Raises DataError naming the file that breaks the schema."""
    papers = []
    for path in sorted((folder or published_folder()).glob("*.json")):
        try:
            papers.append(Paper.model_validate_json(path.read_bytes()))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise DataError(f"{path}: {where}: {first['msg']}") from None
    return tuple(papers)
