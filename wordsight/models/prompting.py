"""From a picture and a question to a model's inputs, and where picture and question part."""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

Tensors = dict[str, "torch.Tensor"]
# Tensors with one entry per token, whatever family: they are cut and padded with the ids.
PER_TOKEN = frozenset({"input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids"})
_STAND_IN = "Question-that-stands-in-for-others?"


@dataclass(frozen=True)
class Prepared:
    """A picture ready for the model.

    ``prefix`` holds the per-token tensors, shape (1, length), of all that stands before the
    question: chat header and picture. ``picture`` holds the other tensors (pixels, grid, ...).
    """

    prefix: Tensors
    picture: Tensors

    @property
    def length(self) -> int:
        """Number of tokens before the question."""
        return int(self.prefix["input_ids"].shape[1])

    @property
    def shape(self) -> tuple[Any, ...]:
        """Pictures of equal shape can share a batch."""
        both = {**self.prefix, **self.picture}
        return tuple(sorted((name, tuple(value.shape)) for name, value in both.items()))


class Prompter:
    """Renders prompts and runs a checkpoint's processor, one picture at a time.

    One at a time, because then neither the batch nor its order can change a picture's tensors.
    The processor is copied for each thread: fast tokenizers may not be shared between threads.
    """

    def __init__(self, processor: Any, image_token: int | None, answer_prefix: str = "") -> None:
        self._processor = processor
        self._image_token = image_token
        self._answer_prefix = answer_prefix
        self._local = threading.local()
        self._lock = threading.Lock()
        self._head: int | None = None
        self._frame: str | None = None

    @property
    def processor(self) -> Any:
        """This thread's processor."""
        if not hasattr(self._local, "processor"):
            with self._lock:
                self._local.processor = copy.deepcopy(self._processor)
        return self._local.processor

    def render(self, question: str, pictures: int = 1) -> str:
        """The chat prompt; pictures come before the question, so that prefixes can be kept."""
        content = [{"type": "image"}] * pictures + [{"type": "text", "text": question}]
        messages = [{"role": "user", "content": content}]
        if not getattr(self.processor, "chat_template", None):
            raise WordsightError(
                "the checkpoint has no chat template: give chat_template=FILE with the template "
                "of its family, or use its instruction-tuned version"
            )
        prompt: str = self.processor.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=False
        )
        start = self.processor.tokenizer.bos_token
        if start and prompt.startswith(start) and self._adds_start():
            # Template and tokenizer would both write it.
            prompt = prompt.removeprefix(start)
        return prompt + self._answer_prefix

    def _adds_start(self) -> bool:
        tokenizer = self.processor.tokenizer
        ids: list[int] = tokenizer("a")["input_ids"]
        return bool(ids[0] == tokenizer.bos_token_id)

    def process(self, question: str, pictures: Sequence[Image]) -> Tensors:
        """The processor's tensors for one prompt."""
        inputs = self.processor(
            text=[
                self._rendered(question)
                if len(pictures) == 1
                else self.render(question, len(pictures))
            ],
            images=[list(pictures)],
            return_tensors="pt",
        )
        return dict(inputs)

    def prepare(self, question: str, picture: Image) -> Prepared:
        """Process a picture with one of its questions and part the two.

        Raises WordsightError when the question's tokens are not the tail of the prompt's tokens.
        """
        inputs = self.process(question, [picture])
        ids = inputs["input_ids"][0].tolist()
        length = len(ids) - len(self._tail(question, ids))
        prefix = {k: v[:, :length] for k, v in inputs.items() if k in PER_TOKEN}
        return Prepared(prefix, {k: v for k, v in inputs.items() if k not in PER_TOKEN})

    def tails(self, questions: Sequence[str]) -> list[list[int]]:
        """Token ids of each question and all that follows it; a picture was prepared before."""
        assert self._head is not None, "the first picture tells where the question begins"
        return [ids[self._head :] for ids in self._text_ids(questions)]

    def _tail(self, question: str, ids: list[int]) -> list[int]:
        (text,) = self._text_ids([question])
        with self._lock:
            if self._head is None:
                self._head = len(text) - self._common_tail(text, ids)
        tail = text[self._head :]
        if not tail or ids[-len(tail) :] != tail or self._image_token in tail:
            raise WordsightError(
                "this checkpoint's prompt cannot be parted into picture and question; please "
                "report the checkpoint's name"
            )
        return tail

    def _common_tail(self, text: list[int], ids: list[int]) -> int:
        """Length of the longest tail that the unexpanded prompt and the expanded one share and
        that holds no picture token: placeholders grow differently in every family."""
        length = 0
        for a, b in zip(reversed(text), reversed(ids), strict=False):
            if a != b or a == self._image_token:
                break
            length += 1
        return length

    def _text_ids(self, questions: Sequence[str]) -> list[list[int]]:
        texts = [self._rendered(question) for question in questions]
        ids: list[list[int]] = self.processor.tokenizer(texts)["input_ids"]
        return ids

    def _rendered(self, question: str) -> str:
        """``render`` without running the template each time, where that is found to be the same."""
        if self._frame is None:
            frame = self.render(_STAND_IN)
            fits = frame.replace(_STAND_IN, question) == self.render(question)
            self._frame = frame if fits and frame.count(_STAND_IN) == 1 else ""
        if not self._frame or question != question.strip():
            return self.render(question)
        return self._frame.replace(_STAND_IN, question)
