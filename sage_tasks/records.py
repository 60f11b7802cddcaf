"""The two kinds of record in a SAGE dataset: a picture, and a query over ten pictures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

CANDIDATES = 10

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
ContentId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
ItemId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{20}$")]
Kind = Literal["gold", "hard", "random", "source"]


class ImageRecord(BaseModel):
    """A distinct picture. ``id`` is the sha256 of its bytes, which are kept as they came."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: ContentId
    source_id: Text
    width: int = Field(ge=1)
    height: int = Field(ge=1)
    source: str = ""
    licence: str = ""
    credit: str = ""
    label: str = ""
    file: str = ""


class Query(BaseModel):
    """A term in a context and ten candidate pictures, one of which shows the meant sense.

    ``kinds[i]`` tells why candidate i is there: the gold, a hard negative (a picture of a
    competing sense), a random one, or "source" where the source gave it without saying.
    ``source_id`` is the same in every variant (original, swapped, ...) of one source item, which
    is what makes paired differences between variants possible.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: ItemId
    task: Text
    term: Text
    context: Text
    pos: str = ""
    candidates: tuple[ContentId, ...]
    candidate_sources: tuple[Text, ...]
    kinds: tuple[Kind, ...]
    gold: int
    sense: str = ""
    gloss: str = ""
    source_id: Text

    @model_validator(mode="after")
    def _consistent(self) -> Query:
        n = len(self.candidates)
        if n != CANDIDATES:
            raise ValueError(f"a query has {CANDIDATES} candidates, this one has {n}")
        for name, values in (("candidate_sources", self.candidate_sources), ("kinds", self.kinds)):
            if len(values) != n:
                raise ValueError(f"{name} has {len(values)} entries for {n} candidates")
        if not 0 <= self.gold < n:
            raise ValueError(f"gold is {self.gold}, outside 0..{n - 1}")
        if len(set(self.candidates)) != n:
            raise ValueError("the same picture stands twice among the candidates")
        if [i for i, kind in enumerate(self.kinds) if kind == "gold"] != [self.gold]:
            raise ValueError("kinds must say 'gold' at the gold index and nowhere else")
        expected = item_id(self.task, self.term, self.context, self.candidate_sources)
        if self.id != expected:
            raise ValueError(f"id is {self.id}, but the content hashes to {expected}")
        return self


def item_id(task: str, term: str, context: str, candidate_sources: Sequence[str]) -> str:
    """Content id of an item: 20 hex digits over task, term, context and ordered source ids.

    Source ids, not picture bytes: people who hold full-size and resized copies of the same
    pictures get the same ids; :func:`fingerprint` tells the copies apart.
    """
    payload = json.dumps([task, term, context, list(candidate_sources)], ensure_ascii=False)
    return hashlib.sha256(payload.encode()).hexdigest()[:20]


def fingerprint(queries: Iterable[Query]) -> str:
    """Hash over item ids, gold and picture content, whatever the order: one per dataset build."""
    lines = sorted(f"{q.id} {q.gold} {' '.join(q.candidates)}" for q in queries)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:20]


def pictures_fingerprint(query: Query) -> str:
    """Hash over the ten pictures of one query, in candidate order (20 hex digits)."""
    return hashlib.sha256(" ".join(query.candidates).encode()).hexdigest()[:20]
