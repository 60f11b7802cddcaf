"""Forward passes: pictures with their chat header, then questions after them, or both at once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from wordsight.models.base import Ask
from wordsight.models.prompting import Prepared
from wordsight.models.tensors import (
    collate,
    join_caches,
    picture_kind,
    select_row,
    stack,
    to_model,
    whole_prompt,
)
from wordsight.models.yes_no import Tokens

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
# number of the question -> lead -> log-probabilities at its positions, (len(lead) + 1, vocabulary)
Logs = dict[int, dict[Tokens, torch.Tensor]]


@dataclass
class Prefix:
    """A picture and chat header that went through the model: keys and values of one row."""

    cache: Any
    length: int
    rope_delta: torch.Tensor | None

    @property
    def bytes(self) -> int:
        """Memory of the keys and values."""
        tensors = (t for layer in self.cache.layers for t in (layer.keys, layer.values))
        return sum(t.numel() * t.element_size() for t in tensors if t is not None)


@dataclass(frozen=True)
class Row:
    """One sequence to put through the model: an ask's question and a lead of its answer."""

    number: int
    ask: Ask
    lead: Tokens
    tail: tuple[int, ...]


class Passes:
    """A checkpoint's forward passes. Callers hold ``torch.inference_mode``."""

    def __init__(self, model: Any) -> None:
        self._model = model
        # transformers renamed the argument in its fifth major version and warns about the old one
        known = inspect.signature(model.forward).parameters
        self._cache_name = "cache" if "cache" in known else "past_key_values"
        self._pad = model.config.get_text_config().pad_token_id or 0

    def prefill(self, rows: Sequence[Prepared]) -> list[Prefix]:
        """Put pictures of one shape through the model as one batch."""
        from transformers import DynamicCache

        # Equal shapes: nothing is padded, so no position and no mask can be wrong.
        inputs = stack([{**row.prefix, **row.picture} for row in rows])
        cache = DynamicCache(config=self._model.config)
        self._model(
            **to_model(inputs, self._model),
            **{self._cache_name: cache},
            use_cache=True,
            logits_to_keep=1,
        )
        deltas = self._rope_deltas()
        if len(rows) == 1:
            return [Prefix(cache, rows[0].length, deltas)]
        return [
            Prefix(
                select_row(cache, number),
                row.length,
                None if deltas is None else deltas[number : number + 1],
            )
            for number, row in enumerate(rows)
        ]

    def _rope_deltas(self) -> torch.Tensor | None:
        # State of Qwen's models, overwritten by their next pass.
        inner = getattr(self._model, "model", self._model)
        deltas = getattr(inner, "rope_deltas", None)
        return None if deltas is None else deltas.clone()

    def read_tails(
        self, rows: Sequence[Row], prefixes: Mapping[str, Prefix], batch_size: int
    ) -> Logs:
        """Read each row's question after the prefix of its picture."""
        logs: Logs = {}
        # Rows of one batch share the prefix length; close lengths together waste few positions.
        rows = sorted(rows, key=lambda row: len(row.tail))
        for length, group in groups(rows, lambda row: prefixes[row.ask.image_id].length):
            for chunk in chunks(group, batch_size):
                self._read_tail_batch(chunk, length, prefixes, logs)
        return logs

    def _read_tail_batch(
        self,
        rows: Sequence[Row],
        length: int,
        prefixes: Mapping[str, Prefix],
        logs: Logs,
    ) -> None:
        device = self._model.device
        longest = max(len(row.tail) for row in rows)
        # On the right: a causal model never looks at what follows the last token of a row.
        ids = torch.tensor([[*row.tail, *[self._pad] * (longest - len(row.tail))] for row in rows])
        places = [range(len(row.tail) - len(row.lead) - 1, len(row.tail)) for row in rows]
        wanted = sorted({place for row in places for place in row})
        own = [prefixes[row.ask.image_id] for row in rows]
        positions = torch.arange(length, length + longest, device=device).expand(len(rows), -1)
        if own[0].rope_delta is not None:
            deltas = torch.cat([p.rope_delta for p in own if p.rope_delta is not None])
            positions = (positions + deltas.to(device)).expand(3, -1, -1)
        logits = self._model(
            input_ids=ids.to(device),
            position_ids=positions,
            **{self._cache_name: join_caches([p.cache for p in own])},
            use_cache=True,
            logits_to_keep=torch.tensor(wanted, device=device),
        ).logits
        for number, row in enumerate(rows):
            here = [wanted.index(place) for place in places[number]]
            logs.setdefault(row.number, {})[row.lead] = _log_softmax(logits[number, here])

    def read_whole(
        self, rows: Sequence[Row], prepared: Mapping[str, Prepared], batch_size: int
    ) -> Logs:
        """Read each row's picture and question together."""
        logs: Logs = {}
        for _, group in groups(rows, lambda row: picture_kind(prepared[row.ask.image_id].picture)):
            for chunk in chunks(group, batch_size):
                keep = max(len(row.lead) for row in chunk) + 1
                inputs = collate(
                    [whole_prompt(prepared[row.ask.image_id], row.tail) for row in chunk],
                    self._pad,
                )
                logits = self._model(
                    **to_model(inputs, self._model), use_cache=False, logits_to_keep=keep
                ).logits
                for number, row in enumerate(chunk):
                    last = logits[number, -len(row.lead) - 1 :]
                    logs.setdefault(row.number, {})[row.lead] = _log_softmax(last)
        return logs


def _log_softmax(logits: torch.Tensor) -> torch.Tensor:
    return logits.double().log_softmax(-1).cpu()


def groups(items: Sequence[T], key: Callable[[T], K]) -> list[tuple[K, list[T]]]:
    """Items of equal key together, in the order in which keys first come."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return list(found.items())


def chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Items in lots of ``size``."""
    return (items[i : i + size] for i in range(0, len(items), size))
