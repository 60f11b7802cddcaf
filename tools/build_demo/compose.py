"""Which pictures stand in which item: pure functions, no files.

Choices are made by sorting on a hash of the seed and of names, never by a random generator: they
are the same on every Python version, and a new sense in the list disturbs few other items.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sage_tasks.records import CANDIDATES


@dataclass(frozen=True)
class Sense:
    """One sense of a term, as curated.

    ``entries`` are the names of the list ("emoji/bat" stands for that emoji in every drawing set);
    ``pictures`` are the distinct pictures they name, as "<set>/<name>". ``also`` names senses
    whose pictures could pass for this one.
    """

    id: str
    term: str
    context: str
    synset: str
    gloss: str
    entries: frozenset[str]
    pictures: tuple[str, ...]
    also: frozenset[str]

    @property
    def pos(self) -> str:
        return self.synset.rsplit(".", 2)[1]


@dataclass(frozen=True)
class Item:
    """Candidates of one item, gold first, the rest in the order hard, random; unshuffled.

    ``swap`` is another picture of the same sense, or None where there is no second one.
    """

    sense: Sense
    gold: str
    swap: str | None
    hard: tuple[str, ...]
    random: tuple[str, ...]


def in_hash_order(names: Iterable[str], *key: object) -> list[str]:
    """Sort names in an order that looks random but depends on key and names alone."""
    salt = "\x1f".join(str(part) for part in key)
    return sorted(names, key=lambda name: hashlib.sha256(f"{salt}\x1f{name}".encode()).digest())


def used_pictures(sense: Sense, seed: int) -> tuple[str, ...]:
    """One picture, and a second where there is one, from another drawing set where possible.

    The first is the gold of the original item, the second that of the swapped one. Both are drawn
    from all sets alike, so that the two variants do not differ in style on average.
    """
    ordered = in_hash_order(sense.pictures, seed, "use", sense.id)
    first, rest = ordered[0], ordered[1:]
    other_set = [name for name in rest if name.split("/")[0] != first.split("/")[0]]
    return (first, *(other_set or rest)[:1])


def confusable(one: Sense, other: Sense) -> bool:
    """Whether a picture of one sense could be taken for the other."""
    return (
        one.synset == other.synset
        or other.id in one.also
        or one.id in other.also
        or not one.entries.isdisjoint(other.entries)
    )


def compose(senses: Sequence[Sense], seed: int) -> list[Item]:
    """One item per sense: its gold, pictures of all other senses of the term, random ones.

    A random negative comes from another term, one per term, and from a sense that is confusable
    neither with any sense of this term nor with a random negative already there. Raises ValueError
    when the list is too short to fill an item.
    """
    by_id = {sense.id: sense for sense in senses}
    used = {sense.id: used_pictures(sense, seed) for sense in senses}
    items = []
    for sense in senses:
        family = [other for other in senses if other.term == sense.term]
        hard = [name for other in family if other.id != sense.id for name in used[other.id]]
        taken = list(family)
        terms = {sense.term}
        random: list[str] = []
        for other_id in in_hash_order(by_id, seed, "random", sense.id):
            if len(hard) + len(random) == CANDIDATES - 1:
                break
            other = by_id[other_id]
            if other.term in terms or any(confusable(other, present) for present in taken):
                continue
            taken.append(other)
            terms.add(other.term)
            random.append(in_hash_order(used[other_id], seed, "which", sense.id)[0])
        if len(hard) + len(random) != CANDIDATES - 1:
            raise ValueError(
                f"{sense.id}: {len(hard)} hard and {len(random)} random negatives instead of "
                f"{CANDIDATES - 1}: curate more senses"
            )
        gold, *second = used[sense.id]
        items.append(Item(sense, gold, second[0] if second else None, tuple(hard), tuple(random)))
    return items
