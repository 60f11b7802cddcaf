"""Vision-language checkpoints of transformers, by the likelihood of Yes and No."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from wordsight.answers import likelihood
from wordsight.errors import WordsightError
from wordsight.models.base import Ask, PictureModel

_YES = ("Yes", " Yes", "yes", " yes", "YES", " YES")
_NO = ("No", " No", "no", " no", "NO", " NO")
# Below this the model puts its first token elsewhere and the ratio of yes to no is noise.
_LEAST_MASS = 1e-6


class HFImageTextToText(PictureModel):
    """Registered as ``wordsight_hf``: any ``AutoModelForImageTextToText`` checkpoint.

    One forward pass per picture and question, without generating: yes and no are read from the
    same last position. Answers carry ``mass``, the probability of yes and no together.

    Parameters
    ----------
    pretrained : name or folder of the checkpoint.
    dtype : "float32", "bfloat16" or "float16"; by default bfloat16 on a GPU, float32 on a CPU.
    device_map : passed on to ``from_pretrained``.
    """

    def __init__(
        self,
        pretrained: str,
        dtype: str | None = None,
        device_map: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self._processor = AutoProcessor.from_pretrained(pretrained)
        # Padding on the left keeps the last position the last token of every row.
        self._processor.tokenizer.padding_side = "left"
        precision = dtype or ("bfloat16" if self.device.type == "cuda" else "float32")
        model = AutoModelForImageTextToText.from_pretrained(
            pretrained, dtype=getattr(torch, precision), device_map=device_map
        ).eval()
        self._model = model if device_map else model.to(self.device)
        self._yes = single_token_ids(self._processor.tokenizer, _YES)
        self._no = single_token_ids(self._processor.tokenizer, _NO)
        if not self._yes or not self._no:
            raise WordsightError(
                f"{pretrained}: the tokenizer has no single token for "
                f"{'yes' if not self._yes else 'no'}; likelihoods cannot be read from one position"
            )

    def answer(self, asks: Sequence[Ask]) -> Iterator[str]:
        """Yield the log-probabilities of yes and no, batch by batch."""
        pending = iter(asks)
        while batch := list(itertools.islice(pending, self.batch_size)):
            yield from self._answer_batch(batch)

    def _answer_batch(self, batch: Sequence[Ask]) -> list[str]:
        prompts = [self._prompt(ask.question) for ask in batch]
        inputs = self._processor(
            text=prompts,
            images=[[ask.picture()] for ask in batch],
            return_tensors="pt",
            padding=True,
        ).to(self._model.device)
        with torch.inference_mode():
            logits = self._model(**inputs, logits_to_keep=1).logits[:, -1].double()
        logs = logits.log_softmax(-1)
        yes = logs[:, self._yes].logsumexp(-1).clamp(max=0.0)
        no = logs[:, self._no].logsumexp(-1).clamp(max=0.0)
        mass = yes.exp() + no.exp()
        if float(mass.max()) < _LEAST_MASS:
            raise WordsightError(
                f"yes and no together have probability {float(mass.max()):.1e} after "
                f"{prompts[0][-60:]!r}: this model does not answer with Yes or No here; check its "
                "chat template or run it as a stock lmms-eval model, which reads generated text"
            )
        return [
            likelihood(float(y), float(n), mass=float(m))
            for y, n, m in zip(yes, no, mass, strict=True)
        ]

    def _prompt(self, question: str) -> str:
        content = [{"type": "image"}, {"type": "text", "text": question}]
        prompt: str = self._processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
        )
        return prompt


def single_token_ids(tokenizer: Any, forms: Sequence[str]) -> list[int]:
    """Ids of those word forms that are one token, sorted, each once."""
    encoded = [tokenizer.encode(form, add_special_tokens=False) for form in forms]
    return sorted({ids[0] for ids in encoded if len(ids) == 1})
