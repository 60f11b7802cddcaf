"""Neutral verbs in captions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sage_tasks.build.neutralise import holds, inflections, neutralise, pick_caption


@pytest.mark.parametrize(
    ("verb", "caption", "expected"),
    [
        ("ride", "A man riding a horse.", "A man doing a horse."),
        ("ride", "A man rides a horse.", "A man does a horse."),
        ("ride", "People ride horses.", "People do horses."),
        ("ride", "The horse he rode was ridden before.", "The horse he did was done before."),
        ("cover", "A cake covered with icing", "A cake done with icing"),
        ("cut", "Someone about to cut a cake", "Someone about to do a cake"),
        ("cut", "The cake is cut.", "The cake is done."),
        ("jump", "A horse going over a tall jump", "A horse going over a tall thing"),
        ("water", "A boat in water", "A boat in something"),
        ("top", "Some tops on the table", "Some things on the table"),
        ("open", "An opening door", "A doing door"),
        ("run", "RUNNING in the grass", "DOING in the grass"),
        ("swing", "Swinging low", "Doing low"),
        ("lie", "A cat lying down; it lay there", "A cat doing down; it did there"),
        ("carry", "She carries it", "She does it"),
        ("chop", "chopping and chopped", "doing and done"),
        ("ride", "A rider on a hayride", "A rider on a hayride"),
    ],
)
def test_grammar_is_kept(verb: str, caption: str, expected: str) -> None:
    assert neutralise(caption, verb) == expected


def test_another_neutral_verb_with_an_article_and_a_particle() -> None:
    assert neutralise("A man riding it", "ride", "interact with") == "A man interacting with it"
    assert neutralise("a covered cake", "cover", "alter") == "an altered cake"


@pytest.mark.parametrize(
    ("verb", "form"),
    [
        ("tie", "tying"),
        ("see", "seeing"),
        ("travel", "travelling"),
        ("travel", "traveling"),
        ("wash", "washes"),
        ("play", "played"),
        ("bake", "baking"),
        ("hang", "hung"),
        ("paddle", "paddled"),
    ],
)
def test_spelling_of_forms(verb: str, form: str) -> None:
    assert form in inflections(verb).all


def test_the_caption_that_holds_the_verb_is_picked_else_the_first() -> None:
    captions = ["A scene.", "Someone swung it.", "Someone swings it."]
    assert pick_caption(captions, "swing") == "Someone swung it."
    assert pick_caption(captions, "eat") == "A scene."


@pytest.mark.shared_data
def test_every_real_item_has_its_verb_and_loses_it(shared: Path) -> None:
    path = shared / "data" / "verse" / "verse_val2017_with_captions.json"
    items = json.loads(path.read_text("utf-8"))
    assert len(items) == 151
    for item in items:
        caption = pick_caption(item["captions"], item["verb"])
        assert holds(caption, item["verb"]), caption
        neutral = neutralise(caption, item["verb"])
        assert not holds(neutral, item["verb"]), neutral
