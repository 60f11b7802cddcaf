"""The paper's baseline: put a sample of the captions into one prompt and ask (Appendix D).

Beside it, on the same sample, what counting words finds: a model that does no better has not used
that it understands the captions.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from symbal_tasks.backends import ChatModel, Request, Row
from symbal_tasks.evaluate import Answer
from symbal_tasks.prompts import DIRECT, DIRECT_JSON
from symbal_tasks.summarise import Counted, stand_out
from symbal_tasks.words import phrases
from wordsight.errors import DataError
from wordsight.prompts import Prompt

Form = Literal["text", "json"]
PROMPTS: Mapping[Form, Prompt] = {"text": DIRECT, "json": DIRECT_JSON}
ANSWER_TOKENS = 200
# English text has about four letters to a token; three leaves room for names and numbers.
LETTERS_PER_TOKEN = 3
_NAMES = {
    "type": "array",
    # a name, not a sentence of a caption: small models copy those
    "items": {"type": "string", "pattern": "^[a-z]+( [a-z]+){0,2}$"},
    "minItems": 5,
    "maxItems": 5,
}
ANSWER_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"textual_error": _NAMES, "visual_feature": _NAMES},
    "required": ["textual_error", "visual_feature"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class DirectPrompt:
    """A prompt, the rows it holds, and how many there are in all."""

    text: str
    shown: tuple[Row, ...]
    rows: int


def direct_prompt(
    rows: Sequence[Row], *, context_tokens: int = 8192, form: Form = "text", seed: int = 0
) -> DirectPrompt:
    """Prompt with as many rows, drawn by the seed, as fit the context and cost no more than Symbal.

    Rows show their reference, or in the reference-free variant only what the model wrote. Raises
    DataError when not even one row fits.
    """
    prompt = PROMPTS[form]
    references = any(row.reference for row in rows)
    order = list(range(len(rows)))
    random.Random(f"{seed}|direct|{len(rows)}").shuffle(order)
    what = "a true description" if references else "no description"
    room = (context_tokens - ANSWER_TOKENS) * LETTERS_PER_TOKEN - len(prompt.template)
    room = min(room, symbal_letters(rows))
    parts: list[str] = []
    for number in order:
        row = rows[number]
        truth = f"Reference caption: {row.reference}\n" if references else ""
        part = f"{truth}Model-generated caption: {row.caption}"
        room -= len(part) + 2
        if room < 0:
            break
        parts.append(part)
    if not parts:
        raise DataError(f"{context_tokens} tokens of context hold no caption at all")
    text = prompt.fill(what=what, samples="\n\n".join(parts))
    return DirectPrompt(text, tuple(rows[i] for i in order[: len(parts)]), len(rows))


def symbal_letters(rows: Sequence[Row]) -> int:
    """Least number of letters that Symbal has its models read of these rows.

    Every fact is embedded and scored, so each caption is read twice; the scorer reads the row's
    reference beside each of its facts, so at least once.
    """
    return sum(2 * len(row.caption) + len(row.reference) for row in rows)


def ask_directly(
    rows: Sequence[Row],
    model: ChatModel,
    *,
    context_tokens: int = 8192,
    form: Form = "text",
    seed: int = 0,
) -> str:
    """The model's raw answer to the direct prompt."""
    prompt = direct_prompt(rows, context_tokens=context_tokens, form=form, seed=seed)
    request = Request(prompt.text, schema=ANSWER_SCHEMA if form == "json" else None)
    return model.reply([request], max_tokens=ANSWER_TOKENS)[0].text


def count_words(rows: Sequence[Row], k: int = 5) -> Answer:
    """Purely lexical baseline: no model, no picture.

    Errors are the phrases that stand in more captions without their reference than in references
    without their caption; features are the reference phrases that go with the first error. Raises
    DataError for rows without references.
    """
    if not all(row.reference for row in rows):
        raise DataError("method words compares captions with references: there are none")
    said = [(phrases(row.caption), phrases(row.reference)) for row in rows]
    extra = Counter(phrase for caption, truth in said for phrase in caption - truth)
    left_out = Counter(phrase for caption, truth in said for phrase in truth - caption)
    errors = stand_out(Counted(extra, len(rows)), Counted(left_out, len(rows)), k)
    if not errors:
        return Answer((), ())
    wrong = [truth for caption, truth in said if errors[0] in caption - truth]
    right = [truth for caption, truth in said if errors[0] not in caption - truth]
    return Answer(tuple(errors), tuple(stand_out(Counted.of(wrong), Counted.of(right), k)))
