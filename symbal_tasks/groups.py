"""Ranking groups of facts or pictures by misalignment, and joining groups that are one."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from symbal_tasks.cluster import Clustering
from symbal_tasks.trace import Group, Stage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


@dataclass(frozen=True)
class Ranking:
    """All groups for the trace, and those large enough to count as recurring, worst first."""

    stage: Stage
    recurring: tuple[Group, ...]


def rank(
    members: Sequence[tuple[str, str]],
    clustering: Clustering,
    scores: NDArray[np.float64],
    *,
    min_share: float,
    of: int,
    margin: float,
) -> Ranking:
    """Groups by mean agreement, worst first.

    members : (row id, fact) of every clustered item; scores : (n,) their agreement, NaN where
    unread. A group recurs from a share ``min_share`` of ``of`` on, and from two members. margin :
    standard errors added to a mean before ranking: the means of small groups vary most, so the
    lowest of many means would be that of a small group by chance. 0 ranks by the plain mean.
    """
    import numpy as np

    read = scores[~np.isnan(scores)]
    spread = float(read.std()) if len(read) else 0.0

    def place(group: Group) -> tuple[bool, float, int, int]:
        if group.score is None:
            # a group that nothing is known about must not pass for the worst
            return True, 0.0, -group.size, group.number
        doubt = margin * spread / math.sqrt(group.scored)
        return False, group.score + doubt, -group.size, group.number

    groups = tuple(
        sorted((_group(members, clustering, scores, n) for n in range(clustering.k)), key=place)
    )
    least = max(2, round(min_share * of))
    recurring = tuple(group for group in groups if group.size >= least) or groups
    left_out = len(groups) - len(recurring)
    return Ranking(Stage(clustering.k, clustering.silhouettes, groups, left_out), recurring)


def merge_near(
    groups: Sequence[Group],
    clustering: Clustering,
    vectors: NDArray[np.float32],
    *,
    most: int,
    least_cosine: float,
) -> list[tuple[Group, list[int]]]:
    """The first ``most`` groups with their members; a group whose centre has at least
    ``least_cosine`` with that of a chosen one joins it (A.3 finds several misalignments)."""
    import numpy as np

    chosen: list[tuple[Group, list[int]]] = []
    centres: list[NDArray[np.float32]] = []
    for group in groups:
        members = clustering.members(group.number)
        centre = vectors[members].mean(axis=0)
        centre = centre / max(float(np.linalg.norm(centre)), 1e-12)
        near = next((k for k, c in enumerate(centres) if float(c @ centre) >= least_cosine), None)
        if near is not None:
            chosen[near][1].extend(members.tolist())
        elif len(chosen) < most:
            chosen.append((group, members.tolist()))
            centres.append(centre)
    return [(group, sorted(members)) for group, members in chosen]


def sample(items: Sequence[T], most: int | None, seed: int) -> list[T]:
    """At most ``most`` items in their order, drawn by the seed; None takes all."""
    if most is None or len(items) <= most:
        return list(items)
    rng = random.Random(f"{seed}|{len(items)}")
    return [items[i] for i in sorted(rng.sample(range(len(items)), most))]


def _group(
    members: Sequence[tuple[str, str]],
    clustering: Clustering,
    scores: NDArray[np.float64],
    number: int,
) -> Group:
    import numpy as np

    inside = clustering.members(number)
    read = scores[inside][~np.isnan(scores[inside])]
    return Group(
        number,
        len(inside),
        float(read.mean()) if len(read) else None,
        len(read),
        tuple(members[i] for i in inside.tolist()),
    )
