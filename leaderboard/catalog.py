"""Which tasks a board knows: where their gold lies, how they are grouped and compared.

A new subset is one line in ``DEFAULT``; a board of one's own puts the same records into
``board.json`` in its folder.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

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
    ``kind`` says what an item is (leaderboard.kinds), ``config`` names the part of the dataset: for
    a ranking its config, for a naming its domain. ``variant`` tasks are measured only against
    another task (a delta) and stay out of the macro average.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    label: Label
    dataset: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    config: Name
    split: Name = "test"
    kind: Literal["ranking", "naming"] = "ranking"
    version: str = "1"
    variant: bool = False


class Delta(BaseModel):
    """A paired difference over items with the same source: ``minuend`` minus ``subtrahend``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: Label
    minuend: Name
    subtrahend: Name


class Printed(BaseModel):
    """Which published tables stand beside a track: those of ``track``, rows of ``group`` only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    track: Name
    group: Annotated[str, StringConstraints(max_length=80)] = ""


class Track(BaseModel):
    """A table of the board: tasks side by side, their macro average, their paired differences."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    label: Label
    tasks: tuple[BoardTask, ...] = Field(min_length=1)
    deltas: tuple[Delta, ...] = ()
    printed: Printed | None = None

    @property
    def ranked(self) -> tuple[BoardTask, ...]:
        """The tasks that enter the ranking."""
        return tuple(task for task in self.tasks if not task.variant)

    @model_validator(mode="after")
    def _consistent(self) -> Track:
        names = {task.name for task in self.tasks}
        if not self.ranked:
            raise ValueError("a track needs a task that is not a variant")
        if len({task.kind for task in self.tasks}) > 1:
            raise ValueError("the tasks of a track must be of one kind")
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

    def chosen(self, names: Sequence[str]) -> tuple[Track, ...]:
        """Tracks of these names, and those whose names go on from them after a "_".

        "symbalbench" names all tracks of SymbalBench. No names give all tracks. Raises DataError,
        with the known names, for a name that fits none.
        """

        def fits(track: Track, name: str) -> bool:
            return track.name == name or track.name.startswith(f"{name}_")

        for name in names:
            if not any(fits(track, name) for track in self.tracks):
                known = ", ".join(track.name for track in self.tracks)
                raise DataError(f"no track {name!r} on this board; it has {known}")
        return tuple(t for t in self.tracks if not names or any(fits(t, n) for n in names))

    def task(self, name: str) -> BoardTask:
        """The task of that name. Raises DataError, with the known names, when there is none."""
        for task in self.tasks:
            if task.name == name:
                return task
        known = ", ".join(task.name for task in self.tasks)
        raise DataError(f"task {name!r} is not on this board; it knows {known}")


def _demo(form: str = "", title: str = "Demo") -> Track:
    ranked = BoardTask(name=f"sage_demo{form}", label="Demo", dataset="demo", config="demo")
    if form:
        return Track(name=f"demo{form}", label=title, tasks=(ranked,))
    swapped = BoardTask(
        name="sage_demo_swapped",
        label="Demo, swapped",
        dataset="demo",
        config="demo_swapped",
        variant=True,
    )
    delta = Delta(label="Δ swapped", minuend="sage_demo", subtrahend="sage_demo_swapped")
    return Track(name="demo", label=title, tasks=(ranked, swapped), deltas=(delta,))


def _sage(form: str = "", title: str = "SAGE") -> Track:
    labels = {"vwsd": "VWSD", "verse": "VerSe", "wikidiverse": "WikiDiverse"}
    ranked = tuple(
        BoardTask(name=f"sage_{name}{form}", label=label, dataset=name, config=name)
        for name, label in labels.items()
    )
    if form:
        return Track(name=f"sage{form}", label=title, tasks=ranked)
    variants = {
        "verse_neutral": "VerSe, neutralised",
        "verse_original": "VerSe, original",
        "verse_original_neutral": "VerSe, original neutralised",
    }
    return Track(
        name="sage",
        label=title,
        tasks=(
            *ranked,
            *(
                BoardTask(
                    name=f"sage_{name}", label=label, dataset="verse", config=name, variant=True
                )
                for name, label in variants.items()
            ),
        ),
        deltas=(
            Delta(label="Δ SPIS", minuend="sage_verse_original", subtrahend="sage_verse"),
            Delta(label="Δ verb", minuend="sage_verse", subtrahend="sage_verse_neutral"),
        ),
        printed=Printed(track="sage"),
    )


def _symbalbench(domain: str, *, references: bool) -> Track:
    name = f"symbalbench_{domain}{'_ref' if references else ''}"
    shown = f"{domain}, {'with' if references else 'without'} references"
    return Track(
        name=name,
        label=f"SymbalBench, {shown}",
        tasks=(
            BoardTask(
                name=name,
                label=f"SymbalBench {shown}",
                dataset=f"symbalbench_{domain}",
                config=domain,
                kind="naming",
            ),
        ),
        printed=Printed(track="symbal", group=domain),
    )


# Domains, and settings with and without references, are tables of their own: nobody must hold the
# medical data to be ranked, and the paper gives no number over both.
DEFAULT = Catalog(
    tracks=(
        _demo(),
        _demo("_scalar", "Demo, scores from 0 to 100"),
        _demo("_choice", "Demo, one choice of ten"),
        Track(
            name="symbalbench_demo",
            label="SymbalBench demo",
            tasks=(
                BoardTask(
                    name="symbalbench_demo",
                    label="SymbalBench demo",
                    dataset="demo",
                    config="natural",
                    kind="naming",
                ),
            ),
        ),
        _sage(),
        _sage("_scalar", "SAGE, scores from 0 to 100"),
        _sage("_choice", "SAGE, one choice of ten"),
        _symbalbench("natural", references=False),
        _symbalbench("natural", references=True),
        _symbalbench("medical", references=False),
        _symbalbench("medical", references=True),
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
