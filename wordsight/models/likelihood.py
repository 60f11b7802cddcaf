"""Log-probabilities of yes and no from a vision-language checkpoint, without generating.

All that stands before a question (chat header and picture) is the same for every question about
the picture. It is put through the model once; its keys and values are then shared by the
questions, which follow as one sequence under a mask, or as one batch. Where a family does not
allow that, or where a check on the first picture finds a difference, every question goes through
the model whole.
"""

from __future__ import annotations

import gc
import itertools
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from loguru import logger

from wordsight.errors import WordsightError
from wordsight.models.ahead import Ahead
from wordsight.models.base import Ask
from wordsight.models.passes import Passes, Prefix, Row, chunks, groups
from wordsight.models.prompting import Prepared, Prompter
from wordsight.models.tensors import out_of_memory
from wordsight.models.yes_no import AnswerTokens, Reading, word_log_probability

Reuse = Literal["auto", "on", "off"]
_CHECK_QUESTIONS = (
    "Is this a picture of anything at all? Answer with one word, Yes or No.",
    "Is it new?",
)
# Half precision and quantised weights move P(yes) by up to 2e-3 with any change of batch shape.
_TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-4}
_HALF_TOLERANCE = 3e-2
# A picture may have many questions: a window ends after this many per picture on average.
_QUESTIONS_PER_PICTURE = 16


@dataclass
class _Window:
    """Consecutive asks that are answered together."""

    asks: list[Ask]
    pictures: dict[str, Ask] = field(default_factory=dict)


