"""VWSD (SemEval-2023 task 1): ten candidates per phrase, kept as the source gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sage_tasks.build.folders import PictureFolder, find_files, find_folders
from sage_tasks.build.plan import Content, Item, PictureInfo, Planned, Skipped, checked
from sage_tasks.build.text import clean, read_lines
from sage_tasks.records import CANDIDATES, Kind
from wordsight.errors import DataError

LANGUAGES = ("en", "fa", "it")
# The official packages and later re-packings name their files differently.
NAMES = {
    "train": ("train.data.v1.txt", "train.data.txt"),
    "trial": ("trial.data.v1.txt", "trial.data.txt"),
    "test": ("{language}.test.data.v1.1.txt", "{language}.test.data.txt"),
}


@dataclass(frozen=True)
class SplitFiles:
    """Text files and picture folder of one split; a split without gold is not evaluated."""

    split: str
    data: Path
    gold: Path


@dataclass
class Vwsd:
    """The source as a whole; see :class:`sage_tasks.build.plan.Source`."""

    items: list[tuple[Item, tuple[str, ...], int]]
    dropped: list[Skipped]
    facts: dict[str, object]
    folders: dict[str, PictureFolder] = field(default_factory=dict)
    language: str = "en"

    @property
    def name(self) -> str:
        """Each language is a dataset of its own, evaluated by a task of its own."""
        return dataset_name(self.language)

    def picture_names(self) -> Iterable[str]:
        """Names as "split/file": train and test both have an ``image.3.jpg``."""
        return dict.fromkeys(name for _, pictures, _ in self.items for name in pictures)

    def picture_info(self, name: str) -> PictureInfo:
        """Only the texts carry a licence; the pictures come from the web without one."""
        return PictureInfo("VWSD (SemEval-2023 task 1)")

    def find(self, name: str) -> Path | None:
        """The picture's file on disk, or None."""
        split, _, file = name.partition("/")
        folder = self.folders.get(split)
        return folder.find(file) if folder else None

    def plan(self, content: Content) -> Iterator[Planned | Skipped]:
        """Each row as it is; one that has a missing or doubled picture is skipped."""
        for item, pictures, gold in self.items:
            kinds: list[Kind] = ["source"] * CANDIDATES
            kinds[gold] = "gold"
            yield checked(Planned(item, pictures, tuple(kinds)), content)


def dataset_name(language: str) -> str:
    """ "vwsd" for English, "vwsd_fa" and "vwsd_it" for the other test sets."""
    return "vwsd" if language == "en" else f"vwsd_{language}"


def find_splits(source: Path, language: str) -> list[SplitFiles]:
    """The splits found anywhere under ``source``.

    Trains and trials are English only. Raises DataError when there is no split at all.
    """
    if not source.is_dir():
        raise DataError(f"{source}: the folder does not exist")
    found = []
    for split, patterns in NAMES.items():
        if split != "test" and language != "en":
            continue
        names = [pattern.format(language=language) for pattern in patterns]
        places = find_files(source, names)
        paths = [path for name in names for path in places[name]]
        if paths:
            data = paths[0]
            gold = data.with_name(data.name.replace(".data.", ".gold."))
            found.append(SplitFiles(split, data, gold))
    if not found:
        wanted = ", ".join(
            pattern.format(language=language) for patterns in NAMES.values() for pattern in patterns
        )
        raise DataError(f"{source}: none of {wanted} is there or in a folder below")
    return found


def picture_folder(files: SplitFiles, source: Path) -> Path:
    """Folder with the pictures of a split: the full-size one where both sizes are there."""
    names = [f"{files.split}_images_v1", f"{files.split}_images", f"{files.split}_images_resized"]
    for name in names:
        beside = files.data.parent / name
        if beside.is_dir():
            return beside
    for name in names:
        below = find_folders(source, name)
        if below:
            return below[0]
    raise DataError(
        f"{files.data.parent}: no folder {' or '.join(names)} "
        f"with the pictures of {files.data.name}"
    )


def read_vwsd(source: Path, language: str = "en", pictures: bool = True) -> Vwsd:
    """Read the official text files under ``source``.

    pictures : also find the picture folders (False in a dry run).
    Raises DataError for: no data file, no gold file, different line counts.
    """
    found = find_splits(source, language)
    items: list[tuple[Item, tuple[str, ...], int]] = []
    dropped: list[Skipped] = []
    for files in found:
        for result in _read_split(files, language):
            if isinstance(result, Skipped):
                dropped.append(result)
            else:
                items.append(result)
    folders = (
        {files.split: PictureFolder(picture_folder(files, source)) for files in found}
        if pictures
        else {}
    )
    facts: dict[str, object] = {
        "language": language,
        "distinct_pictures": {
            files.split: len({n for i, names, _ in items if i.split == files.split for n in names})
            for files in found
        },
        "distinct_targets": {
            files.split: len({i.term for i, _, _ in items if i.split == files.split})
            for files in found
        },
    }
    return Vwsd(items, dropped, facts, folders, language)


def _read_split(
    files: SplitFiles, language: str
) -> Iterator[tuple[Item, tuple[str, ...], int] | Skipped]:
    rows = read_lines(files.data)
    golds = [clean(line) for line in read_lines(files.gold)]
    if len(rows) != len(golds):
        raise DataError(
            f"{files.data}: {len(rows)} rows, but {files.gold.name} has {len(golds)}; "
            "the two files are of different releases"
        )
    for number, (row, gold) in enumerate(zip(rows, golds, strict=True), 1):
        where = f"{files.data.name}:{number}"
        cells = [clean(cell) for cell in row.split("\t")]
        if len(cells) != CANDIDATES + 2 or not all(cells):
            yield Skipped("row", f"{len(cells)} cells instead of {CANDIDATES + 2}", where, row[:80])
            continue
        term, phrase, *pictures = cells
        if gold not in pictures:
            yield Skipped("row", "the gold is not among the candidates", where, gold)
            continue
        item = Item(
            config=dataset_name(language),
            split=files.split,
            term=term,
            context=phrase,
            # From 0, as the paper's appendix counts items.
            source_id=f"{language}/{files.split}/{number - 1}",
            where=where,
        )
        names = tuple(f"{files.split}/{picture}" for picture in pictures)
        yield item, names, pictures.index(gold)
