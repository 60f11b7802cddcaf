"""WikiDiverse: a mention in a news caption, and ten pictures of entities of which one is meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sage_tasks.build.folders import PictureFolder, find_files
from sage_tasks.build.plan import (
    Content,
    Draw,
    Item,
    Manifest,
    PictureInfo,
    Planned,
    Skipped,
    arrange,
    checked,
    choose_negatives,
    follow,
)
from sage_tasks.build.text import clean, read_json
from sage_tasks.build.wiki_names import entity_title, file_names, picture_name
from wordsight.errors import DataError

SPLIT_FILES = {"train": "train", "valid": "validation", "test": "test"}
PICTURE_MAP = "wikipedia_entity2imgs.tsv"


@dataclass(frozen=True)
class Mention:
    """A mention whose entity is known. ``candidates`` are titles, without the gold."""

    item: Item
    entity: str
    candidates: tuple[str, ...]
    gold_listed: bool


@dataclass
class WikiDiverse:
    """The source as a whole; see :class:`sage_tasks.build.plan.Source`."""

    mentions: Sequence[Mention]
    dropped: list[Skipped]
    facts: dict[str, object]
    addresses: Mapping[str, tuple[str, ...]]
    folder: PictureFolder | None
    seed: int = 0
    manifest: Manifest = field(default_factory=dict)
    name: str = "wikidiverse"

    @cached_property
    def _pictures(self) -> dict[str, tuple[str, ...]]:
        return {
            entity: tuple(dict.fromkeys(map(picture_name, addresses)))
            for entity, addresses in self.addresses.items()
        }

    @cached_property
    def _address_of(self) -> dict[str, str]:
        return {picture_name(a): a for addresses in self.addresses.values() for a in addresses}

    def picture_names(self) -> Iterable[str]:
        """Pictures of every entity that a mention means or may be mistaken for."""
        entities = dict.fromkeys(e for m in self.mentions for e in (m.entity, *m.candidates))
        return dict.fromkeys(name for e in entities for name in self._pictures.get(e, ()))

    def picture_info(self, name: str) -> PictureInfo:
        """The address on Wikimedia, where licence and author stand."""
        return PictureInfo("Wikimedia", credit=self._address_of.get(name, ""))

    def find(self, name: str) -> Path | None:
        """The picture's file under any of its usual names."""
        if self.folder is None:
            return None
        names = file_names(self._address_of[name]) if name in self._address_of else [name]
        return next((path for n in names if (path := self.folder.find(n))), None)

    def plan(self, content: Content) -> Iterator[Planned | Skipped]:
        """Each mention whose entity has a usable picture."""
        shown = {e: self._first_usable(e, content) for e in self._pictures}
        pools: dict[str, list[str]] = {
            split: sorted(
                {p for m in self.mentions if m.item.split == split and (p := shown.get(m.entity))}
            )
            for split in SPLIT_FILES.values()
        }
        for mention in self.mentions:
            gold = shown.get(mention.entity)
            if gold is None:
                reason = "the entity has no usable picture"
                yield Skipped("item", reason, mention.item.where, mention.entity)
            elif self.manifest:
                yield follow(mention.item, self.manifest, content)
            else:
                yield self._plan_mention(mention, gold, pools[mention.item.split], content)

    def _first_usable(self, entity: str, content: Content) -> str | None:
        return next((n for n in self._pictures[entity] if content(n) is not None), None)

    def _plan_mention(
        self, mention: Mention, gold: str, pool: Sequence[str], content: Content
    ) -> Planned | Skipped:
        draw = Draw(self.seed, mention.item.source_id)
        own = self._pictures[mention.entity]
        related = {n for c in mention.candidates for n in self._pictures.get(c, ())}
        negatives = choose_negatives(
            draw,
            content,
            taken={identity for name in own if (identity := content(name))},
            hard=[self._pictures.get(candidate, ()) for candidate in mention.candidates],
            random_pool=pool,
            forbidden=related | set(own),
        )
        if negatives is None:
            where = mention.item.where
            return Skipped("item", "fewer than nine usable negatives", where, mention.entity)
        choice = arrange(draw, gold, negatives)
        return checked(Planned(mention.item, choice.pictures, choice.kinds), content)


