"""What the board made of the responses, on disk: made when asked for, made again when damaged."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from leaderboard import files
from leaderboard.files import DamagedError
from leaderboard.gold import Gold

if TYPE_CHECKING:
    import numpy as np

Result = TypeVar("Result")
# makes a file's content
Make = Callable[[], bytes]


@dataclass(frozen=True)
class Matrix:
    """Scores of one task: arrays of shape (n_items, n_submissions), columns as ``submissions``.

    values : measure -> scores. other_pictures : items answered on other copies of the pictures.
    """

    submissions: tuple[str, ...]
    values: Mapping[str, np.ndarray[Any, Any]]
    status: np.ndarray[Any, Any]
    interfaces: tuple[str, ...]
    other_pictures: tuple[int, ...]


@dataclass(frozen=True)
class ScoreFiles:
    """Score files under a folder; where that takes none, under one of this process, said once.

    spare : empty, or that folder of this process; shared between those who read the same board.
    """

    folder: Path
    spare: list[Path] = field(default_factory=list)

    def put(self, name: str, make: Make) -> None:
        """Write a file unless there is one."""
        if not self._found(name):
            self._write(name, make())

    def read(
        self, gold: Gold, made: Mapping[str, Make], read: Callable[[Sequence[Path]], Result]
    ) -> Result:
        """What ``read`` makes of some files; missing and damaged ones are made first.

        gold : of the task that they are of. made : name of each file -> what makes its content.
        """

        def paths() -> list[Path]:
            return [self._found(name) or self._write(name, make()) for name, make in made.items()]

        try:
            return read(paths())
        except DamagedError:
            for name, make in made.items():
                if not self._readable(gold, name):
                    self._write(name, make())
            return read(paths())

    def _write(self, name: str, content: bytes) -> Path:
        """Write a file, in the place of the one there is; returns where it lies."""
        try:
            files.write_atomic(self.folder / name, content, sync=False)
        except OSError as error:
            files.say_once(
                f"{self.folder}: cannot be written ({error.strerror}); scores are made for this "
                "run only, and again in the next"
            )
            files.write_atomic(self._spare_folder() / name, content, sync=False)
        return self._found(name) or self.folder / name

    def _readable(self, gold: Gold, name: str) -> bool:
        """Whether the file is there and whole: one line per item, in order."""
        path = self._found(name)
        try:
            return path is None or len(files.read_scores(gold.kind, path)) == len(gold)
        except DamagedError:
            return False

    def _found(self, name: str) -> Path | None:
        # one in the spare folder is there because the other cannot be used
        places = [folder / name for folder in (*self.spare, self.folder)]
        return next((path for path in places if path.is_file()), None)

    def _spare_folder(self) -> Path:
        if not self.spare:
            self.spare.append(Path(tempfile.mkdtemp(prefix="wordsight-scores-")))
            atexit.register(shutil.rmtree, self.spare[0], ignore_errors=True)
        return self.spare[0]


def read_matrix(gold: Gold, paths: Sequence[Path], submissions: Sequence[str]) -> Matrix:
    """The files of one task as arrays. Raises DamagedError when one of them is not whole."""
    import numpy as np

    names = [measure.name for measure in gold.kind.measures]
    if not paths:
        none = np.zeros((len(gold), 0))
        return Matrix((), dict.fromkeys(names, none), none.astype(np.uint8), (), ())
    rows = files.query(
        f"select place, {', '.join(names)}, status from read_parquet(?, filename = true) "
        "order by filename, place",
        paths,
        [],
        "fetchnumpy",
    )
    if not np.array_equal(rows["place"], np.tile(np.arange(len(gold)), len(paths))):
        raise DamagedError(f"{paths[0].parent}: a file has not each of {len(gold)} items once")
    files_of = [str(path) for path in paths]
    order = np.argsort(np.argsort(files_of, kind="stable"), kind="stable")

    def table(column: str) -> np.ndarray[Any, Any]:
        found: np.ndarray[Any, Any] = rows[column].reshape((len(paths), len(gold)))[order].T
        return found

    found = files.query(
        "select filename, string_agg(distinct interface, '+' order by interface) "
        "filter (interface <> ''), count(*) filter (other) "
        "from read_parquet(?, filename = true) group by filename",
        paths,
        [],
        "fetchall",
    )
    per_file = {name: (interfaces or "", other) for name, interfaces, other in found}
    return Matrix(
        tuple(submissions),
        {name: table(name) for name in names},
        table("status"),
        tuple(per_file[path][0] for path in files_of),
        tuple(per_file[path][1] for path in files_of),
    )
