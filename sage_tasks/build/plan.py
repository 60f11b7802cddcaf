"""From source items to candidate lists: plans name pictures, contents are looked up through them.

A plan is made from text alone, so that a dry run needs no pictures. ``Content`` maps a picture's
source name to the id of its bytes, or None when it cannot be used; in a dry run each name stands
for itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sage_tasks.records import CANDIDATES, Kind

Content = Callable[[str], "str | None"]


@dataclass(frozen=True)
class Skipped:
    """Something of the source that is not in the dataset, with the reason and the place."""

    what: str
    reason: str
    where: str
    detail: str = ""


@dataclass(frozen=True)
class Item:
    """A source item before its candidates are chosen. ``where`` is its file and line."""

    config: str
    split: str
    term: str
    context: str
    source_id: str
    where: str
    pos: str = ""
    sense: str = ""
    gloss: str = ""


@dataclass(frozen=True)
class Planned:
    """An item with its ten candidates, in the order in which they are shown."""

    item: Item
    pictures: tuple[str, ...]
    kinds: tuple[Kind, ...]

    @property
    def gold(self) -> int:
        """Index of the gold among the candidates."""
        return self.kinds.index("gold")


@dataclass(frozen=True)
class PictureInfo:
    """What is known about a picture besides its bytes."""

    source: str
    licence: str = ""
    credit: str = ""


@dataclass(frozen=True)
class Choice:
    """Candidates of one item in a manifest: names and kinds, in order."""

    pictures: tuple[str, ...]
    kinds: tuple[Kind, ...]


Manifest = Mapping[tuple[str, str, str], Choice]
"""(config, split, source id) -> candidates; a build that follows it draws nothing."""


class Source(Protocol):
    """One subset, read from its official files."""

    @property
    def name(self) -> str:
        """Dataset name, as in ``metadata.dataset`` of the task YAML."""
        ...

    @property
    def dropped(self) -> Sequence[Skipped]:
        """Source rows that give no item, whatever the pictures."""
        ...

    @property
    def facts(self) -> Mapping[str, object]:
        """Figures about the source files for the report."""
        ...

    def picture_names(self) -> Iterable[str]:
        """Every picture that a query might use, each once, in a fixed order."""
        ...

    def picture_info(self, name: str) -> PictureInfo:
        """Origin, licence and credit of a picture."""
        ...

    def plan(self, content: Content) -> Iterator[Planned | Skipped]:
        """Every item with its candidates, or why it has none."""
        ...


@dataclass(frozen=True)
class Draw:
    """Seeded choices that depend on the seed and the item alone.

    Hashing instead of a generator's state: removing one item changes no other item's candidates,
    and the result is the same on every Python version.
    """

    seed: int
    item: str

    def _digest(self, purpose: str, value: str) -> bytes:
        text = f"{self.seed}\0{self.item}\0{purpose}\0{value}"
        return hashlib.sha256(text.encode()).digest()

    def shuffled(self, purpose: str, values: Iterable[str]) -> list[str]:
        """The values in an order that depends on nothing but seed, item, purpose and value."""
        return sorted(values, key=lambda value: self._digest(purpose, value))

    def endless(self, purpose: str, pool: Sequence[str]) -> Iterator[str]:
        """Values of ``pool`` one by one at random, each at most once.

        Cheap for a pool of any size: places are drawn with replacement and repeats passed over;
        once repeats abound, what is left comes in shuffled order.
        """
        seen: set[int] = set()
        for number in range(4 * len(pool)):
            digest = self._digest(purpose, str(number))
            place = int.from_bytes(digest[:8], "big") % len(pool)
            if place not in seen:
                seen.add(place)
                yield pool[place]
        left = [value for place, value in enumerate(pool) if place not in seen]
        yield from self.shuffled(purpose, left)


def choose_negatives(
    draw: Draw,
    content: Content,
    taken: Iterable[str],
    hard: Sequence[Sequence[str]],
    random_pool: Sequence[str],
    forbidden: frozenset[str] | set[str],
) -> list[tuple[str, Kind]] | None:
    """Nine negatives: one usable picture per hard group, then random ones.

    taken : content ids that no negative may equal (the gold's, the caption's own picture).
    hard : per competing sense or entity, its pictures in order of preference.
    forbidden : picture names that the random pool may hold but this item must not use.

    Returns None when the pool runs dry before nine are found.
    """
    used = set(taken)
    chosen: list[tuple[str, Kind]] = []

    def take(name: str, kind: Kind) -> bool:
        identity = content(name)
        if identity is None or identity in used:
            return False
        used.add(identity)
        chosen.append((name, kind))
        return True

    for group in hard:
        if len(chosen) == CANDIDATES - 1:
            break
        for name in group:
            if take(name, "hard"):
                break
    if len(chosen) == CANDIDATES - 1:
        return chosen
    for name in draw.endless("random negatives", random_pool):
        if name not in forbidden and take(name, "random") and len(chosen) == CANDIDATES - 1:
            return chosen
    return None


def arrange(draw: Draw, gold: str, negatives: Sequence[tuple[str, Kind]]) -> Choice:
    """Gold and negatives in a seeded order that does not depend on which picture the gold is.

    The place is drawn by role and not by name, so that variants of an item which differ in the
    gold picture keep it at the same place.
    """
    members: dict[str, tuple[str, Kind]] = {"gold": (gold, "gold")}
    members.update({f"negative {n}": member for n, member in enumerate(negatives)})
    order = [members[role] for role in draw.shuffled("order", members)]
    return Choice(tuple(name for name, _ in order), tuple(kind for _, kind in order))


def follow(item: Item, manifest: Manifest, content: Content) -> Planned | Skipped:
    """The item with the candidates that a manifest gives it."""
    choice = manifest.get((item.config, item.split, item.source_id))
    if choice is None:
        return Skipped("item", "not in the manifest that is followed", item.where, item.source_id)
    return checked(Planned(item, choice.pictures, choice.kinds), content)


def checked(planned: Planned, content: Content) -> Planned | Skipped:
    """The plan itself, or why it cannot become a query: missing or equal pictures."""
    identities = [content(name) for name in planned.pictures]
    missing = [n for n, i in zip(planned.pictures, identities, strict=True) if i is None]
    where = planned.item.where
    if missing:
        return Skipped("item", "a candidate picture cannot be used", where, ", ".join(missing))
    first: dict[str | None, str] = {}
    for name, identity in zip(planned.pictures, identities, strict=True):
        if identity in first:
            detail = f"{first[identity]} and {name}"
            return Skipped("item", "two candidates are the same picture", where, detail)
        first[identity] = name
    return planned


def with_gold(planned: Planned, item: Item, gold: str) -> Planned:
    """The same candidates around another gold picture, for another variant of the item."""
    pictures = list(planned.pictures)
    pictures[planned.gold] = gold
    return replace(planned, item=item, pictures=tuple(pictures))
