"""VerSe: a caption with a verb, and ten pictures of which one shows the same sense of it.

The paper does not state its pool; the rule here gives its two counts (Table 1) exactly. Pool: rows
on COCO pictures with a sense, whose (verb, sense) has at least two pictures. The gold is another
picture of the same (verb, sense), from the caption picture's own COCO 2014 split where there is
one, else from the other split. The item belongs to the split of its gold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from sage_tasks.build.captions import Captions, coco_number, read_captions
from sage_tasks.build.folders import PictureFolder
from sage_tasks.build.neutralise import DEFAULT_NEUTRAL, holds, neutralise, pick_caption
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
    with_gold,
)
from sage_tasks.build.verse_files import Row, read_definitions, read_rows

SPIS_VARIANTS = ("verse_original", "verse_original_neutral", "verse", "verse_neutral")
SWAPPED_ONLY = ("verse",)


@dataclass
class Verse:
    """The source as a whole; see :class:`sage_tasks.build.plan.Source`."""

    rows: Sequence[Row]
    dropped: list[Skipped]
    facts: dict[str, object]
    captions: Captions | None
    folder: PictureFolder | None
    definitions: Mapping[tuple[str, str], str]
    variants: Sequence[str] = SWAPPED_ONLY
    neutral: str = DEFAULT_NEUTRAL
    seed: int = 0
    manifest: Manifest = field(default_factory=dict)
    name: str = "verse"

    @cached_property
    def _groups(self) -> dict[tuple[str, str], list[Row]]:
        groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in self.rows:
            groups[row.verb, row.sense].append(row)
        return groups

    @cached_property
    def _senses(self) -> dict[str, list[str]]:
        senses: dict[str, list[str]] = defaultdict(list)
        for verb, sense in self._groups:
            senses[verb].append(sense)
        return senses

    @cached_property
    def _pictures_of_verb(self) -> dict[str, set[str]]:
        pictures: dict[str, set[str]] = defaultdict(set)
        for row in self.rows:
            pictures[row.verb].add(row.picture)
        return pictures

    @cached_property
    def _pools(self) -> dict[str, list[str]]:
        return {
            split: sorted({row.picture for row in self.rows if row.split == split})
            for split in ("train", "test")
        }

    def picture_names(self) -> Iterable[str]:
        """Every COCO picture with a sense: each may serve as a negative."""
        return dict.fromkeys(row.picture for row in self.rows)

    def picture_info(self, name: str) -> PictureInfo:
        """Licence and address on Flickr where the captions file lists the picture."""
        number = coco_number(name)
        infos = self.captions.infos if self.captions else {}
        return infos.get(number or -1, PictureInfo("COCO 2014"))

    def find(self, name: str) -> Path | None:
        """The picture's file, under its name of 2014 or of 2017."""
        if self.folder is None:
            return None
        return self.folder.find(name) or self.folder.find(name.rsplit("_", 1)[-1])

    def plan(self, content: Content) -> Iterator[Planned | Skipped]:
        """Every variant of every item whose (verb, sense) has another picture."""
        for row in self.rows:
            if len(self._groups[row.verb, row.sense]) < 2:
                yield Skipped("row", "no other picture of this verb sense", row.where, row.picture)
                continue
            yield from self._plan_row(row, content)

    def _plan_row(self, row: Row, content: Content) -> Iterator[Planned | Skipped]:
        own = content(row.picture)
        if own is None:
            reason = "the caption's own picture cannot be used"
            yield Skipped("item", reason, row.where, row.picture)
            return
        draw = Draw(self.seed, f"{row.verb}/{row.picture}")
        gold = self._gold(row, own, draw, content)
        if gold is None:
            reason = "no usable other picture of this verb sense"
            yield Skipped("item", reason, row.where, row.picture)
            return
        item = self._item(row, gold)
        if isinstance(item, Skipped):
            yield item
            return
        swapped = self._swapped(item, row, gold, draw, content)
        if isinstance(swapped, Skipped):
            yield swapped
            return
        for variant in self.variants:
            yield checked(self._variant(swapped, row, variant), content)

    def _gold(self, row: Row, own: str, draw: Draw, content: Content) -> Row | None:
        others = {
            other.picture: other
            for other in self._groups[row.verb, row.sense]
            if content(other.picture) not in (None, own)
        }
        order = [others[name] for name in draw.shuffled("gold", others)]
        same_split = [other for other in order if other.split == row.split]
        return next(iter([*same_split, *order]), None)

    def _item(self, row: Row, gold: Row) -> Item | Skipped:
        context = ""
        if self.captions is not None:
            texts = self.captions.texts.get(coco_number(row.picture) or -1)
            if not texts:
                return Skipped("item", "no caption of its picture", row.where, row.picture)
            context = pick_caption(texts, row.verb)
        return Item(
            config="verse",
            split=gold.split,
            term=row.verb,
            context=context,
            source_id=f"{row.verb}/{Path(row.picture).stem}",
            where=row.where,
            pos="v",
            sense=f"{row.verb}.{row.sense}",
            gloss=self.definitions.get((row.verb, row.sense), ""),
        )

    def _swapped(
        self, item: Item, row: Row, gold: Row, draw: Draw, content: Content
    ) -> Planned | Skipped:
        if self.manifest:
            return follow(item, self.manifest, content)
        group = self._groups[row.verb, row.sense]
        same_sense = {identity for other in group if (identity := content(other.picture))}
        hard = [
            self._preferred([r.picture for r in self._groups[row.verb, sense]], gold.split, draw)
            for sense in sorted(self._senses[row.verb])
            if sense != row.sense
        ]
        negatives = choose_negatives(
            draw,
            content,
            taken=same_sense,
            hard=hard,
            random_pool=self._pools[gold.split],
            forbidden=self._pictures_of_verb[row.verb],
        )
        if negatives is None:
            return Skipped("item", "fewer than nine usable negatives", row.where, row.picture)
        choice = arrange(draw, gold.picture, negatives)
        return Planned(item, choice.pictures, choice.kinds)

    def _preferred(self, pictures: list[str], split: str, draw: Draw) -> list[str]:
        order = draw.shuffled("hard negatives", pictures)
        in_split = set(self._pools[split])
        return sorted(order, key=lambda name: name not in in_split)

    def _variant(self, swapped: Planned, row: Row, variant: str) -> Planned:
        item = replace(swapped.item, config=variant)
        if variant.endswith("_neutral"):
            # The verb is withheld wherever a model or a lexicon could read it.
            item = replace(
                item,
                term=self.neutral,
                context=neutralise(item.context, row.verb, self.neutral),
                sense="",
                gloss="",
            )
        if variant.startswith("verse_original"):
            return with_gold(swapped, item, row.picture)
        return replace(swapped, item=item)


