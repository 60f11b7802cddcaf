"""Splitting a task over the jobs of a cluster."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from wordsight.errors import WordsightError

T = TypeVar("T")

# Read by the tasks, so that it also works with lmms-eval's own command.
SHARD_VARIABLE = "WORDSIGHT_SHARD"


@dataclass(frozen=True)
class Shard:
    """Part ``number`` (from 1) of ``total``: every total-th element, so parts are alike in cost."""

    number: int
    total: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read "2/3". Raises WordsightError for anything else."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise WordsightError(f"shard {text!r}: write it as i/n with 1 <= i <= n, e.g. 2/3")
        return cls(int(match[1]), int(match[2]))

    def of(self, elements: Sequence[T]) -> list[T]:
        """The elements of this part. Raises WordsightError when the part would be empty."""
        part = list(elements[self.number - 1 :: self.total])
        if not part:
            raise WordsightError(f"shard {self}: only {len(elements)} queries, this part is empty")
        return part

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"