class LikelihoodReader:
    """Reads yes and no for a stream of asks.

    Parameters
    ----------
    model, prompter, tokens : the checkpoint, its prompts, its words for yes and no.
    batch_size : rows per forward pass; halved for good whenever memory runs out.
    reuse : whether what stands before the question is put through the model once per picture;
        "auto" checks on the first picture that this changes nothing.
    workers : threads that decode and preprocess pictures ahead; 0 does it in line.
    cache_gb : how much memory the keys and values of pictures already done may take; they serve
        when another question about the same picture comes later.
    """

    def __init__(
        self,
        model: Any,
        prompter: Prompter,
        tokens: AnswerTokens,
        *,
        batch_size: int,
        reuse: Reuse = "auto",
        workers: int = 2,
        cache_gb: float = 1.0,
    ) -> None:
        self.batch_size = batch_size
        self.reuse = reuse
        # whether the last reading that was yielded is the last of its window
        self.settled = True
        self._model = model
        self.prompter = prompter
        self._tokens = tokens
        self._leads = tokens.leads
        self._pool = ThreadPoolExecutor(workers) if workers else None
        self._cache_bytes = int(cache_gb * 2**30)
        self._prefixes: OrderedDict[str, Prefix] = OrderedDict()
        self._passes = Passes(model, tokens)

    def forget(self) -> None:
        """Drop the kept pictures, as after a change of data or for a cold measurement."""
        self._prefixes.clear()

    def read(self, asks: Sequence[Ask]) -> Iterator[Reading]:
        """One reading per ask, in order, window by window.

        Raises DataError for a picture that cannot be decoded and WordsightError when one row
        alone does not fit into memory.
        """
        firsts = [next(group) for _, group in itertools.groupby(asks, key=lambda a: a.image_id)]
        ahead = Ahead(firsts, self._prepare, self._pool, self._prefixes)
        pending = list(reversed(asks))
        while pending:
            window = self._cut(pending)
            prepared = ahead.take(window.pictures, reserve=2 * self.batch_size)
            readings = self._read_window(window.asks, prepared)
            for number, reading in enumerate(readings, start=1):
                self.settled = number == len(readings)
                yield reading

    def _cut(self, pending: list[Ask]) -> _Window:
        window = _Window([])
        while pending and len(window.asks) < self.batch_size * _QUESTIONS_PER_PICTURE:
            ask = pending[-1]
            if ask.image_id not in window.pictures and len(window.pictures) == self.batch_size:
                break
            window.pictures.setdefault(ask.image_id, ask)
            window.asks.append(pending.pop())
        return window

    def _prepare(self, ask: Ask) -> Prepared:
        return self.prompter.prepare(ask.question, ask.picture())

    def _read_window(self, asks: list[Ask], prepared: dict[str, Prepared]) -> list[Reading]:
        try:
            return self._timed(asks, prepared)
        except (torch.OutOfMemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            if len(asks) == 1:
                raise WordsightError(
                    "a single question about one picture does not fit into memory: give "
                    "max_pixels=... for smaller pictures, dtype=bfloat16 or a smaller model"
                ) from error
        # Outside the handler, so that the failed pass is not kept alive by its traceback.
        self._prefixes.clear()
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self.batch_size = max(1, self.batch_size // 2)
        logger.warning(f"out of memory: going on with batches of {self.batch_size}")
        half = len(asks) // 2
        return [
            *self._read_window(asks[:half], prepared),
            *self._read_window(asks[half:], prepared),
        ]

    def _timed(self, asks: list[Ask], prepared: dict[str, Prepared]) -> list[Reading]:
        if self.reuse == "auto":
            self.reuse = self._check(asks[0], prepared)
            self._prefixes.clear()
        started = time.perf_counter()
        # A kept picture may have been dropped since its tensors were found unnecessary.
        for ask in asks:
            if ask.image_id not in prepared and ask.image_id not in self._prefixes:
                prepared[ask.image_id] = self._prepare(ask)
        values = self._log_probabilities(asks, prepared, self.reuse)
        seconds = (time.perf_counter() - started) / len(asks)
        return [Reading(yes, no, tokens, round(seconds, 6)) for yes, no, tokens in values]

    def _check(self, ask: Ask, prepared: dict[str, Prepared]) -> Reuse:
        asks = [ask, *(ask.asking(question) for question in _CHECK_QUESTIONS)]
        whole = self._log_probabilities(asks, prepared, "off")
        why = ""
        for packs in (True, False) if self._passes.packs else (False,):
            self._passes.packs = packs
            try:
                shared = self._log_probabilities(asks, prepared, "on")
            except (torch.OutOfMemoryError, MemoryError):
                raise
            except Exception as error:
                # What a family does not support about shared prefixes shows in its own way.
                if out_of_memory(error):
                    raise
                why = f"prefixes cannot be shared: {error}"
                continue
            moved = max(
                abs(_p_yes(*a[:2]) - _p_yes(*b[:2])) for a, b in zip(shared, whole, strict=True)
            )
            if moved <= self._tolerance():
                return "on"
            why = f"a shared prefix moves P(yes) by {moved:.1e}"
        logger.warning(f"each question is read whole, since {why}")
        return "off"

    def _tolerance(self) -> float:
        if getattr(self._model, "is_quantized", False):
            return _HALF_TOLERANCE
        return _TOLERANCE.get(self._model.dtype, _HALF_TOLERANCE)

    def _log_probabilities(
        self, asks: list[Ask], prepared: dict[str, Prepared], reuse: Reuse
    ) -> list[tuple[float, float, int]]:
        """(log P(yes), log P(no), tokens of the prompt) per ask."""
        tails = [tuple(tail) for tail in self.prompter.tails([ask.question for ask in asks])]
        rows = [
            Row(number, ask, lead, (*tail, *lead))
            for number, (ask, tail) in enumerate(zip(asks, tails, strict=True))
            for lead in self._leads
        ]
        with torch.inference_mode():
            if reuse == "off":
                logs = self._passes.read_whole(rows, prepared, self.batch_size)
                lengths = {k: p.length for k, p in prepared.items()}
            else:
                prefixes = self._prefixes_of(asks, prepared)
                logs = self._passes.read_tails(rows, prefixes, self.batch_size)
                lengths = {k: p.length for k, p in prefixes.items()}
        return [
            (
                word_log_probability(self._tokens.yes, logs[number]),
                word_log_probability(self._tokens.no, logs[number]),
                lengths[ask.image_id] + len(tails[number]),
            )
            for number, ask in enumerate(asks)
        ]

    def _prefixes_of(self, asks: list[Ask], prepared: dict[str, Prepared]) -> dict[str, Prefix]:
        needed = dict.fromkeys(ask.image_id for ask in asks)
        found = {key: self._prefixes[key] for key in needed if key in self._prefixes}
        missing = [key for key in needed if key not in found]
        for _, group in groups(missing, lambda key: prepared[key].shape):
            length = prepared[group[0]].length
            for chunk in chunks(group, self._passes.rows_at_once(length, self.batch_size)):
                rows = [prepared[key] for key in chunk]
                for key, prefix in zip(chunk, self._passes.prefill(rows), strict=True):
                    found[key] = self._prefixes[key] = prefix
        for key in needed:
            self._prefixes.move_to_end(key)
        self._trim()
        return found

    def _trim(self) -> None:
        total = sum(prefix.bytes for prefix in self._prefixes.values())
        while self._prefixes and total > self._cache_bytes:
            total -= self._prefixes.popitem(last=False)[1].bytes


def _p_yes(yes: float, no: float) -> float:
    return float(torch.sigmoid(torch.tensor(yes - no, dtype=torch.float64)))
