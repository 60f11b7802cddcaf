"""Joining published queries with the user's own copy of the pictures, by name.

Item ids depend on names and not on bytes, so they stay the same; the fingerprint tells whether
the pictures are the same files as the publisher's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sage_tasks.build.folders import PictureFolder, find_folders
from sage_tasks.build.pipeline import REPORT, Options, build
from sage_tasks.build.plan import Content, Item, PictureInfo, Planned, Skipped, checked
from sage_tasks.build.text import read_json
from sage_tasks.package import read_queries
from wordsight.errors import DataError


@dataclass
class PublishedQueries:
    """A dataset folder without pictures as a source; see :class:`sage_tasks.build.plan.Source`."""

    name: str
    plans: list[Planned]
    facts: Mapping[str, object]
    folders: dict[str, PictureFolder]
    dropped: tuple[Skipped, ...] = ()

    def picture_names(self) -> Iterable[str]:
        """Names of all candidates."""
        return dict.fromkeys(name for plan in self.plans for name in plan.pictures)

    def picture_info(self, name: str) -> PictureInfo:
        """Nothing is known about the licence of the user's own files."""
        return PictureInfo("joined by name")

    def plan(self, content: Content) -> Iterator[Planned | Skipped]:
        """The queries whose pictures are all there."""
        for plan in self.plans:
            yield checked(plan, content)

    def find(self, name: str) -> Path | None:
        """The user's file: in the split's own folder where names repeat over splits."""
        split, _, file = name.rpartition("/")
        folder = self.folders.get(split, self.folders[""])
        return folder.find(file) or folder.find(file.rsplit("_", 1)[-1])


def join_pictures(published: Path, images: Path, out: Path, options: Options) -> dict[str, Any]:
    """Build ``out`` from published queries and the pictures under ``images``.

    Returns the build's report with ``same_pictures``: per config and split, whether the
    fingerprint equals the published one.
    """
    before = read_json(published / REPORT)
    plans = [
        Planned(
            Item(
                config=folder.name,
                split=split,
                term=query.term,
                context=query.context,
                source_id=query.source_id,
                where=f"{folder.name}/{split}",
                pos=query.pos,
                sense=query.sense,
                gloss=query.gloss,
            ),
            query.candidate_sources,
            query.kinds,
        )
        for folder in sorted(path for path in published.iterdir() if path.is_dir())
        for split in sorted({path.name.split("-")[0] for path in folder.glob("*-*.parquet")})
        if folder.name != "images"
        for query in read_queries(published, folder.name, split)
    ]
    if not plans:
        raise DataError(f"{published}: no queries in it")
    source = PublishedQueries(before["dataset"], plans, before["facts"], _folders(images, plans))
    report = build(source, out, options)
    published_prints = before.get("fingerprints", {})
    return report | {
        "same_pictures": {
            key: value == published_prints.get(key) for key, value in report["fingerprints"].items()
        }
    }


def _folders(images: Path, plans: Iterable[Planned]) -> dict[str, PictureFolder]:
    splits = {name.rpartition("/")[0] for plan in plans for name in plan.pictures} - {""}
    folders = {"": PictureFolder(images)}
    for split in splits:
        own = find_folders(images, f"{split}_images*")
        if own:
            folders[split] = PictureFolder(own[0])
        elif len(splits) > 1:
            raise DataError(
                f"{images}: no folder {split}_images* in it; names repeat over the splits "
                f"({', '.join(sorted(splits))}), so each needs its own folder"
            )
    return folders
