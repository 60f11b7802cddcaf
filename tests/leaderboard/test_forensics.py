"""Signs: found where they are planted, absent where answers are honest."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
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
    assert "like org/niwt on all 80 items that both answered" in signs(many, "twin")
    assert "like org/twin on all 80 items that both answered" in signs(many, "niwt")


def test_only_answered_items_are_judged(tmp_path: Path) -> None:
    """14 of 50 right is no guessing, though 14 of 192 would be; so with ten of 100 more missing."""
    bench = make_bench(tmp_path, items=192)

    def part(right: int, name: str) -> None:
        def edit(task: str, lines: Lines) -> None:
            del lines[50:]
            rng = random.Random(3)
            for place, (line, query) in enumerate(
                zip(lines, bench.packages[task].queries, strict=False)
            ):
                values = [rng.random() for _ in range(10)]
                values[query.gold] = 2.0 if place < right else -1.0
                line["wordsight"]["responses"] = similar(values)

        run = bench.run(name, tasks=("tiny",), edit=edit)
        submit(run, str(bench.board), partial=True)

    part(14, "better")
    part(5, "guesses")
    part(14, "copy")
    assert "guessing" not in signs(bench, "better")
    assert "does not differ from guessing on the 50 items it answered" in signs(bench, "guesses")
    assert "like org/copy on all 50 items that both answered" in signs(bench, "better")


def plant(share: float) -> Any:
    """Honest similarities; on a share of the items one score that is always the same, for gold."""

    def answers(gold: int, rng: random.Random) -> list[str]:
        values = [rng.random() for _ in range(10)]
        if rng.random() < share:
            values[gold] = 1.25
        return similar(values)

    return answers


def test_one_score_for_the_gold_again_and_again(many: Bench) -> None:
    add(many, "planted", plant(0.3))
    add(many, "everywhere", plant(1.0))
    found = signs(many, "planted")
    assert re.search(r"the very same score, 1\.25, on \d+ of 80 items, and another .* on 0", found)
    assert "1.25, on 80 of 80 items" in signs(many, "everywhere")


def test_answers_with_few_values_say_nothing_of_it(many: Bench) -> None:
    """A good model that answers Yes or No gives every gold the same score."""

    def answers(gold: int, rng: random.Random) -> list[str]:
        return ["Yes" if i == gold or rng.random() < 0.02 else "No" for i in range(10)]

    add(many, "hard", answers)
    assert "very same score" not in signs(many, "hard")


@pytest.mark.parametrize("noise", [0.0, 0.001])
def test_gold_raised_between_two_attempts(tmp_path: Path, noise: float) -> None:
    """The same answers again, but for the gold's on some items: none of them equal."""
    bench = make_bench(tmp_path, items=80)

    def edited(task: str, lines: Lines) -> None:
        rng = random.Random(1)
        for place, (line, query) in enumerate(
            zip(lines, bench.packages[task].queries, strict=True)
        ):
            values = [json.loads(text)["similarity"] for text in line["wordsight"]["responses"]]
            values = [value + noise * rng.random() for value in values]
            if place % 3 == 0:
                values[query.gold] += 0.5 + 0.3 * rng.random()
            line["wordsight"]["responses"] = similar(values)

    def honest(task: str, lines: Lines) -> None:
        rng = random.Random(2)
        for line in lines:
            line["wordsight"]["responses"] = similar([rng.random() for _ in range(10)])

    def both(task: str, lines: Lines) -> None:
        honest(task, lines)
        edited(task, lines)

    for number, edit in enumerate((honest, both)):
        run = bench.run(f"r{number}", tasks=("tiny",), model_args="pretrained=org/a", edit=edit)
        submit(run, str(bench.board))
    found = signs(bench, "a")
    assert "Tiny: attempt 2 beside attempt 1: only the gold's score rose on 27 of 80 items" in found
    assert re.search(r"attempt 2 beside attempt 1: \d+\.\d% instead of", found)


def test_two_honest_attempts_show_nothing(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, items=80)
    for seed in (1, 2):
        args = "pretrained=org/a"
        run = bench.run(f"r{seed}", accuracy=0.6, seed=seed, tasks=("tiny",), model_args=args)
        submit(run, str(bench.board))
    assert signs(bench, "a") == ""


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
