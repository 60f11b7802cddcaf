"""Asking a text model until its reply can be read, a bounded number of times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sage_tasks.gar.prompts import ASK_AGAIN
from sage_tasks.gar.text_models import TextModel


class Reply(Protocol):
    """A reply as read."""

    @property
    def repaired(self) -> bool:
        """Whether it was not in the form that was asked for."""
        ...


R = TypeVar("R", bound=Reply)
T = TypeVar("T")


@dataclass(frozen=True)
class Asked(Generic[T]):
    """A value and what it took: counts of "repaired", "asked_again" and "fallback"."""

    value: T
    faults: dict[str, int]


def ask_until_read(
    model: TextModel,
    prompts: Sequence[str],
    readers: Sequence[Callable[[str], R | None]],
    starts: Sequence[str],
    max_tokens: int,
    attempts: int,
) -> list[Asked[R | None]]:
    """One value per prompt, None where ``attempts`` replies could not be read ("fallback").

    A repeated question says how the reply should begin: a model that decodes greedily would
    repeat its last reply word for word otherwise.
    """
    values: list[R | None] = [None] * len(prompts)
    faults: list[Counter[str]] = [Counter() for _ in prompts]
    open_positions = list(range(len(prompts)))
    for attempt in range(attempts):
        if not open_positions:
            break
        asked = [
            prompts[i] if attempt == 0 else ASK_AGAIN.fill(prompt=prompts[i], start=starts[i])
            for i in open_positions
        ]
        for position, text in zip(open_positions, model.write(asked, max_tokens), strict=True):
            faults[position]["asked_again"] += int(attempt > 0)
            # The repeated question ended with the beginning of the reply.
            begun = text if attempt == 0 or text.startswith(starts[position]) else None
            value = readers[position](text)
            if value is None and begun is None:
                value = readers[position](f"{starts[position]} {text}")
            if value is not None:
                faults[position]["repaired"] += int(value.repaired)
                values[position] = value
        open_positions = [i for i in open_positions if values[i] is None]
    for position in open_positions:
        faults[position]["fallback"] += 1
    return [
        Asked(value, {name: n for name, n in counts.items() if n})
        for value, counts in zip(values, faults, strict=True)
    ]
