"""A vision-language checkpoint that runs in this process, as a chat model of Symbal."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from symbal_tasks.backends import Reply, Request
from wordsight.errors import WordsightError
from wordsight.models.device import usable_device

if TYPE_CHECKING:
    from wordsight.models.prompting import Prompter, Tensors

_BATCH = 8
# As a server gives them.
_ALTERNATIVES = 20


@dataclass(frozen=True)
class LocalChat:
    """Any ``AutoModelForImageTextToText`` checkpoint, greedy; the first token's alternatives too.

    Runs on a GPU where there is one, in bfloat16, else on the CPU in float32.
    """

    pretrained: str

    @property
    def name(self) -> str:
        """The checkpoint."""
        return f"hf:{self.pretrained}"

    def reply(self, requests: Sequence[Request], *, max_tokens: int) -> list[Reply]:
        """Answer every request, in order. WordsightError for a request with a schema."""
        if any(request.schema is not None for request in requests):
            raise WordsightError(f"{self.name} cannot be held to a schema: a server can")
        return list(self._replies(requests, max_tokens))

    def _replies(self, requests: Sequence[Request], max_tokens: int) -> Iterator[Reply]:
        from wordsight.models.tensors import collate, picture_kind

        prompter, _ = _load(self.pretrained)
        pad = prompter.processor.tokenizer.pad_token_id or 0
        rows = (_tensors(prompter, request) for request in requests)
        for _, like in itertools.groupby(rows, key=picture_kind):
            while batch := list(itertools.islice(like, _BATCH)):
                yield from self._generate(collate(batch, pad), pad, max_tokens)

    def _generate(self, inputs: Tensors, pad: int, max_tokens: int) -> Iterator[Reply]:
        import torch

        from wordsight.models.tensors import to_model

        prompter, model = _load(self.pretrained)
        tokenizer = prompter.processor.tokenizer
        with torch.inference_mode():
            made = model.generate(
                **to_model(inputs, model),
                max_new_tokens=max_tokens,
                do_sample=False,
                pad_token_id=pad,
                output_scores=True,
                return_dict_in_generate=True,
            )
        first = made.scores[0].float().log_softmax(-1).topk(_ALTERNATIVES)
        start = inputs["input_ids"].shape[1]
        texts = tokenizer.batch_decode(made.sequences[:, start:], skip_special_tokens=True)
        for text, values, ids in zip(
            texts, first.values.tolist(), first.indices.tolist(), strict=True
        ):
            alternatives: dict[str, float] = {}
            for value, token in zip(
                values, tokenizer.batch_decode([[i] for i in ids]), strict=True
            ):
                # " 1" and "1" are two tokens of one answer: the likelier comes first
                alternatives.setdefault(token.strip(), value)
            yield Reply(text.strip(), alternatives)


@lru_cache(maxsize=2)  # a scorer and a captioner are often one checkpoint
def _load(pretrained: str) -> tuple[Prompter, Any]:
    import torch
    from transformers import AutoModelForImageTextToText, AutoProcessor

    from wordsight.models.prompting import Prompter

    device = usable_device()
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    model = AutoModelForImageTextToText.from_pretrained(pretrained, dtype=dtype)
    processor: Any = AutoProcessor.from_pretrained(pretrained)
    token = getattr(model.config, "image_token_id", None)
    return Prompter(processor, token), model.eval().to(device)


def _tensors(prompter: Prompter, request: Request) -> Tensors:
    from wordsight.pictures import decode_rgb

    if request.picture is not None:
        picture = decode_rgb(io.BytesIO(request.picture), "picture of a request")
        return prompter.process(request.text, [picture])
    prompt = prompter.render(request.text, pictures=0)
    return dict(prompter.processor.tokenizer(prompt, return_tensors="pt"))
