"""Answers survive a kill, failures are asked again, and nothing is asked twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tqdm import tqdm

from wordsight.answers import failed
from wordsight.errors import WordsightError
from wordsight.run.journal import Journal, keep_answers


def _requests(count: int, question: str = "is it?") -> list[Any]:
    return [SimpleNamespace(args=(question, {}, {}, i, "toy", "test"), idx=0) for i in range(count)]


class _Model:
    def __init__(self, stop_after: int | None = None, fail: frozenset[int] = frozenset()) -> None:
        self.asked: list[int] = []
        self._stop_after = stop_after
        self._fail = fail

    def generate_until(self, requests: list[Any]) -> Iterator[str]:
        for request in requests:
            if len(self.asked) == self._stop_after:
                raise KeyboardInterrupt
            number = request.args[3]
            self.asked.append(number)
            yield failed("HTTP 500") if number in self._fail else f"answer {number}"


def _ask(folder: Path, model: _Model, requests: list[Any]) -> list[str]:
    journal = Journal(folder, "run")
    tasks: dict[str, Any] = {"toy": {"test": [{}] * 1000}}
    with tqdm(disable=True) as bar:
        answers = list(keep_answers(model.generate_until, tasks, journal, bar)(requests))
    journal.close()
    return answers


def test_an_interrupted_run_asks_only_what_is_open(tmp_path: Path) -> None:
    requests = _requests(20)
    with pytest.raises(KeyboardInterrupt):
        _ask(tmp_path, _Model(stop_after=7), requests)
    second = _Model()

    answers = _ask(tmp_path, second, requests)

    assert second.asked == list(range(7, 20))
    assert answers == [f"answer {i}" for i in range(20)]


def test_a_line_cut_by_a_kill_is_asked_again_and_later_lines_are_whole(tmp_path: Path) -> None:
    requests = _requests(5)
    _ask(tmp_path, _Model(), requests)
    path = tmp_path / "run.0.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    second = _Model()

    assert _ask(tmp_path, second, requests) == [f"answer {i}" for i in range(5)]
    assert second.asked == [4]
    third = _Model()
    _ask(tmp_path, third, requests)
    assert third.asked == []


def test_a_failed_request_is_returned_but_not_kept(tmp_path: Path) -> None:
    requests = _requests(3)

    first = _ask(tmp_path, _Model(fail=frozenset({1})), requests)
    second = _Model()
    again = _ask(tmp_path, second, requests)

    assert first[1].startswith("[LMMS_EVAL_REQUEST_FAILED")
    assert second.asked == [1]
    assert again == ["answer 0", "answer 1", "answer 2"]


def test_the_same_request_twice_is_asked_once(tmp_path: Path) -> None:
    model = _Model()

    answers = _ask(tmp_path, model, _requests(2) + _requests(2))

    assert model.asked == [0, 1]
    assert answers == ["answer 0", "answer 1"] * 2


def test_another_question_is_another_request(tmp_path: Path) -> None:
    _ask(tmp_path, _Model(), _requests(2))
    model = _Model()

    _ask(tmp_path, model, _requests(2, question="is it really?"))

    assert model.asked == [0, 1]


def test_answers_of_other_processes_are_read(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "run", rank=1)
    journal.put("k", "answer")
    journal.close()

    assert Journal(tmp_path, "run", rank=0).get("k") == "answer"
    assert Journal(tmp_path, "other", rank=0).get("k") is None


def test_discard_forgets_every_process(tmp_path: Path) -> None:
    for rank in (0, 1):
        journal = Journal(tmp_path, "run", rank)
        journal.put("k", "answer")
        journal.close()

    Journal(tmp_path, "run").discard()

    assert len(Journal(tmp_path, "run")) == 0


def test_a_full_disk_says_what_to_do(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    journal = Journal(tmp_path, "run")
    (tmp_path / "run.0.jsonl").symlink_to(full)

    with pytest.raises(WordsightError, match=r"cannot write.*--resume"):
        journal.put("k", "answer")


def test_time_of_interrupted_legs_is_added_up(tmp_path: Path) -> None:
    lines = [
        {"key": key, "response": "x", "seconds": seconds}
        for key, seconds in [("a", 3.0), ("b", 5.0), ("c", 1.0), ("d", 2.5)]
    ]
    (tmp_path / "run.0.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "run.1.jsonl").write_text('{"key": "e", "response": "x", "seconds": 4.0}\n')

    journal = Journal(tmp_path, "run")

    assert journal.seconds_before == 7.5
    journal.discard()
    assert journal.seconds_before == 0


def test_answers_computed_together_are_kept_together(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "run")
    journal.put("a", "x")
    journal.put("b", "x", settled=False)
    assert len(Journal(tmp_path, "run")) == 1, "part of a lot reached the disk"
    journal.put("c", "x")
    assert len(Journal(tmp_path, "run")) == 3

    journal.put("d", "x", settled=False)
    journal.close()

    assert Journal(tmp_path, "run").get("d") is None