def read_verse(
    annotations: Path,
    captions: Sequence[Path] = (),
    coco_images: Path | None = None,
    senses: Path | None = None,
    variants: Sequence[str] = SWAPPED_ONLY,
    neutral: str = DEFAULT_NEUTRAL,
    seed: int = 0,
    manifest: Manifest | None = None,
) -> Verse:
    """Read the annotation file and what goes with it.

    captions : none in a dry run; items then have no context.
    senses : ``verse_visualness_labels.csv`` with OntoNotes definitions; by default looked for
        beside the annotations.
    """
    rows, dropped, facts = read_rows(annotations)
    if (
        senses is None
        and (beside := annotations.with_name("verse_visualness_labels.csv")).is_file()
    ):
        senses = beside
    wanted = {number for row in rows if (number := coco_number(row.picture)) is not None}
    read = read_captions(captions, wanted) if captions else None
    if read is not None:
        missing = [r for r in rows if read.texts.get(coco_number(r.picture) or -1) is None]
        facts["pictures_without_caption"] = len({row.picture for row in missing})
        facts["captions_without_the_verb"] = sum(
            not any(holds(text, row.verb) for text in texts)
            for row in rows
            if (texts := read.texts.get(coco_number(row.picture) or -1))
        )
    return Verse(
        rows=rows,
        dropped=dropped,
        facts=facts,
        captions=read,
        folder=PictureFolder(coco_images) if coco_images else None,
        definitions=read_definitions(senses) if senses else {},
        variants=variants,
        neutral=neutral,
        seed=seed,
        manifest=manifest or {},
    )
