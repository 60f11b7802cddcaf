"""Many requests at a time, their results in order."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
# How far work may run ahead of the first result that is missing, in calls per place: what is
# finished but not yet handed over is lost in a kill.
_AHEAD = 4
_LOOK_AGAIN = 0.02


def in_flight(
    ask: Callable[[T], Coroutine[Any, Any, R]],
    items: Sequence[T],
    concurrency: int,
    *,
    first_alone: bool = False,
    close: Callable[[], Coroutine[Any, Any, None]],
) -> Iterator[R]:
    """Results of ``ask`` in order, with up to ``concurrency`` calls running at a time.

    The calls run on an event loop in a thread of its own, so that a caller may have one too;
    ``close`` is called on it at the end, however the end comes. Raises what a call raises, when
    its turn comes.
    """
    results: queue.SimpleQueue[tuple[int, R | None, BaseException | None]] = queue.SimpleQueue()
    numbered = iter(enumerate(items))
    due = 0
    stopping = threading.Event()

    async def one(number: int, item: T) -> bool:
        while number - due >= _AHEAD * concurrency and not stopping.is_set():
            await asyncio.sleep(_LOOK_AGAIN)
        try:
            results.put((number, await ask(item), None))
        except Exception as error:
            results.put((number, None, error))
            return False
        return True

    async def work() -> None:
        for number, item in numbered:
            await one(number, item)

    async def everything() -> None:
        try:
            if first_alone and not await one(*next(numbered)):
                return
            await asyncio.gather(*[work() for _ in range(concurrency)])
        finally:
            await close()

    if not items:
        return
    loop = asyncio.new_event_loop()
    whole = loop.create_task(everything())
    thread = threading.Thread(target=_run, args=(loop, whole), daemon=True)
    thread.start()
    waiting: dict[int, tuple[R | None, BaseException | None]] = {}
    try:
        while due < len(items):
            while due not in waiting:
                number, result, error = results.get()
                waiting[number] = result, error
            result, error = waiting.pop(due)
            if error is not None:
                raise error
            yield result  # type: ignore[misc]
            due += 1
    finally:
        stopping.set()
        with contextlib.suppress(RuntimeError):  # the loop has come to its end by itself
            loop.call_soon_threadsafe(whole.cancel)
        thread.join()


def _run(loop: asyncio.AbstractEventLoop, whole: asyncio.Task[None]) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(asyncio.wait([whole]))
    finally:
        loop.close()
