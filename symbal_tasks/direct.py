"""The paper's baseline: put a sample of the captions into one prompt and ask (Appendix D)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from symbal_tasks.backends import ChatModel, Request, Row
from symbal_tasks.prompts import DIRECT
from wordsight.errors import DataError

ANSWER_TOKENS = 200
# English text has about four letters to a token; three leaves room for names and numbers.
LETTERS_PER_TOKEN = 3


@dataclass(frozen=True)
class DirectPrompt:
    """A prompt and how many of the rows it holds."""

    text: str
    samples: int
    rows: int


def direct_prompt(
    rows: Sequence[Row], *, context_tokens: int = 8192, most: int | None = None, seed: int = 0
) -> DirectPrompt:
    """Prompt with as many rows, drawn by the seed, as fit.

    Rows show their reference, or in the reference-free variant only what the model wrote.
    most : bound on the rows, for a baseline that shall cost no more than Symbal does.
    Raises DataError when not even one row fits.
    """
    references = any(row.reference for row in rows)
    order = list(range(len(rows)))
    random.Random(f"{seed}|direct|{len(rows)}").shuffle(order)
    what = "a true description" if references else "no description"
    room = (context_tokens - ANSWER_TOKENS) * LETTERS_PER_TOKEN - len(DIRECT.template)
    parts: list[str] = []
    for number in order[:most]:
        row = rows[number]
        truth = f"Reference caption: {row.reference}\n" if references else ""
        part = f"{truth}Model-generated caption: {row.caption}"
        room -= len(part) + 2
        if room < 0:
            break
        parts.append(part)
    if not parts:
        raise DataError(f"{context_tokens} tokens of context hold no caption at all")
    text = DIRECT.fill(what=what, samples="\n\n".join(parts))
    return DirectPrompt(text, len(parts), len(rows))


def ask_directly(
    rows: Sequence[Row], model: ChatModel, *, context_tokens: int = 8192, seed: int = 0
) -> str:
    """The model's raw answer to the direct prompt."""
    prompt = direct_prompt(rows, context_tokens=context_tokens, seed=seed)
    return model.reply([Request(prompt.text)], max_tokens=ANSWER_TOKENS)[0].text
