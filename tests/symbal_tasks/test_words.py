"""Words and phrases that may name something visible."""

from __future__ import annotations

import pytest

from symbal_tasks.words import content_words, phrases, singular


def test_content_words() -> None:
    assert content_words("There is a hot dog in the photo, near two knives.") == [
        "hot",
        "dog",
        "knife",
    ]
    assert content_words("One can make out an umbrella here.") == ["umbrella"]


def test_phrases_do_not_cross_commas_or_function_words() -> None:
    found = phrases("A hot dog, mustard on bread")
    assert "hot dog" in found
    assert "dog mustard" not in found
    assert "mustard bread" not in found


@pytest.mark.parametrize(
    ("word", "one"),
    [
        ("buses", "bus"),
        ("bus", "bus"),
        ("glasses", "glass"),
        ("women", "woman"),
        ("berries", "berry"),
        ("benches", "bench"),
        ("tennis", "tennis"),
        ("skis", "skis"),
        ("people", "person"),
        ("dogs", "dog"),
    ],
)
def test_singular(word: str, one: str) -> None:
    assert singular(word) == one
