"""Vision-language checkpoints of transformers, by the likelihood of Yes and No."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import torch

from wordsight.errors import WordsightError
from wordsight.models.base import Ask, PictureModel
from wordsight.models.checkpoint import find_checkpoint
from wordsight.models.likelihood import LikelihoodReader, Reuse
from wordsight.models.prompting import Prompter
from wordsight.models.tensors import collate, picture_kind, to_model
from wordsight.models.yes_no import find_answer_tokens, require_mass

_MOST_WORKERS = 4


class HFImageTextToText(PictureModel):
    """Registered as ``wordsight_hf``: any ``AutoModelForImageTextToText`` checkpoint.

    Answers carry ``mass`` (probability of yes and no together), ``tokens`` (of the prompt) and
    ``seconds`` (the batch's time divided by its questions).

    Parameters
    ----------
    pretrained : name or folder of the checkpoint; ``revision`` pins it.
    dtype : "float32", "bfloat16" or "float16"; by default bfloat16 on a GPU, float32 on a CPU.
    device_map : passed on to ``from_pretrained`` ("auto" spreads over several GPUs).
    load_in_4bit, load_in_8bit : quantise while loading (needs the package bitsandbytes).
    attn_implementation, trust_remote_code : passed on to ``from_pretrained``.
    min_pixels, max_pixels : passed on to the processor, for families with pictures of any size.
    chat_template : file with a template, for a checkpoint that has none.
    answer_prefix : text put before the answer, for a model that would think first.
    reuse : "auto", "on" or "off": put picture and chat header through the model once per picture.
    workers : threads that decode and preprocess pictures.
    cache_gb : memory for keys and values of pictures already done.
    """

    kinds = frozenset({"yes_no", "scalar", "choice"})

    def __init__(
        self,
        pretrained: str,
        dtype: str | None = None,
        device_map: str | None = None,
        revision: str | None = None,
        load_in_4bit: bool = False,
        load_in_8bit: bool = False,
        attn_implementation: str | None = None,
        trust_remote_code: bool = False,
        min_pixels: int | None = None,
        max_pixels: int | None = None,
        chat_template: str | None = None,
        answer_prefix: str = "",
        reuse: Reuse = "auto",
        workers: int | None = None,
        cache_gb: float = 1.0,
        max_new_tokens: int = 32,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        from transformers import AutoModelForImageTextToText, AutoProcessor

        if reuse not in get_args(Reuse):
            raise WordsightError(f"reuse={reuse!r}; choose one of {', '.join(get_args(Reuse))}")
        self._pretrained = pretrained
        self._max_new_tokens = int(max_new_tokens)
        origin = {"revision": revision, "trust_remote_code": bool(trust_remote_code)}
        place = find_checkpoint(pretrained, revision)
        pixels = {"min_pixels": min_pixels, "max_pixels": max_pixels}
        processor = AutoProcessor.from_pretrained(
            place, **origin, **{k: int(v) for k, v in pixels.items() if v is not None}
        )
        if chat_template is not None:
            processor.chat_template = Path(chat_template).read_text(encoding="utf-8")
        quantised = load_in_4bit or load_in_8bit
        model = AutoModelForImageTextToText.from_pretrained(
            place,
            dtype=self._dtype(dtype),
            device_map=device_map or (str(self.device) if quantised else None),
            quantization_config=_quantisation(load_in_4bit, load_in_8bit),
            attn_implementation=attn_implementation,
            **origin,
        ).eval()
        self._model = model if device_map or quantised else model.to(self.device)
        token = getattr(model.config, "image_token_id", None)
        self._prompter = Prompter(processor, token, answer_prefix)
        self.reader = LikelihoodReader(
            self._model,
            self._prompter,
            find_answer_tokens(processor.tokenizer),
            batch_size=self.batch_size,
            reuse=reuse,
            workers=_workers() if workers is None else int(workers),
            cache_gb=float(cache_gb),
        )

    def _dtype(self, name: str | None) -> torch.dtype:
        wanted = name or ("bfloat16" if self.device.type == "cuda" else "float32")
        dtype = getattr(torch, wanted, None)
        if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
            raise WordsightError(f"dtype={wanted!r}; choose float32, bfloat16 or float16")
        return dtype

    def answer(self, asks: Sequence[Ask]) -> Iterator[str]:
        """Yield likelihoods of yes and no; generated text for questions of other kinds."""
        for kind, group in itertools.groupby(asks, key=lambda ask: ask.kind):
            together = list(group)
            if kind == "yes_no":
                for reading in require_mass(self.reader.read(together), self._pretrained):
                    self.settled = self.reader.settled
                    yield reading.response()
            else:
                yield from self._read_texts(together)

    def _read_texts(self, asks: Sequence[Ask]) -> Iterator[str]:
        """What the model writes about the pictures of each ask, in batches of like pictures."""
        pad = self._prompter.processor.tokenizer.pad_token_id or 0
        rows = (self._prompter.process(ask.question, ask.pictures()) for ask in asks)
        for _, like in itertools.groupby(rows, key=picture_kind):
            while batch := list(itertools.islice(like, self.batch_size)):
                yield from self._generate(collate(batch, pad), self._max_new_tokens)

    def write(self, prompts: Sequence[str], max_tokens: int = 256) -> Iterator[str]:
        """Yield what the model writes after each prompt, without a picture, greedily."""
        tokenizer = self._prompter.processor.tokenizer
        pending = iter(prompts)
        while batch := list(itertools.islice(pending, self.batch_size)):
            texts = [self._prompter.render(prompt, pictures=0) for prompt in batch]
            rows = [dict(tokenizer(text, return_tensors="pt")) for text in texts]
            yield from self._generate(collate(rows, tokenizer.pad_token_id or 0), max_tokens)

    def _generate(self, inputs: dict[str, torch.Tensor], max_tokens: int) -> list[str]:
        tokenizer = self._prompter.processor.tokenizer
        length = inputs["input_ids"].shape[1]
        with torch.inference_mode():
            ids = self._model.generate(
                **to_model(inputs, self._model),
                max_new_tokens=max_tokens,
                do_sample=False,
                pad_token_id=tokenizer.pad_token_id or 0,
            )
        texts: list[str] = tokenizer.batch_decode(ids[:, length:], skip_special_tokens=True)
        return [text.strip() for text in texts]


def _workers() -> int:
    return max(1, min(_MOST_WORKERS, (os.cpu_count() or 1) - 1))


def _quantisation(four: bool, eight: bool) -> Any:
    if not (four or eight):
        return None
    from transformers import BitsAndBytesConfig
    from transformers.utils import is_bitsandbytes_available

    if not is_bitsandbytes_available():
        raise WordsightError("quantised loading needs the package bitsandbytes: install it")
    # Its 8-bit layers warn of their cast to float16 in every pass of every layer.
    logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)
    return BitsAndBytesConfig(load_in_4bit=four, load_in_8bit=eight and not four)
