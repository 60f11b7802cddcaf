"""Signs: found where they are planted, absent where answers are honest."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from leaderboard.board import build_board
from leaderboard.examine import examine
from leaderboard.forensics import expectations, near_gold
from leaderboard.submit import submit
from tests.leaderboard.bench import Bench, make_bench

Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("many"), items=80)


def signs(bench: Bench, name: str) -> str:
    found = examine(bench.store, build_board(bench.store))
    return " / ".join(s for one in found if one.label == f"org/{name}" for s in one.signs)


def add(bench: Bench, name: str, answers: Any, accuracy: float = 0.5) -> None:
    """A run whose responses are ``answers(gold, rng)``; None keeps honest ones."""
    rng = random.Random(name)

    def edit(task: str, lines: Lines) -> None:
        for line, query in zip(lines, bench.packages[task].queries, strict=True):
            if answers is not None:
                line["wordsight"]["responses"] = answers(query.gold, rng)

    run = bench.run(name, accuracy=accuracy, seed=len(name), tasks=("tiny",), edit=edit)
    submit(run, str(bench.board))


def similar(values: list[float]) -> list[str]:
    return [json.dumps({"similarity": value}) for value in values]


def third(gold: int, rng: random.Random) -> list[str]:
    return similar([1.0 if place == 2 else rng.random() for place in range(10)])


def test_signs(many: Bench) -> None:
    add(many, "honest", None, accuracy=0.6)
    add(many, "constant", lambda gold, rng: ["No"] * 10)
    add(
        many,
        "third",
        lambda gold, rng: similar([1.0 if i == 2 else rng.random() for i in range(10)]),
    )
    add(many, "guessing", lambda gold, rng: similar([rng.random() for _ in range(10)]))
    add(many, "copied", lambda gold, rng: similar([float(i == gold) for i in range(10)]))
    add(many, "twin", None, accuracy=0.6)  # same seed and answers as another below
    add(many, "niwt", None, accuracy=0.6)
    assert signs(many, "honest") == ""
    assert "same score on 80 of 80 items" in signs(many, "constant")
    assert "puts candidate 3 first on 80 of 80 items" in signs(many, "third")
    assert "does not differ from guessing" in signs(many, "guessing")
    assert "one score and all others another on 80 of 80" in signs(many, "copied")
    assert "like org/niwt on 100% of the items" in signs(many, "twin")
    assert "like org/twin on 100% of the items" in signs(many, "niwt")


def test_a_task_that_the_others_do_not_explain() -> None:
    rng = random.Random(0)
    hits = {}
    for number in range(20):
        skill = 0.3 + 0.02 * number
        hits[f"m{number}"] = {task: skill + rng.gauss(0, 0.01) for task in "abc"}
    hits["cheat"] = {"a": 0.98, "b": 0.4, "c": 0.41}
    found = expectations(hits)
    assert near_gold(hits["cheat"], found["cheat"]) != []
    assert all(not near_gold(hits[f"m{i}"], found[f"m{i}"]) for i in range(20))


def test_few_entries_give_no_expectation() -> None:
    assert expectations({f"m{i}": {"a": 0.1 * i, "b": 0.1 * i} for i in range(5)}) == {}
