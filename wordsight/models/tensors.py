"""Batches of prompts, and caches of keys and values with one row per prompt."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch

from wordsight.models.prompting import PER_TOKEN, Prepared, Tensors


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that the memory of a GPU or of the machine is used up."""
    if isinstance(error, torch.OutOfMemoryError):
        return True
    text = str(error)
    return "DefaultCPUAllocator" in text or "out of memory" in text.lower()


def whole_prompt(prepared: Prepared, tail: Sequence[int]) -> Tensors:
    """Tensors of picture and question together."""
    ids = torch.tensor([list(tail)])
    whole = {}
    for name, value in prepared.prefix.items():
        end = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        # what is no picture has type 0 in every family
        whole[name] = torch.cat([value, end.get(name, torch.zeros_like(ids))], dim=1)
    return {**whole, **prepared.picture}


def picture_kind(inputs: Tensors) -> tuple[Any, ...]:
    """Prompts of equal kind can share a batch once their tokens are padded."""
    shapes = ((k, tuple(v.shape[1:])) for k, v in inputs.items() if k not in PER_TOKEN)
    return tuple(sorted(shapes))


def collate(rows: Sequence[Tensors], pad: int) -> Tensors:
    """Stack prompts of different length, padded on the left so that they end together."""
    longest = max(row["input_ids"].shape[1] for row in rows)
    padded = []
    for row in rows:
        missing = longest - row["input_ids"].shape[1]
        fill = {"input_ids": pad}
        padded.append(
            {
                name: torch.nn.functional.pad(value, (missing, 0), value=fill.get(name, 0))
                if name in PER_TOKEN
                else value
                for name, value in row.items()
            }
        )
    return stack(padded)


def stack(rows: Sequence[Tensors]) -> Tensors:
    """Rows of one shape as one batch. Every family counts pictures along the first axis."""
    return {name: torch.cat([row[name] for row in rows]) for name in rows[0]}


def to_model(inputs: Tensors, model: Any) -> Tensors:
    """Move tensors to the model's device; pixels take its precision."""
    return {
        name: value.to(model.device, model.dtype if value.is_floating_point() else value.dtype)
        for name, value in inputs.items()
    }


def change_cache(cache: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """A cache whose layers hold other tensors; layers keep their other state (window, length)."""
    twin = copy.copy(cache)
    twin.layers = [copy.copy(layer) for layer in cache.layers]
    for layer in twin.layers:
        layer.keys, layer.values = change(layer.keys), change(layer.values)
    return twin


def select_row(cache: Any, number: int) -> Any:
    """One row of a cache as a cache; a copy, so that the others can be dropped."""
    return change_cache(cache, lambda tensor: tensor[number : number + 1].clone())


def join_caches(caches: Sequence[Any]) -> Any:
    """One cache with a row per given cache; neighbours that are the same cost no memory."""
    first = caches[0]
    if all(cache is first for cache in caches):
        return change_cache(first, lambda t: t.expand(len(caches), *t.shape[1:]))
    joined = change_cache(first, lambda t: t)
    for number, layer in enumerate(joined.layers):
        layer.keys = torch.cat([cache.layers[number].keys for cache in caches])
        layer.values = torch.cat([cache.layers[number].values for cache in caches])
    return joined
