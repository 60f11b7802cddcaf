"""Preparing pictures in other threads while the model works."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import Executor, Future
from typing import Generic, TypeVar

from wordsight.models.base import Ask

Made = TypeVar("Made")


class Ahead(Generic[Made]):
    """Prepares pictures in other threads, a few further than is needed at once.

    Parameters
    ----------
    firsts : an ask for each picture, in the order in which they will be needed.
    prepare : makes what the model needs of an ask's picture.
    pool : the threads; None prepares in line.
    kept : pictures that need no preparing.
    """

    def __init__(
        self,
        firsts: Sequence[Ask],
        prepare: Callable[[Ask], Made],
        pool: Executor | None,
        kept: Container[str] = frozenset(),
    ) -> None:
        self._firsts = firsts
        self._prepare = prepare
        self._pool = pool
        self._kept = kept
        self._next = 0
        self._futures: dict[str, Future[Made]] = {}

    def take(self, pictures: Mapping[str, Ask], reserve: int) -> dict[str, Made]:
        """What was made of these pictures, without the kept ones; starts ``reserve`` more.

        Raises what ``prepare`` raised.
        """
        if self._pool is None:
            return {k: self._prepare(ask) for k, ask in pictures.items() if k not in self._kept}
        for key, ask in pictures.items():
            self._start(key, ask)
        while self._next < len(self._firsts) and len(self._futures) < len(pictures) + reserve:
            ask = self._firsts[self._next]
            self._start(ask.image_id, ask)
            self._next += 1
        return {k: self._futures.pop(k).result() for k in pictures if k in self._futures}

    def _start(self, key: str, ask: Ask) -> None:
        if key not in self._kept and key not in self._futures:
            assert self._pool is not None
            self._futures[key] = self._pool.submit(self._prepare, ask)
