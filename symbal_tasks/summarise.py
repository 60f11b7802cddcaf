"""What a group of facts or pictures has in common (Appendices A.1 and A.2).

Two steps: each member is turned into a list of features, then the most frequent are picked, by a
second call or by counting.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from symbal_tasks.backends import ChatModel, Request, Row
from symbal_tasks.prompts import FEATURES_BOTH, FEATURES_PICTURE, FEATURES_TEXT, PICK
from symbal_tasks.scorers import picture_of, true_texts
from symbal_tasks.words import phrases, singular

FEATURE_TOKENS = 128
MOST_PER_PICTURE = 10
# what stands in fewer texts of a group than this is no common feature
LEAST_SHARE = 0.03


class TextSummary(Protocol):
    """Names what texts have in common."""

    @property
    def name(self) -> str:
        """What enters cache keys and traces."""
        ...

    def summarise(self, texts: Sequence[str], others: Sequence[str], k: int) -> list[str]:
        """Top ``k`` features of ``texts``, best first; ``others`` is what they stand out from."""
        ...


class RowSummary(Protocol):
    """Names what pictures have in common."""

    @property
    def name(self) -> str:
        """What enters cache keys and traces."""
        ...

    def summarise_rows(self, rows: Sequence[Row], others: Sequence[Row], k: int) -> list[str]:
        """Top ``k`` features of the rows' pictures, best first."""
        ...


@dataclass(frozen=True)
class Counted:
    """In how many of ``texts`` texts each phrase stands."""

    phrases: Counter[str]
    texts: int

    @classmethod
    def of(cls, held: Iterable[Iterable[str]]) -> Counted:
        """Count the phrases that texts hold, one text at a time."""
        counts: Counter[str] = Counter()
        texts = 0
        for one in held:
            counts.update(one)
            texts += 1
        return cls(counts, texts)


def stand_out(inside: Counted, outside: Counted, k: int) -> list[str]:
    """The ``k`` phrases that stand in more of the texts inside than outside, best first.

    A phrase is worth its share inside times the logarithm of how much larger that share is than
    outside: counting alone would always name what is in most captions. A part of a phrase that was
    chosen is not named again.
    """
    if not inside.texts:
        return []

    def worth(phrase: str) -> float:
        share = inside.phrases[phrase] / inside.texts
        elsewhere = (outside.phrases[phrase] + 0.5) / (outside.texts + 1)
        return share * max(0.0, math.log(share / elsewhere))

    least = max(2, LEAST_SHARE * inside.texts) if inside.texts > 3 else 1
    frequent = [phrase for phrase, count in inside.phrases.items() if count >= least]
    chosen: list[str] = []
    for phrase in sorted(frequent, key=lambda phrase: (-worth(phrase), -len(phrase), phrase)):
        if len(chosen) == k or worth(phrase) <= 0:
            break
        if not any(_overlap(phrase, other) for other in chosen):
            chosen.append(phrase)
    return chosen


@dataclass(frozen=True)
class CountingSummary:
    """Offline: the words and two-word phrases that stand in more of the texts than elsewhere."""

    name: str = "counting-1"

    def summarise(self, texts: Sequence[str], others: Sequence[str], k: int) -> list[str]:
        """Top ``k`` phrases."""
        inside, outside = (Counted.of(map(phrases, part)) for part in (texts, others))
        return stand_out(inside, outside, k)


@dataclass(frozen=True)
class ReferenceSummary:
    """Summarises pictures by their references, or by a captioner's captions."""

    texts: TextSummary
    captioner: ChatModel | None = None

    @property
    def name(self) -> str:
        """The text summary and where the texts come from."""
        source = self.captioner.name if self.captioner else "references"
        return f"{self.texts.name} over {source}"

    def summarise_rows(self, rows: Sequence[Row], others: Sequence[Row], k: int) -> list[str]:
        """Top ``k`` features. DataError when a row has neither reference nor captioner."""
        inside = true_texts(rows, self.captioner)
        return self.texts.summarise(inside, [o.reference for o in others if o.reference], k)


