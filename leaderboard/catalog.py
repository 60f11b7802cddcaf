"""Which tasks a board knows: where their gold lies, how they are grouped and compared.

A new subset is one line in ``DEFAULT``; a board of one's own puts the same records into
``board.json`` in its folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from wordsight.errors import DataError

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Label = Annotated[str, StringConstraints(min_length=1, max_length=80)]

BOARD_FILE = "board.json"


class BoardTask(BaseModel):
    """One scored task: an lmms-eval task name and the dataset that holds its gold.

    ``dataset`` is a folder, or a name that tasks use too ("demo", "verse"): then the set inside the
    package, the folder of that name under WORDSIGHT_DATA, or the pinned revision on the Hub.
    ``variant`` tasks are measured only against another task (a delta) and stay out of the macro
    average.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    label: Label
    dataset: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    config: Name
    split: Name = "test"
    version: str = "1"
    variant: bool = False

    def folder(self) -> Path:
        """The dataset folder. Raises DataError, saying how to get it, when it is not there."""
        from sage_tasks.sources import DEMO, dataset_root
        from wordsight.hub import locate

        if self.dataset == DEMO or Path(self.dataset).is_dir():
            return dataset_root(self.dataset)
        return locate(self.dataset)


class Delta(BaseModel):
    """A paired difference over items with the same source: ``minuend`` minus ``subtrahend``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: Label
    minuend: Name
    subtrahend: Name


class Track(BaseModel):
    """A table of the board: tasks side by side, their macro average, their paired differences."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    label: Label
    tasks: tuple[BoardTask, ...] = Field(min_length=1)
    deltas: tuple[Delta, ...] = ()

    @property
    def ranked(self) -> tuple[BoardTask, ...]:
        """The tasks that enter the ranking."""
        return tuple(task for task in self.tasks if not task.variant)

    @model_validator(mode="after")
    def _consistent(self) -> Track:
        names = {task.name for task in self.tasks}
        if not self.ranked:
            raise ValueError("a track needs a task that is not a variant")
        for delta in self.deltas:
            if {delta.minuend, delta.subtrahend} - names:
                raise ValueError(f"delta {delta.label!r} names a task that the track does not hold")
        return self


class Catalog(BaseModel):
    """Everything a board shows, in order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Label = "Wordsight leaderboard"
    tracks: tuple[Track, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_once(self) -> Catalog:
        for names in ([t.name for t in self.tracks], [t.name for t in self.tasks]):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"named twice: {', '.join(twice)}")
        return self

    @property
    def tasks(self) -> tuple[BoardTask, ...]:
        """All tasks of all tracks."""
        return tuple(task for track in self.tracks for task in track.tasks)

    def task(self, name: str) -> BoardTask:
        """The task of that name. Raises DataError, with the known names, when there is none."""
        for task in self.tasks:
            if task.name == name:
                return task
        known = ", ".join(task.name for task in self.tasks)
        raise DataError(f"task {name!r} is not on this board; it knows {known}")


def _verse(name: str, label: str) -> BoardTask:
    return BoardTask(
        name=f"sage_{name}", label=label, dataset="verse", config=name, variant=name != "verse"
    )


DEFAULT = Catalog(
    tracks=(
        Track(
            name="demo",
            label="Demo",
            tasks=(
                BoardTask(name="sage_demo", label="Demo", dataset="demo", config="demo"),
                BoardTask(
                    name="sage_demo_swapped",
                    label="Demo, swapped",
                    dataset="demo",
                    config="demo_swapped",
                    variant=True,
                ),
            ),
            deltas=(Delta(label="Δ swapped", minuend="sage_demo", subtrahend="sage_demo_swapped"),),
        ),
        Track(
            name="sage",
            label="SAGE",
            tasks=(
                BoardTask(name="sage_vwsd", label="VWSD", dataset="vwsd", config="vwsd"),
                _verse("verse", "VerSe"),
                BoardTask(
                    name="sage_wikidiverse",
                    label="WikiDiverse",
                    dataset="wikidiverse",
                    config="wikidiverse",
                ),
                _verse("verse_neutral", "VerSe, neutralised"),
                _verse("verse_original", "VerSe, original"),
                _verse("verse_original_neutral", "VerSe, original neutralised"),
            ),
            deltas=(
                Delta(label="Δ SPIS", minuend="sage_verse_original", subtrahend="sage_verse"),
                Delta(label="Δ verb", minuend="sage_verse", subtrahend="sage_verse_neutral"),
            ),
        ),
    )
)


def load_catalog(board: Path) -> Catalog:
    """The catalog of a board folder: its ``board.json``, or the default where it has none.

    Dataset folders are taken from the board folder.
    """
    path = board / BOARD_FILE
    if not path.is_file():
        return DEFAULT
    try:
        catalog = Catalog.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{path}: {where}: {first['msg']}") from None
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error})") from None
    return _rooted(catalog, board)


def _rooted(catalog: Catalog, board: Path) -> Catalog:
    def rooted(task: BoardTask) -> BoardTask:
        folder = (board / task.dataset).resolve()
        if not task.dataset.startswith(".") and not folder.is_dir():
            return task
        return task.model_copy(update={"dataset": str(folder)})

    tracks = tuple(
        track.model_copy(update={"tasks": tuple(rooted(task) for task in track.tasks)})
        for track in catalog.tracks
    )
    return catalog.model_copy(update={"tracks": tracks})
