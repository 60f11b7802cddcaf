"""Forward passes: pictures with their chat header, then questions after them, or both at once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from wordsight.models.base import Ask
from wordsight.models.packing import fill, lay_out, parting_mask
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
from wordsight.models.yes_no import AnswerTokens, Tokens

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
# number of the question -> token sequence of yes or no -> its log-probability
Logs = dict[int, dict[Tokens, float]]
# How attention can be computed where a mask of our own parts the questions.
_MASKED = frozenset({"sdpa", "eager"})
# Attention over so few tokens costs little beside the rest of a pass.
_LEAST_ROOM = 128
_LONG_ON_A_CPU = 256


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
    """A checkpoint's forward passes. Callers hold ``torch.inference_mode``.

    ``packs`` tells whether the questions about a picture go through the model as one sequence.
    """

    def __init__(self, model: Any, tokens: AnswerTokens) -> None:
        self._model = model
        self._tokens = tokens
        self.packs = getattr(model.config, "_attn_implementation", "") in _MASKED
        # transformers renamed the argument in its fifth major version and warns about the old one
        known = inspect.signature(model.forward).parameters
        self._cache_name = "cache" if "cache" in known else "past_key_values"
        self._pad = model.config.get_text_config().pad_token_id or 0

    def rows_at_once(self, length: int, batch_size: int) -> int:
        """How many prompts of so many tokens before the question go through as one batch."""
        # A CPU is busy with one long prompt; several push each other out of its caches.
        alone = self._model.device.type == "cpu" and length >= _LONG_ON_A_CPU
        return 1 if alone else batch_size

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
        # Close lengths together waste few positions.
        rows = sorted(rows, key=lambda row: len(row.tail))
        # One at a time means alone: to the last bit the same, whatever else is asked.
        packs = self.packs and batch_size > 1
        for length, group in groups(rows, lambda row: prefixes[row.ask.image_id].length):
            lines = [
                line
                for key, about in groups(group, lambda row: row.ask.image_id)
                for line in fill(
                    about, lambda row: len(row.tail), _room(prefixes[key]) if packs else 0
                )
            ]
            lines.sort(key=len)
            for chunk in chunks(lines, batch_size):
                self._read_lines(chunk, length, prefixes, logs)
        return logs

    def _read_lines(
        self,
        lines: Sequence[Sequence[Row]],
        length: int,
        prefixes: Mapping[str, Prefix],
        logs: Logs,
    ) -> None:
        device = self._model.device
        layout = lay_out([[row.tail for row in line] for line in lines], self._pad)
        places = [
            [range(end - len(row.lead) - 1, end) for row, end in zip(line, ends, strict=True)]
            for line, ends in zip(lines, layout.ends, strict=True)
        ]
        wanted = sorted({place for line in places for own in line for place in own})
        own = [prefixes[line[0].ask.image_id] for line in lines]
        positions = torch.tensor(layout.offsets, device=device) + length
        if own[0].rope_delta is not None:
            deltas = torch.cat([p.rope_delta for p in own if p.rope_delta is not None])
            positions = (positions + deltas.to(device)).expand(3, -1, -1)
        mask = {}
        if layout.shared:
            owners = torch.tensor(layout.owners, device=device)
            mask["attention_mask"] = parting_mask(owners, length, self._model.dtype)
        logits = self._model(
            input_ids=torch.tensor(layout.ids, device=device),
            position_ids=positions,
            **mask,
            **{self._cache_name: join_caches([p.cache for p in own])},
            use_cache=True,
            logits_to_keep=torch.tensor(wanted, device=device),
        ).logits
        picked = self._tokens.pick(logits).tolist()
        for values, line, at in zip(picked, lines, places, strict=True):
            for row, here in zip(line, at, strict=True):
                self._note(row, [values[wanted.index(place)] for place in here], logs)

    def _note(self, row: Row, picked: Sequence[Sequence[float]], logs: Logs) -> None:
        logs.setdefault(row.number, {}).update(self._tokens.forms_after(row.lead, picked))

    def read_whole(
        self, rows: Sequence[Row], prepared: Mapping[str, Prepared], batch_size: int
    ) -> Logs:
        """Read each row's picture and question together."""
        logs: Logs = {}
        for _, group in groups(rows, lambda row: picture_kind(prepared[row.ask.image_id].picture)):
            length = prepared[group[0].ask.image_id].length
            for chunk in chunks(group, self.rows_at_once(length, batch_size)):
                keep = max(len(row.lead) for row in chunk) + 1
                inputs = collate(
                    [whole_prompt(prepared[row.ask.image_id], row.tail) for row in chunk],
                    self._pad,
                )
                logits = self._model(
                    **to_model(inputs, self._model), use_cache=False, logits_to_keep=keep
                ).logits
                for row, values in zip(chunk, self._tokens.pick(logits).tolist(), strict=True):
                    self._note(row, values[-len(row.lead) - 1 :], logs)
        return logs


def _room(prefix: Prefix) -> int:
    """How many tokens of questions may follow a prefix in one line."""
    # Beyond, the questions would spend more on passing each other over than is saved.
    room = max(_LEAST_ROOM, prefix.length)
    windows = [getattr(layer, "sliding_window", None) for layer in prefix.cache.layers]
    # A window counts places in the line, where other questions stand between.
    return min([room, *(int(window) - prefix.length for window in windows if window)])


def groups(items: Sequence[T], key: Callable[[T], K]) -> list[tuple[K, list[T]]]:
    """Items of equal key together, in the order in which keys first come."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return list(found.items())


def chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Items in lots of ``size``."""
    return (items[i : i + size] for i in range(0, len(items), size))
