"""The same items by yes/no, by a number and by one choice, through lmms-eval."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sage_tasks.aggregation import position_bias
from sage_tasks.choice import shown_order
from tests.wordsight.helpers import Finished, Scripted, read_run
from wordsight.answer_text import LETTERS
from wordsight.answers import failed, read_answer
from wordsight.errors import WordsightError
from wordsight.models.base import Ask
from wordsight.run.harness import run
from wordsight.run.spec import RunSpec

Item = dict[str, Any]


@dataclass(frozen=True)
class Toy:
    """A dataset folder and a folder of task YAML over it."""

    items: list[Item]
    yaml: Path

    def gold(self, ask: Ask) -> str:
        """Content id of the right picture."""
        item = next(i for i in self.items if i["context"] == ask.context)
        return str(item["candidates"][item["gold"]])


@pytest.fixture
def toy(dataset: Path, tmp_path: Path) -> Toy:
    folder = tmp_path / "yaml"
    folder.mkdir()
    for kind in ("yes_no", "scalar", "choice"):
        include = Path(__file__).parents[2] / "tasks" / f"_sage_{kind}_yaml"
        (folder / f"toy_{kind}.yaml").write_text(
            f"task: toy_{kind}\ninclude: {include}\n"
            f"metadata: {{version: 1, dataset: {dataset}, config: toy}}\n"
        )
    lines = (dataset / "toy" / "test.jsonl").read_text().splitlines()
    return Toy([json.loads(line) for line in lines], folder)


def evaluate(toy: Toy, kind: str, say: Callable[[Ask], str], output: Path) -> Finished:
    class Answering(Scripted):
        kinds = frozenset({"yes_no", "scalar", "choice"})

    spec = RunSpec(model="scripted", tasks=(f"toy_{kind}",), include_path=str(toy.yaml))
    run(spec, output, model=Answering(say), quiet=True)
    return read_run(output)


def test_numbers_rank_the_candidates(toy: Toy, tmp_path: Path) -> None:
    asked: list[Ask] = []

    def say(ask: Ask) -> str:
        asked.append(ask)
        return "I would say **90/100**." if ask.image_id == toy.gold(ask) else "40"

    finished = evaluate(toy, "scalar", say, tmp_path / "out")
    assert finished.metrics["toy_scalar"]["hits1"] == 1.0
    assert {ask.kind for ask in asked} == {"scalar"}
    assert all("from 0 (not at all) to 100" in ask.question for ask in asked)
    for log in finished.logs.values():
        assert (log["interface"], log["prompt"]) == ("scalar", "scalar-1")
        assert sorted(log["scores"]) == [0.4] * 9 + [0.9]
        # a rescoring needs nothing but the logged responses
        assert [read_answer(text).score for text in log["responses"]] == log["scores"]


def test_letters_are_turned_back_to_candidates(toy: Toy, tmp_path: Path) -> None:
    asked: list[Ask] = []

    def say(ask: Ask) -> str:
        asked.append(ask)
        return f"Answer: {LETTERS[ask.image_ids.index(toy.gold(ask))]}"

    finished = evaluate(toy, "choice", say, tmp_path / "out")
    assert len(asked) == len(toy.items)
    assert finished.metrics["toy_choice"]["hits1"] == 1.0
    assert finished.metrics["toy_choice"]["position_bias"] == 0.0
    assert "mrr" not in finished.metrics["toy_choice"]
    for item in toy.items:
        log = finished.logs["toy_choice", item["id"]]
        assert log["interface"] == "choice"
        assert log["scores"] == [float(k == item["gold"]) for k in range(10)]


def test_a_model_that_always_says_the_first(toy: Toy, tmp_path: Path) -> None:
    asked: list[Ask] = []

    def say(ask: Ask) -> str:
        asked.append(ask)
        return "A"

    finished = evaluate(toy, "choice", say, tmp_path / "out")
    right = sum(ask.image_ids[0] == toy.gold(ask) for ask in asked)
    assert finished.metrics["toy_choice"]["hits1"] == right / len(asked)
    assert finished.metrics["toy_choice"]["position_bias"] == 1 - right / len(asked)


def test_places_are_shuffled_evenly_and_for_good() -> None:
    orders = [shown_order(f"item{k}", seed=0) for k in range(3000)]
    first = [sum(order[0] == candidate for order in orders) for candidate in range(10)]
    # a fair shuffle leaves 250..350 with probability above 0.99 for each of ten places
    assert min(first) > 240
    assert max(first) < 360
    assert shown_order("item0", seed=0) == orders[0]
    assert shown_order("item0", seed=1) != orders[0]
    assert sorted(orders[0]) == list(range(10))


@pytest.mark.parametrize("kind", ["scalar", "choice"])
def test_what_cannot_be_read_is_counted_and_what_failed_leaves_no_score(
    kind: str, toy: Toy, tmp_path: Path
) -> None:
    refused = evaluate(toy, kind, lambda _: "I'm sorry, I can't help.", tmp_path / "a")
    metrics = refused.metrics[f"toy_{kind}"]
    assert (metrics["invalid"], metrics["failed"], metrics["hits1"]) == (2.0, 0.0, 0.0)
    broken = evaluate(toy, kind, lambda _: failed("HTTP 500"), tmp_path / "b")
    metrics = broken.metrics[f"toy_{kind}"]
    assert (metrics["invalid"], metrics["failed"]) == (0.0, 2.0)
    assert all(log["status"] == "failed" for log in broken.logs.values())


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(0, 0), (1, 1)], 0.0),
        ([(0, 1), (1, 0)], 0.0),
        ([(0, 0), (0, 1)], 0.5),
        ([(0, 1), (0, 2), (0, 3)], 1.0),
    ],
)
def test_position_bias(pairs: Sequence[tuple[int, int]], expected: float) -> None:
    values = [{"chosen": chosen, "gold": gold} for chosen, gold in pairs]
    assert position_bias(values) == pytest.approx(expected)


def test_a_similarity_has_no_letter_to_give(toy: Toy, tmp_path: Path) -> None:
    spec = RunSpec(model="scripted", tasks=("toy_choice",), include_path=str(toy.yaml))
    with pytest.raises(WordsightError, match="choice answer"):
        run(spec, tmp_path / "out", model=Scripted(), quiet=True)
