"""Stock adapters of lmms-eval that give likelihoods: ``wordsight_NAME`` for the adapter ``NAME``.

The adapter loads its checkpoint and makes its inputs as it always does; only its model's
``generate`` is replaced by a single step, whose logits say how likely yes and no are. Adapters
sort and batch requests in ways of their own, so each row of a batch is made to "generate" its own
number: whatever order the texts come back in, the number tells which row a request was.

Classes are made when first asked for: ``stock.qwen2_5_vl__chat`` is the chat form of
``qwen2_5_vl``, ``stock.qwen2_5_vl__simple`` the simple one.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from loguru import logger

from wordsight.errors import WordsightError
from wordsight.models.yes_no import (
    AnswerTokens,
    Reading,
    Tokens,
    find_answer_tokens,
    require_mass,
    word_log_probability,
)

# Batches may move P(yes) by what half precision does; more means that rows were mixed up.
_TOLERANCE = 0.05


class YesNoReader:
    """Mixed into a stock adapter: answers yes/no questions by likelihood, others by its text."""

    def __init__(self, *arguments: Any, batch_size: int | str = 1, **options: Any) -> None:
        try:
            super().__init__(*arguments, batch_size=batch_size, **options)  # type: ignore[call-arg]
        except AssertionError as error:
            # some adapters refuse batches here, others only when they are asked
            if int(batch_size) == 1 or "batch" not in str(error).lower():
                raise
            self._warn_of_batches()
            super().__init__(*arguments, batch_size=1, **options)  # type: ignore[call-arg]

    def _warn_of_batches(self) -> None:
        logger.warning(
            f"{type(self).__name__} takes no batches: going on one request at a time; "
            "wordsight_hf runs most of the same checkpoints in batches"
        )

    def generate_until(self, requests: list[Any]) -> Iterator[str]:
        """lmms-eval's call; the responses come as a stream, batch by batch."""
        for kind, group in itertools.groupby(requests, key=self._kind):
            if kind == "yes_no":
                what = f"wordsight_{type(self).__name__}"
                yield from (r.response() for r in require_mass(self._readings(list(group)), what))
            else:
                answers = super().generate_until(list(group))  # type: ignore[misc]
                yield from (str(getattr(answer, "text", answer)) for answer in answers)

    def _kind(self, request: Any) -> str:
        doc_id, task, split = request.args[-3:]
        document = self.task_dict[task][split][doc_id]  # type: ignore[attr-defined]
        # a question without a picture, as SymbalBench asks, is answered in text
        return str(document.get("kind", "yes_no" if "image_id" in document else "text"))

    def _readings(self, requests: Sequence[Any]) -> Iterator[Reading]:
        size = self._batch_size(requests)
        for start in range(0, len(requests), size):
            batch = list(requests[start : start + size])
            readings = self._read(batch)
            if start == 0 and size > 1 and self._mixed_up(batch, readings):
                size = 1
                readings = [self._read([request])[0] for request in batch]
                readings += [self._read([r])[0] for r in requests[len(batch) :]]
                yield from readings
                return
            yield from readings

    def _batch_size(self, requests: Sequence[Any]) -> int:
        size = int(getattr(self, "batch_size", 1))
        if size == 1 or not requests:
            return 1
        try:
            self._read([requests[0]])
        except AssertionError as error:
            if "batch" not in str(error).lower() or not hasattr(self, "batch_size_per_gpu"):
                raise
            self._warn_of_batches()
            self.batch_size_per_gpu = size = 1
        return size

    def _mixed_up(self, batch: Sequence[Any], readings: Sequence[Reading]) -> bool:
        alone = [self._read([request])[0] for request in batch]
        moved = max(abs(_p_yes(a) - _p_yes(b)) for a, b in zip(alone, readings, strict=True))
        if moved > _TOLERANCE:
            logger.warning(
                f"{type(self).__name__}: a batch of {len(batch)} moves P(yes) by {moved:.2f}, so "
                "the adapter mixes up its rows: going on one request at a time"
            )
        return moved > _TOLERANCE

    def _read(self, requests: list[Any]) -> list[Reading]:
        started = time.perf_counter()
        steps = FirstStep(_tokenizer(self))
        module = _torch_model(self)
        original = module.generate
        module.generate = lambda *args, **kwargs: steps(original, *args, **kwargs)
        try:
            answers = list(super().generate_until(requests))  # type: ignore[misc]
        finally:
            del module.generate
        texts = [str(getattr(answer, "text", answer)) for answer in answers]
        seconds = round((time.perf_counter() - started) / len(requests), 6)
        return [steps.reading(text, seconds) for text in texts]


