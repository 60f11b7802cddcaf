"""GAR whose picture model and writer are one model behind a chat server on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sage_tasks.gar.fusion import reciprocal_ranks
from sage_tasks.package import open_package
from sage_tasks.sources import dataset_root
from tests.sage_tasks.gar.writers import DEFINITION, good
from tests.wordsight.models.loopback import ChatServer, pictures_of, question_of, redness
from wordsight.run.harness import RunResult
from wordsight.run.report import evaluate
from wordsight.run.spec import RunSpec

ITEMS = 3
Body = dict[str, Any]


def script(_: int, body: Body) -> str:
    """Writes definitions and constraints; answers questions by how red the picture is."""
    return f"text:{good(question_of(body))}" if is_text(body) else "likelihood"


def is_text(body: Body) -> bool:
    return isinstance(body["messages"][0]["content"], str)


@pytest.fixture
def start() -> Iterator[Callable[..., ChatServer]]:
    servers: list[ChatServer] = []

    def call(what: Callable[[int, Body], str] = script) -> ChatServer:
        servers.append(ChatServer(what))
        return servers[-1]

    yield call
    for server in servers:
        server.close()


def run(server: ChatServer, output: Path, more: str = "", **options: bool) -> RunResult:
    arguments = f"base=wordsight_openai,base_url={server.url},lexicon=none,retries=0{more}"
    if "model=" not in more:
        arguments += ",model=red"
    spec = RunSpec(model="gar", tasks=("sage_demo",), model_args=arguments, limit=ITEMS)
    result = evaluate(spec, output, quiet=True, **options)
    assert result is not None
    return result


def logs(result: RunResult) -> list[Body]:
    (path,) = result.sample_files
    return [json.loads(line)["wordsight"] for line in path.read_text().splitlines()]


def test_one_server_writes_and_looks(start: Callable[..., ChatServer], tmp_path: Path) -> None:
    server = start()
    package = open_package(dataset_root("demo"), "demo")
    found = logs(run(server, tmp_path))
    assert len(found) == ITEMS
    for query, log in zip(package.queries, found, strict=False):
        assert log["status"] == "ok"
        reds = [redness(package.picture_bytes(image_id)) for image_id in query.candidates]
        # every question is answered alike, so both rankings are that of the redness
        expected = [2 * gain for gain in reciprocal_ranks(reds)]
        responses = [json.loads(response) for response in log["responses"]]
        assert [r["similarity"] for r in responses] == pytest.approx(expected, abs=1e-9)
        for response, red in zip(responses, reds, strict=True):
            assert response["gar"]["p"] == pytest.approx([red] * len(response["gar"]["p"]))
        text = responses[0]["gar_item"]["text"]
        assert text["lexical"]["text"] in DEFINITION
        assert [c["axis"] for c in text["constraints"]] == [
            "object",
            "object",
            "attribute",
            "state",
        ]
        assert responses[0]["gar_item"]["origin"]["text"] == "wordsight_openai:red"
    written = [body for body in server.bodies if is_text(body)]
    asked = [body for body in server.bodies if not is_text(body)]
    assert all("logprobs" not in body for body in written)
    assert all(body["logprobs"] and body["max_tokens"] == 1 for body in asked)
    originals = {
        package.picture_bytes(image_id) for q in package.queries for image_id in q.candidates
    }
    assert {pictures_of(body)[0] for body in asked} <= originals


def test_texts_of_another_model_are_not_taken(
    start: Callable[..., ChatServer], tmp_path: Path
) -> None:
    server = start()
    counts = []
    for number, model in enumerate(["red", "red", "blue"]):
        before = sum(map(is_text, server.bodies))
        run(server, tmp_path / str(number), f",model={model}")
        counts.append(sum(map(is_text, server.bodies)) - before)
    assert counts[1] == 0
    assert counts[0] == counts[2] > 0


def test_a_question_that_fails_leaves_its_item_open_for_the_next_run(
    start: Callable[..., ChatServer], tmp_path: Path
) -> None:
    package = open_package(dataset_root("demo"), "demo")
    broken = [package.picture_bytes(package.queries[1].candidates[4])]

    def failing(number: int, body: Body) -> str:
        bad = not is_text(body) and pictures_of(body) == broken
        return "status:500" if bad and number else script(number, body)

    server = start(failing)
    first = run(server, tmp_path)
    holding = [log["status"] for log in logs(first)]
    assert first.failed == holding.count("failed") >= 1
    broken.clear()
    asked = len(server.bodies)
    again = run(server, tmp_path, resume=True)
    assert again.failed == 0
    assert {log["status"] for log in logs(again)} == {"ok"}
    assert 0 < len(server.bodies) - asked < asked
