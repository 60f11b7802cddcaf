"""GAR over queries: words, questions, answers, one ranking; no harness needed."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sage_tasks.gar.methods import Settings
from sage_tasks.gar.records import ItemText
from sage_tasks.gar.texts import TextSource
from sage_tasks.gar.trace import (
    ItemPart,
    TracedQuestion,
    answers_of,
    responses_of,
    settings_to,
)
from sage_tasks.gar.verification import Calibration, questions_of, read_rows, verify
from sage_tasks.records import CANDIDATES
from wordsight.models.base import Ask, PictureModel


@dataclass(frozen=True)
class Pipeline:
    """A picture model, a source of words, and how to rank.

    ``texts`` is None for ``method=base``, which uses no words but the item's own.
    """

    model: PictureModel
    texts: TextSource | None
    settings: Settings
    calibration: Calibration
    origin: dict[str, str]

    def rank(self, items: Sequence[Sequence[Ask]]) -> list[list[str]]:
        """Ten responses per item (its candidates, in order); the items are asked together."""
        seconds: dict[str, float] = {}
        words = self._words(items, seconds)
        questions = [
            questions_of(text, self.settings.holistic, self.settings.asked_axes, asks[0].question)
            for text, asks in zip(words, items, strict=True)
        ]
        started = time.perf_counter()
        rows = verify(self.model, list(zip(items, questions, strict=True)))
        seconds["verification"] = time.perf_counter() - started
        results = []
        share = {name: spent / len(items) for name, spent in seconds.items()}
        for text, asked, responses in zip(words, questions, rows, strict=True):
            started = time.perf_counter()
            answers, worst = read_rows(responses)
            if worst is not None:
                lost = worst.status == "failed"
                told = worst.reason if lost else json.dumps({"unreadable": worst.reason})
                results.append([told] * CANDIDATES)
                continue
            part = ItemPart(
                settings=settings_to(self.settings),
                text=text,
                questions=tuple(TracedQuestion(name=q.name, axis=q.axis) for q in asked),
                seconds={**share, "fusion": time.perf_counter() - started},
                origin=self.origin,
            )
            single = len(self.settings.holistic) == 1 and not self.settings.asked_axes
            results.append(
                responses_of(
                    answers_of(asked, answers, self.calibration),
                    self.settings,
                    part,
                    responses[0] if single else (),
                )
            )
        return results

    def _words(self, items: Sequence[Sequence[Ask]], seconds: dict[str, float]) -> list[ItemText]:
        keys = [(asks[0].term, asks[0].context, asks[0].pos) for asks in items]
        if self.texts is None:
            return [ItemText(term=term, context=context, pos=pos) for term, context, pos in keys]
        return self.texts.texts(keys, self.settings.needs, seconds)
