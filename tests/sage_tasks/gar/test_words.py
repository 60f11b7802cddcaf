"""From glosses to definitions and constraints, with repair, bounded asking and counts."""

from __future__ import annotations

import pytest

from sage_tasks.gar.clauses import clauses
from sage_tasks.gar.constraints import decompose
from sage_tasks.gar.definition import define
from sage_tasks.gar.records import Definition
from sage_tasks.gar.texts import Needs, WrittenTexts
from sage_tasks.lexicons.base import Gloss
from tests.sage_tasks.gar.writers import CHECKS, DEFINITION, Writer, good

GLOSSES = [Gloss("wordnet", "1-n", "a flying mammal"), Gloss("wordnet", "2-n", "a club")]
ALL = Needs(lexical=True, generated=True, constraints=True)


class OneLexicon:
    """Knows "bat"."""

    name = "one"

    def lookup(self, term: str, pos: str = "") -> list[Gloss]:
        return list(GLOSSES) if term == "bat" else []


def test_definition_goes_back_to_the_chosen_gloss() -> None:
    writer = Writer(good)
    (asked,) = define(writer, [("bat", "bat cave", GLOSSES)], 2, retrieval=True)
    assert asked.value == Definition(
        text="An animal that flies at night.",
        visible=("wings", "dark cave"),
        chosen="wordnet:1-n",
        departs=False,
    )
    assert asked.faults == {}
    assert "1. a flying mammal\n2. a club" in writer.prompts[0]


def test_definition_may_depart_from_the_glosses_and_says_so() -> None:
    writer = Writer(lambda _: DEFINITION.replace("Number: 1", "Number: 0"))
    (asked,) = define(writer, [("bat", "bat cave", GLOSSES)], 2, retrieval=True)
    assert asked.value.departs is True
    assert asked.value.chosen == ""


def test_without_retrieval_no_gloss_reaches_the_model() -> None:
    writer = Writer(good)
    (asked,) = define(writer, [("bat", "bat cave", GLOSSES)], 2, retrieval=False)
    assert "flying mammal" not in writer.prompts[0]
    assert asked.value.departs is None


@pytest.mark.parametrize("attempts", [1, 2, 4])
def test_garbage_is_asked_a_bounded_number_of_times_then_counted(attempts: int) -> None:
    writer = Writer(lambda _: "#### ?!")
    items = [("bat", "bat cave", GLOSSES), ("qat", "qat leaves", [])]
    first, second = define(writer, items, attempts, retrieval=True)
    assert len(writer.prompts) == 2 * attempts
    assert len(set(writer.prompts)) == min(2 * attempts, 4)
    assert first.value == Definition(text="a flying mammal", chosen="wordnet:1-n", origin="gloss")
    assert second.value.origin == "context"
    assert "qat leaves" in second.value.text
    expected = {"asked_again": attempts - 1, "fallback": 1}
    assert first.faults == {name: n for name, n in expected.items() if n}


def test_a_reply_that_goes_on_from_the_given_beginning_is_read() -> None:
    writer = Writer(lambda p: " a furry animal" if p.endswith("object:") else "no idea at all")
    (asked,) = decompose(writer, [("bat", Definition(text="A flying mammal."))], 3, 2)
    assert [(c.axis, c.phrase) for c in asked.value] == [("object", "a furry animal")]
    assert asked.faults == {"asked_again": 1, "repaired": 1, "no_attribute": 1, "no_state": 1}


def test_constraints_become_questions() -> None:
    (asked,) = decompose(Writer(lambda _: CHECKS), [("bat", Definition(text="It flies."))], 3, 2)
    assert [c.axis for c in asked.value] == ["object", "object", "attribute", "state"]
    assert all(c.phrase in c.question and c.question.count("?") == 1 for c in asked.value)
    assert len({c.question for c in asked.value}) == 4


def test_the_definition_over_again_is_no_constraint() -> None:
    definition = Definition(text="A small racket with a long handle used for playing cricket.")
    (asked,) = decompose(
        Writer(lambda _: f"object: {definition.text}"), [("bat", definition)], 3, 1
    )
    assert asked.faults == {"fallback": 1}
    assert [(c.axis, c.phrase) for c in asked.value] == [
        ("object", "A small racket"),
        ("attribute", "with a long handle"),
        ("state", "used for playing cricket"),
    ]


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("a big city", [("object", "a big city")]),
        (
            "The crane is a machine lifting a beam.",
            [("object", "a machine"), ("state", "lifting a beam")],
        ),
        (
            "a brass horn, made of metal; that is blown",
            [
                ("object", "a brass horn"),
                ("attribute", "made of metal"),
                ("state", "that is blown"),
            ],
        ),
        (".", [("object", "")]),
    ],
)
def test_clauses(definition: str, expected: list[tuple[str, str]]) -> None:
    assert list(clauses(definition, 3)) == expected


def test_texts_are_made_once_per_item_and_faults_summed() -> None:
    writer = Writer(good)
    source = WrittenTexts(writer, OneLexicon())
    key = ("bat", "bat cave", "n")
    seconds: dict[str, float] = {}
    one, two = source.texts([key, key], ALL, seconds)
    assert one == two
    assert len(writer.prompts) == 3
    assert one.glosses == tuple(GLOSSES)
    assert one.lexical is not None
    assert one.generated is not None
    assert len(one.constraints) == 4
    assert one.faults == {}
    assert set(seconds) == {"retrieval", "definition", "constraints"}
    bad = WrittenTexts(Writer(lambda _: ""), OneLexicon(), attempts=2)
    bad.texts([key, ("qat", "qat leaves", "")], ALL, seconds)
    assert bad.faults()["definition.fallback"] == 2
    assert bad.faults()["constraints.asked_again"] == 2


def test_only_what_a_method_needs_is_written() -> None:
    writer = Writer(good)
    source = WrittenTexts(writer, OneLexicon(), most_glosses=1)
    (text,) = source.texts([("bat", "bat cave", "")], Needs(True, False, False), {})
    assert len(writer.prompts) == 1
    assert text.generated is None
    assert text.constraints == ()
    assert len(text.glosses) == 1
