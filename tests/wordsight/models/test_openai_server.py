"""A chat server as it should be, and with every fault that servers have."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from tests.wordsight.models.loopback import ChatServer, Script, pictures_of, question_of, redness
from wordsight.answers import read_answer
from wordsight.errors import WordsightError
from wordsight.models.base import Ask
from wordsight.models.openai_server import OpenAIServer
from wordsight.models.server_client import _retry_after

Start = Callable[[Script], ChatServer]


@pytest.fixture
def start() -> Iterator[Start]:
    servers: list[ChatServer] = []

    def run(script: Script) -> ChatServer:
        servers.append(ChatServer(script))
        return servers[-1]

    yield run
    for server in servers:
        server.close()


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wordsight.models.server_client._FIRST_WAIT", 0.01)


def connect(server: ChatServer, **options: Any) -> OpenAIServer:
    return OpenAIServer(model="m", base_url=server.url, **options)


def statuses(responses: Sequence[str]) -> list[str]:
    return [read_answer(response).status for response in responses]


def first_fails(fault: str, then: str = "likelihood") -> Script:
    """Every question meets a fault the first time and is answered the second time."""
    seen: set[str] = set()

    def script(_: int, body: dict[str, Any]) -> str:
        key = json.dumps(body["messages"])
        if key in seen:
            return then
        seen.add(key)
        return fault

    return script


def test_likelihoods_come_from_the_listed_alternatives(start: Start, asks: list[Ask]) -> None:
    server = start(lambda _n, _b: "likelihood")
    responses = list(connect(server).answer(asks))
    for ask, response in zip(asks, responses, strict=True):
        answer, logged = read_answer(response), json.loads(response)
        assert answer.interface == "likelihood"
        assert answer.score == pytest.approx(redness(ask.source.picture_bytes(ask.image_id)))
        assert logged["mass"] == pytest.approx(0.9)
        assert (logged["tokens"], logged["completion_tokens"]) == (7, 1)
        assert logged["seconds"] > 0


def test_request_holds_the_original_bytes_before_the_question(
    start: Start, asks: list[Ask]
) -> None:
    server = start(lambda _n, _b: "likelihood")
    list(connect(server, concurrency=1, api_key="secret").answer(asks))
    for ask, body in zip(asks, server.bodies, strict=True):
        assert [part["type"] for part in body["messages"][0]["content"]] == ["image_url", "text"]
        assert pictures_of(body) == [ask.source.picture_bytes(ask.image_id)]
        assert question_of(body) == ask.question
        assert (body["max_tokens"], body["temperature"]) == (1, 0)
        assert (body["logprobs"], body["top_logprobs"]) == (True, 20)
    assert set(server.keys) == {"Bearer secret"}


def test_requests_run_together_up_to_the_limit(start: Start, asks: list[Ask]) -> None:
    server = start(lambda _n, _b: "slow:0.05")
    list(connect(server, concurrency=4).answer(asks))
    assert server.most_running == 4


@pytest.mark.parametrize(
    "fault",
    [
        "status:500",
        "status:503",
        "wait:0.01",
        "html:502",
        "html:200",
        "half",
        "cut_json",
        "empty",
        "nothing",
        "slow:0.6",
    ],
)
def test_passing_faults_are_waited_out(fault: str, start: Start, asks: list[Ask]) -> None:
    server = start(first_fails(fault))
    model = connect(server, timeout=0.3, concurrency=8)
    assert statuses(list(model.answer(asks[:6]))) == ["ok"] * 6
    assert len(server.bodies) == 12
    assert (model.server.usage.retries, model.server.usage.failed) == (6, 0)


@pytest.mark.parametrize("fault", ["status:500", "wait:0.01", "html:200", "half", "empty"])
def test_lasting_faults_are_failures_and_never_a_no(
    fault: str, start: Start, asks: list[Ask]
) -> None:
    bad = asks[4].question, asks[4].image_id
    content = asks[4].source.picture_bytes(asks[4].image_id)

    def script(_: int, body: dict[str, Any]) -> str:
        hit = question_of(body) == bad[0] and pictures_of(body) == [content]
        return fault if hit else "likelihood"

    responses = list(connect(start(script), retries=2).answer(asks))
    expected = ["failed" if number == 4 else "ok" for number in range(len(asks))]
    assert statuses(responses) == expected


@pytest.mark.parametrize("status", [401, 403, 404])
def test_server_that_refuses_everything_is_an_error_at_once(
    status: int, start: Start, asks: list[Ask]
) -> None:
    server = start(lambda _n, _b: f"status:{status}")
    with pytest.raises(WordsightError, match=f"HTTP {status}"):
        list(connect(server).answer(asks))
    assert len(server.bodies) == 1


def test_no_server_is_an_error(asks: list[Ask]) -> None:
    model = OpenAIServer(model="m", base_url="http://127.0.0.1:9/v1", retries=1)
    with pytest.raises(WordsightError, match=r"127\.0\.0\.1:9"):
        list(model.answer(asks))


def test_server_that_dies_stops_the_run(start: Start, asks: list[Ask]) -> None:
    server = start(lambda number, _b: "likelihood" if number < 3 else "status:500")
    kept: list[str] = []
    with pytest.raises(WordsightError, match="20 requests in a row failed"):
        kept.extend(connect(server, retries=0, concurrency=2).answer(asks * 3))
    for response in itertools.islice(connect(server, retries=0).answer(asks), 3):
        assert read_answer(response).status == "failed"


def test_server_without_logprobs_is_read_by_text(start: Start, asks: list[Ask]) -> None:
    server = start(lambda _n, _b: "text")
    responses = list(connect(server).answer(asks))
    for ask, response in zip(asks, responses, strict=True):
        answer = read_answer(response)
        yes = redness(ask.source.picture_bytes(ask.image_id)) > 0.5
        assert (answer.interface, answer.score) == ("text", float(yes))
        assert json.loads(response)["tokens"] == 7
    # one question is asked twice: with and without log-probabilities, then none with
    assert [("logprobs" in body, body["max_tokens"]) for body in server.bodies] == [
        (True, 1),
        *[(False, 32)] * len(asks),
    ]


def test_what_a_server_refuses_is_left_out(start: Start, asks: list[Ask]) -> None:
    def script(_: int, body: dict[str, Any]) -> str:
        if "max_tokens" in body:
            return "complaint:Use 'max_completion_tokens' instead of 'max_tokens'."
        if "temperature" in body:
            return "complaint:'temperature' does not support 0"
        if body.get("top_logprobs", 0) > 5:
            return "complaint:top_logprobs must be at most 5"
        if body.get("logprobs"):
            return "complaint:You are not allowed to request logprobs from this model"
        return "text"

    server = start(script)
    responses = list(connect(server).answer(asks[:4]))
    assert {read_answer(response).interface for response in responses} == {"text"}
    assert len(server.bodies) == 4 + 4


def test_a_complaint_about_one_question_fails_that_question(start: Start, asks: list[Ask]) -> None:
    server = start(
        lambda number, _b: "complaint:picture too large" if number == 0 else "likelihood"
    )
    responses = list(connect(server).answer(asks[:3]))
    assert statuses(responses) == ["failed", "ok", "ok"]


def test_word_that_is_not_listed_is_bounded(start: Start, asks: list[Ask]) -> None:
    logged = json.loads(next(connect(start(lambda _n, _b: "only_yes")).answer(asks[:1])))
    assert math.exp(logged["yes"]) == pytest.approx(0.95)
    # at most what is left, and at most the least of those listed: min(0.02, 0.03)
    assert math.exp(logged["no"]) == pytest.approx(0.02)
    assert logged["bounded"] == "no"


def test_neither_word_listed_cannot_be_read(start: Start, asks: list[Ask]) -> None:
    response = next(connect(start(lambda _n, _b: "neither")).answer(asks[:1]))
    assert read_answer(response).status == "invalid"


def test_number_and_letter_questions_are_answered_by_text(start: Start, asks: list[Ask]) -> None:
    server = start(lambda _n, _b: "text:85/100")
    ids = tuple(asks[0].source.files)  # type: ignore[attr-defined]
    choice = Ask("Which?", ids[0], asks[0].source, kind="choice", image_ids=ids)
    assert json.loads(next(connect(server).answer([choice])))["text"] == "85/100"
    sent = pictures_of(server.bodies[0])
    assert sent == [asks[0].source.picture_bytes(image_id) for image_id in ids]
    assert "logprobs" not in server.bodies[0]


def test_writing(start: Start) -> None:
    server = start(lambda number, _b: f"text:word {number}")
    assert list(connect(server, concurrency=1).write(["a", "b"], 50)) == ["word 0", "word 1"]
    assert server.bodies[0]["max_tokens"] == 50


def test_cost_is_counted(start: Start, asks: list[Ask]) -> None:
    model = connect(start(lambda _n, _b: "likelihood"))
    list(model.answer(asks[:10]))
    assert (model.server.usage.prompt_tokens, model.server.usage.completion_tokens) == (70, 10)
    assert model.server.usage.cost(2.0, 10.0) == pytest.approx((70 * 2 + 10 * 10) / 1e6)


def test_rate_limit_spaces_requests(start: Start, asks: list[Ask]) -> None:
    model = connect(start(lambda _n, _b: "likelihood"), requests_per_minute=1200)
    list(model.answer(asks[:1]))
    after_one = model.server._next_slot
    list(model.answer(asks[:4]))
    # each request takes a slot of 50 ms of the limit's own clock
    assert model.server._next_slot - after_one >= 4 * 0.05 - 1e-9


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        ("900", 60.0),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.01),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert _retry_after(header) == seconds


def test_inside_a_running_event_loop(start: Start, asks: list[Ask]) -> None:
    import asyncio

    server = start(lambda _n, _b: "likelihood")

    async def notebook() -> list[str]:
        return list(connect(server).answer(asks[:2]))

    assert statuses(asyncio.run(notebook())) == ["ok", "ok"]
