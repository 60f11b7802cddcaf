"""Forms of targets as they come in captions and headlines."""

from __future__ import annotations

import pytest

from sage_tasks.lexicons.base import Gloss
from sage_tasks.lexicons.lemmas import Lemmatised, forms


class Listed:
    """A lexicon of a few entries, spelt exactly."""

    name = "listed"

    def __init__(self, *entries: str) -> None:
        self._entries = entries

    def lookup(self, term: str, pos: str = "") -> list[Gloss]:
        return [Gloss("listed", term, "a meaning")] if term in self._entries else []


@pytest.mark.parametrize(
    ("target", "pos", "entry"),
    [
        ("churches", "n", "church"),
        ("women", "n", "woman"),
        ("swinging", "v", "swing"),
        ("running", "v", "run"),
        ("planned", "v", "plan"),
        ("carried", "", "carry"),
        ("baked", "v", "bake"),
        ("prime ministers", "n", "prime minister"),
        ("looked after", "v", "look after"),
        ("secretaries of state", "n", "secretary of state"),
        ("well-being", "", "well being"),
        ("e-mail", "", "email"),
        ("ice cream", "", "ice-cream"),
        ("Halley\N{RIGHT SINGLE QUOTATION MARK}s comet", "", "Halley's comet"),
        ("the king's", "", "the king"),
        ("the kings'", "", "the kings"),
        ("crêpe", "n", "crepe"),
        ("crêpes", "n", "crepe"),
        ("cafe\N{COMBINING ACUTE ACCENT}", "", "café"),
        ("Su\N{NON-BREAKING HYPHEN}27", "", "Su-27"),
        ("  double   blanks ", "", "double blanks"),
    ],
)
def test_entry_is_found_under_the_target(target: str, pos: str, entry: str) -> None:
    assert [gloss.key for gloss in Lemmatised(Listed(entry)).lookup(target, pos)] == [entry]


def test_the_term_itself_comes_first_and_nothing_twice() -> None:
    found = list(forms("well-being's", "n"))
    assert found[0] == "well-being's"
    assert len(found) == len(set(found))


def test_the_first_known_form_is_taken_alone() -> None:
    lexicon = Lemmatised(Listed("glasses", "glass"))
    assert [gloss.key for gloss in lexicon.lookup("glasses", "n")] == ["glasses"]


def test_short_words_are_not_cut_to_nothing() -> None:
    assert list(forms("s", "n")) == ["s"]
    assert "" not in list(forms("bed", "v"))