class FirstStep:
    """Stands in for ``generate``: one step, its logits kept, the row's number as its text."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._tokens: AnswerTokens = find_answer_tokens(tokenizer)
        if self._tokens.leads != ((),):
            raise WordsightError(
                "the tokenizer has no single token for yes or no; run the checkpoint as "
                "wordsight_hf, which reads longer spellings"
            )
        self._logs: list[dict[Tokens, float]] = []
        self._lengths: list[int] = []

    def __call__(self, generate: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Run one step and return token ids as ``generate`` would."""
        for name in ("max_length", "temperature", "top_p", "top_k", "stopping_criteria"):
            kwargs.pop(name, None)
        one_step = {
            "max_new_tokens": 1,
            "do_sample": False,
            "num_beams": 1,
            "output_logits": True,
            "return_dict_in_generate": True,
        }
        output = generate(*args, **{**kwargs, **one_step})
        logits = output.logits[0]
        prompt = output.sequences[:, :-1]
        rows = range(len(self._logs), len(self._logs) + len(logits))
        picked = self._tokens.pick(logits).tolist()
        self._logs.extend(self._tokens.forms_after((), [values]) for values in picked)
        mask = kwargs.get("attention_mask")
        lengths = mask.sum(-1).tolist() if mask is not None else [prompt.shape[1]] * len(logits)
        self._lengths.extend(int(length) for length in lengths)
        numbers = [self._tokenizer.encode(str(row), add_special_tokens=False) for row in rows]
        longest = max(map(len, numbers))
        end = self._tokenizer.eos_token_id
        padded = [[*number, *[end] * (longest - len(number))] for number in numbers]
        return torch.cat([prompt, torch.tensor(padded, device=prompt.device)], dim=1)

    def reading(self, text: str, seconds: float) -> Reading:
        """The reading of the row whose number an adapter returned.

        Raises WordsightError when the text is no number: the adapter changes what is generated, or
        never came to generating.
        """
        try:
            row = int(text.strip())
            logs = self._logs[row]
        except (ValueError, IndexError):
            raise WordsightError(
                f"this adapter did not hand over what its model generates (it gave {text[:60]!r}); "
                "its log may say why. Run it without the prefix wordsight_, by text"
            ) from None
        return Reading(
            word_log_probability(self._tokens.yes, logs),
            word_log_probability(self._tokens.no, logs),
            self._lengths[row],
            seconds,
        )


def _torch_model(adapter: Any) -> Any:
    for name in ("model", "_model"):
        module = getattr(adapter, name, None)
        if isinstance(module, torch.nn.Module):
            module = getattr(module, "module", module)
            if hasattr(module, "generate"):
                return module
    raise WordsightError(
        f"{type(adapter).__name__} has no torch model that generates; likelihoods of a served "
        "model come from wordsight_openai"
    )


def _tokenizer(adapter: Any) -> Any:
    for holder in (
        adapter,
        getattr(adapter, "processor", None),
        getattr(adapter, "_processor", None),
    ):
        for name in ("tokenizer", "_tokenizer"):
            found = getattr(holder, name, None)
            if hasattr(found, "get_vocab"):
                return found
    raise WordsightError(f"{type(adapter).__name__} has no tokenizer of transformers")


def _p_yes(reading: Reading) -> float:
    return float(torch.sigmoid(torch.tensor(reading.yes - reading.no)))


def __getattr__(name: str) -> type:
    """The adapter's class with likelihoods, by a name such as ``llava_hf__simple``."""
    adapter, _, kind = name.rpartition("__")
    if not adapter or kind not in ("chat", "simple"):
        raise AttributeError(name)
    from lmms_eval.models import MODEL_REGISTRY_V2

    base = MODEL_REGISTRY_V2.get_model_class(adapter, force_simple=kind == "simple")
    return type(adapter, (YesNoReader, base), {"is_simple": base.is_simple})
