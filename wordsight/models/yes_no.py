"""Which token sequences say yes and no, and reading their probability off a model's logits."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wordsight.answers import likelihood
from wordsight.errors import WordsightError

if TYPE_CHECKING:
    import torch

Tokens = tuple[int, ...]

# How tokenizers write a leading space or line break: byte-level BPE, SentencePiece, plain.
_MARKS = "\u0120\u010a\u2581 \n"
_FORMS = {
    "yes": ("Yes", " Yes", "yes", " yes"),
    "no": ("No", " No", "no", " no"),
}
# Below this the model puts its first token elsewhere, and the ratio of yes to no is noise.
LEAST_MASS = 1e-6
_HELD_BACK = 20


@dataclass(frozen=True)
class AnswerTokens:
    """Token sequences that spell each word, each sequence once.

    A word with single-token forms has only those: one position then gives its probability. A word
    without (small or byte-level vocabularies) has its longer spellings, read token by token.
    """

    yes: tuple[Tokens, ...]
    no: tuple[Tokens, ...]

    @property
    def leads(self) -> tuple[Tokens, ...]:
        """What has to stand before the tokens to be read; ``((),)`` when all forms are single."""
        return tuple(sorted({form[:-1] for form in (*self.yes, *self.no)}))

    @functools.cached_property
    def ids(self) -> tuple[int, ...]:
        """Every token of any form."""
        return tuple(sorted({token for form in (*self.yes, *self.no) for token in form}))

    def pick(self, logits: torch.Tensor) -> torch.Tensor:
        """Log-probabilities of ``ids`` on the CPU, (..., len(ids)) from (..., vocabulary)."""
        # a vocabulary is large: only what is read is brought to double precision and moved
        total = logits.float().logsumexp(-1, keepdim=True)
        return (logits[..., list(self.ids)].double() - total.double()).cpu()

    def forms_after(self, lead: Tokens, picked: Sequence[Sequence[float]]) -> dict[Tokens, float]:
        """Log-probability of each form that is ``lead`` and one token more.

        picked : what :meth:`pick` gave for the last ``len(lead) + 1`` positions of the lead.
        """
        column = {token: number for number, token in enumerate(self.ids)}
        return {
            form: sum(picked[place][column[token]] for place, token in enumerate(form))
            for form in (*self.yes, *self.no)
            if form[:-1] == lead
        }


@dataclass(frozen=True)
class Reading:
    """Log-probabilities of yes and no (natural log) and what they cost."""

    yes: float
    no: float
    tokens: int
    seconds: float

    @property
    def mass(self) -> float:
        """Probability of yes and no together."""
        return math.exp(self.yes) + math.exp(self.no)

    def response(self) -> str:
        """The answer under the response contract."""
        return likelihood(
            self.yes, self.no, mass=self.mass, tokens=self.tokens, seconds=self.seconds
        )


def find_answer_tokens(tokenizer: Any) -> AnswerTokens:
    """The forms of yes and no in this tokenizer's vocabulary.

    Raises WordsightError when a word cannot be spelt at all.
    """
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    found: dict[str, tuple[Tokens, ...]] = {}
    for word, forms in _FORMS.items():
        single = {
            number for token, number in vocabulary.items() if token.strip(_MARKS).lower() == word
        }
        spelt = {tuple(tokenizer.encode(form, add_special_tokens=False)) for form in forms}
        unknown = tokenizer.unk_token_id
        spelt = {tokens for tokens in spelt if tokens and unknown not in tokens}
        found[word] = tuple(sorted((number,) for number in single)) or tuple(sorted(spelt))
        if not found[word]:
            raise WordsightError(
                f"the tokenizer cannot spell {word!r}; likelihoods cannot be read: run the model "
                "as a stock lmms-eval model, which reads generated text"
            )
    return AnswerTokens(found["yes"], found["no"])


def word_log_probability(forms: Sequence[Tokens], logs: Mapping[Tokens, float]) -> float:
    """Log-probability that one of ``forms`` comes next; ``logs`` holds that of each form."""
    values = [logs[form] for form in forms]
    largest = max(values)
    if largest == -math.inf:
        return largest
    total = largest + math.log(math.fsum(math.exp(value - largest) for value in values))
    # rounding may lift a certainty above one
    return min(0.0, total)


def require_mass(readings: Iterable[Reading], what: str) -> Iterator[Reading]:
    """Pass readings on, once one of the first has a usable probability of yes or no.

    Until then they are held back: answers that mean nothing must not be kept by a run that then
    stops. Raises WordsightError, naming ``what``, when none of the first 20 is usable.
    """
    held: list[Reading] = []
    stream = iter(readings)
    for reading in stream:
        held.append(reading)
        if reading.mass >= LEAST_MASS:
            break
        if len(held) == _HELD_BACK:
            _refuse(held, what)
    else:
        if held:
            _refuse(held, what)
    yield from held
    yield from stream


def _refuse(held: Sequence[Reading], what: str) -> None:
    largest = max(reading.mass for reading in held)
    raise WordsightError(
        f"{what}: yes and no together have probability {largest:.1e} or less in the first "
        f"{len(held)} answer(s): the model does not begin its answer with Yes or No here. Check "
        "its chat template, give answer_prefix=... (text to put before the answer, for a model "
        "that thinks first), or run it as a stock lmms-eval model, which reads generated text"
    )