def read_wikidiverse(
    source: Path,
    images: Path | None = None,
    seed: int = 0,
    manifest: Manifest | None = None,
) -> WikiDiverse:
    """Read ``{train,valid,test}_w_10cands.json`` and the entity-picture map under ``source``.

    images : folder with the entity pictures; None in a dry run.
    Raises DataError when no split is there, a row has not eleven fields, or, where pictures are
    wanted, the map is missing.
    """
    names = {split: f"{stem}_w_10cands.json" for stem, split in SPLIT_FILES.items()}
    places = find_files(source, [*names.values(), PICTURE_MAP])
    files = {split: places[name][0] for split, name in names.items() if places[name]}
    if not files:
        raise DataError(
            f"{source}: none of {', '.join(names.values())} here or "
            "in a folder below (the dataset's download 'with retrieved 10 cands')"
        )
    mentions: list[Mention] = []
    dropped: list[Skipped] = []
    for split, path in files.items():
        for number, row in enumerate(read_json(path)):
            result = _mention(row, split, number, path.name)
            if isinstance(result, Skipped):
                dropped.append(result)
            else:
                mentions.append(result)
    wanted = {entity for m in mentions for entity in (m.entity, *m.candidates)}
    maps = places[PICTURE_MAP]
    if not maps and images is not None:
        raise DataError(f"{source}: no {PICTURE_MAP}, which tells the pictures of each entity")
    # Without the map a dry run counts each entity as if it had a picture, and says so.
    addresses = read_picture_map(maps[0], wanted) if maps else {e: (e,) for e in sorted(wanted)}
    facts: dict[str, object] = {
        "mentions": len(mentions) + len(dropped),
        "nil": sum(skip.reason.startswith("NIL") for skip in dropped),
        "linked": dict(Counter(m.item.split for m in mentions)),
        "entities": len(wanted),
        "picture_map": maps[0].name if maps else "missing; every entity counts as having a picture",
        "entities_with_a_picture_address": len(addresses),
        "gold_without_a_picture_address": dict(
            Counter(m.item.split for m in mentions if m.entity not in addresses)
        ),
        "gold_among_the_source_candidates": sum(m.gold_listed for m in mentions),
    }
    folder = PictureFolder(images) if images else None
    return WikiDiverse(mentions, dropped, facts, addresses, folder, seed, manifest or {})


def _mention(row: Any, split: str, number: int, file: str) -> Mention | Skipped:
    where = f"{file}: element {number}"
    if not isinstance(row, list) or len(row) != 11:
        found = f"{len(row)} fields" if isinstance(row, list) else "no list"
        raise DataError(f"{where}: {found} instead of 11; is it the file with 10 candidates?")
    sentence, _, mention, _, _, _, address, candidates, _, _, _ = row
    term, context, entity = clean(mention), clean(sentence), entity_title(address or "")
    if not term or not context:
        return Skipped("row", "no mention or no sentence", where)
    if not entity:
        return Skipped("row", "NIL: the mention has no entity", where, term)
    titles = dict.fromkeys(entity_title(candidate) for candidate in candidates)
    item = Item(
        config="wikidiverse",
        split=split,
        term=term,
        context=context,
        source_id=f"{split}/{number}",
        where=where,
        pos="n",
        sense=entity,
    )
    others = tuple(title for title in titles if title and title != entity)
    return Mention(item, entity, others, entity in titles)


def read_picture_map(path: Path, wanted: set[str]) -> dict[str, tuple[str, ...]]:
    """Picture addresses of the wanted entities from ``entity@@@@address[AND]address...`` lines.

    The file lists millions of entities, so it is read line by line.
    """
    found: dict[str, dict[str, None]] = {}
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            name, separator, rest = line.rstrip("\r\n").partition("@@@@")
            entity = entity_title(name)
            if separator and entity in wanted:
                addresses = [a.strip() for a in rest.split("[AND]") if a.strip()]
                found.setdefault(entity, {}).update(dict.fromkeys(addresses))
    return {entity: tuple(addresses) for entity, addresses in found.items() if addresses}