@dataclass(frozen=True)
class ModelSummary:
    """A language model lists the features of every text, then it or counting picks."""

    model: ChatModel
    pick_by_count: bool = False

    @property
    def name(self) -> str:
        """Model, prompt and how the most frequent are picked."""
        how = "count" if self.pick_by_count else PICK.version
        return f"text-summary({self.model.name}, {FEATURES_TEXT.version}, {how})"

    def summarise(self, texts: Sequence[str], others: Sequence[str], k: int) -> list[str]:
        """Top ``k`` features; ``others`` are not used, as in the paper."""
        del others
        requests = [Request(FEATURES_TEXT.fill(text=text)) for text in texts]
        return _pick(self.model, _lists(self.model, requests), k, self.pick_by_count)


@dataclass(frozen=True)
class VisionSummary:
    """A vision-language model lists at most ten features of every picture, then picks.

    A reference, where a row has one, is shown beside its picture, as in the paper.
    """

    model: ChatModel
    pick_by_count: bool = False

    @property
    def name(self) -> str:
        """Model, prompt and how the most frequent are picked."""
        how = "count" if self.pick_by_count else PICK.version
        return f"vision-summary({self.model.name}, {FEATURES_PICTURE.version}, {how})"

    def summarise_rows(self, rows: Sequence[Row], others: Sequence[Row], k: int) -> list[str]:
        """Top ``k`` features. DataError when a row has no picture."""
        del others
        requests = [Request(_asked_of(row), picture_of(row)) for row in rows]
        lists = [features[:MOST_PER_PICTURE] for features in _lists(self.model, requests)]
        return _pick(self.model, lists, k, self.pick_by_count)


def read_features(text: str) -> list[str]:
    """Features in an answer: what follows the last "Answer:", split at commas; none twice."""
    body = re.split(r"answer\s*:", text, flags=re.IGNORECASE)[-1]
    line = body.strip().split("\n")[0]
    parts = (part.strip(" \t.*\"'`-").lower() for part in re.split(r"[,;]", line))
    return list(dict.fromkeys(part for part in parts if part and part not in ("none", "n/a")))


def count_features(lists: Sequence[Sequence[str]], k: int) -> list[str]:
    """The ``k`` features in most lists, in their commonest wording; articles and number ignored."""
    wordings: dict[str, Counter[str]] = {}
    for features in lists:
        for key, feature in {_plain(feature): feature for feature in features}.items():
            wordings.setdefault(key, Counter())[feature] += 1
    ranked = sorted(wordings, key=lambda key: (-sum(wordings[key].values()), key))
    return [min(wordings[key], key=lambda w: (-wordings[key][w], w)) for key in ranked[:k]]


def _asked_of(row: Row) -> str:
    if row.reference:
        return FEATURES_BOTH.fill(reference=row.reference)
    return FEATURES_PICTURE.template


def _lists(model: ChatModel, requests: Sequence[Request]) -> list[list[str]]:
    return [read_features(r.text) for r in model.reply(requests, max_tokens=FEATURE_TOKENS)]


def _pick(model: ChatModel, lists: Sequence[Sequence[str]], k: int, by_count: bool) -> list[str]:
    filled = [features for features in lists if features]
    if by_count or not filled:
        return count_features(filled, k)
    text = "\n".join(", ".join(features) for features in filled)
    reply = model.reply([Request(PICK.fill(lists=text, k=str(k)))], max_tokens=FEATURE_TOKENS)[0]
    return read_features(reply.text)[:k] or count_features(filled, k)


def _plain(feature: str) -> str:
    words = re.sub(r"^(?:an?|the|some|one|two|several)\s+", "", feature.lower()).split()
    return " ".join([*words[:-1], singular(words[-1])]) if words else ""


def _overlap(phrase: str, other: str) -> bool:
    one, two = set(phrase.split()), set(other.split())
    return one <= two or two <= one
