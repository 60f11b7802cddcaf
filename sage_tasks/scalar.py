"""The ranking task by a number: how well does the picture show the term, from 0 to 100."""

from __future__ import annotations

from collections.abc import Sequence

from sage_tasks.package import Package
from sage_tasks.records import Query
from sage_tasks.task import CandidateView, RankingTask
from wordsight.answers import scalar_answer
from wordsight.prompts import SCALAR


class ScalarTask(RankingTask):
    """One question per picture, answered by a number in text."""

    prompt = SCALAR

    def view(self, package: Package, queries: Sequence[Query]) -> CandidateView:
        """Documents that ask for a number."""
        return CandidateView(package, queries, self.prompt, "scalar")

    def responses(self, query: Query, results: Sequence[str]) -> list[str]:
        """The texts, marked as answers to a question for a number."""
        return [scalar_answer(result) for result in results]
