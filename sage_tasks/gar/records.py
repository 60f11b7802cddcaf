"""What GAR knows about an item in words: glosses, definitions, constraints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from sage_tasks.lexicons.base import Gloss

Axis = Literal["object", "attribute", "state"]
AXES: tuple[Axis, ...] = get_args(Axis)

# model: written by the language model; gloss: the first gloss, word for word, because the model
# wrote nothing usable; context: not even a gloss was there.
Origin = Literal["model", "gloss", "context"]


class Record(BaseModel):
    """Base of the records: they do not change and know their fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Definition(Record):
    """One definition that fits the context, and what a picture of it may show.

    chosen : key of the gloss it goes back to; empty when it goes back to none.
    departs : the model found that no gloss fits (SAGE, Table 17); None when it did not say.
    """

    text: str
    visible: tuple[str, ...] = ()
    chosen: str = ""
    departs: bool | None = None
    origin: Origin = "model"


class Constraint(Record):
    """One thing to check on a picture, as a phrase and as a yes/no question."""

    axis: Axis
    phrase: str
    question: str


class ItemText(Record):
    """All words about one (term, context, pos), whatever the pictures are.

    faults : what the model's texts needed, e.g. {"definition.repaired": 1}; see
        :mod:`sage_tasks.gar.replies`.
    """

    term: str
    context: str
    pos: str = ""
    glosses: tuple[Gloss, ...] = ()
    lexical: Definition | None = None
    generated: Definition | None = None
    constraints: tuple[Constraint, ...] = ()
    faults: dict[str, int] = {}

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies the text of an item."""
        return self.term, self.context, self.pos


def total_faults(texts: Iterable[ItemText]) -> dict[str, int]:
    """Faults of several items, summed, by name."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text.faults)
    return dict(sorted(counts.items()))
