"""Sentence splitting on what captions and reports hold."""

from __future__ import annotations

import pytest

from symbal_tasks.facts import sentences


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "A man, e.g. Dr. Smith, rides 3.5 m waves. A surfboard!",
            ["A man, e.g. Dr. Smith, rides 3.5 m waves.", "A surfboard!"],
        ),
        (
            "ET tube ends 2.3 cm above the carina. No effusion vs. prior.",
            ["ET tube ends 2.3 cm above the carina.", "No effusion vs. prior."],
        ),
        (
            "1. Heart is enlarged. 2. Lungs are clear.",
            ["1. Heart is enlarged.", "2. Lungs are clear."],
        ),
        ("one caption without a stop", ["one caption without a stop"]),
        ("Two\n lines\n of one sentence.", ["Two lines of one sentence."]),
        ("  ", []),
        ("...", []),
    ],
)
def test_sentences(text: str, facts: list[str]) -> None:
    assert sentences(text) == facts
