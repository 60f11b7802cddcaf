"""Names in sentences: articles, plurals, mentions."""

from __future__ import annotations

import pytest

from symbal_tasks.phrases import (
    coco_names,
    mention_pattern,
    same_noun,
    template_sentences,
    templates,
    with_article,
)


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("umbrella", "an umbrella"),
        ("surfboard", "a surfboard"),
        ("orange", "an orange"),
        ("skis", "a pair of skis"),
        ("scissors", "a pair of scissors"),
        ("broccoli", "some broccoli"),
        ("hourglass", "an hourglass"),
        ("unicorn", "a unicorn"),
    ],
)
def test_article(name: str, phrase: str) -> None:
    assert with_article(name) == phrase


def test_every_template_reads_as_one_sentence_for_every_name() -> None:
    assert len(set(templates())) == 50
    assert len(coco_names()) == 80
    for name in coco_names():
        sentences = template_sentences(name)
        assert len(set(sentences)) == 50
        for sentence in sentences:
            assert sentence[0].isupper()
            assert sentence.endswith(".")
            assert sentence.count(".") == 1
            assert with_article(name)[1:] in sentence


@pytest.mark.parametrize(
    ("name", "synonyms", "text", "found"),
    [
        ("knife", False, "two knives on a board", True),
        ("person", False, "a man walks", False),
        ("person", True, "a man walks", True),
        ("car", False, "a carpet", False),
        ("wine glass", False, "Wine glasses.", True),
        ("bus", False, "buses", True),
    ],
)
def test_mention(name: str, synonyms: bool, text: str, found: bool) -> None:
    assert bool(mention_pattern(name, synonyms).search(text)) is found


def test_same_noun() -> None:
    assert same_noun("Knives", "knife")
    assert same_noun("bus", "buses")
    assert not same_noun("bus", "bush")
