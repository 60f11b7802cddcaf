"""Language models behind one interface: cache, server, GGUF."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sage_tasks.gar.text_models import (
    CachedTextModel,
    GGUFText,
    OpenAIText,
    open_text_model,
    smollm2_path,
)
from sage_tasks.lexicons.cache import DiskCache
from tests.sage_tasks.gar.writers import Writer
from wordsight.errors import WordsightError

PROMPTS = ["What is a bat?", "What is a bar?"]


def test_cache_serves_every_process_and_tells_models_and_lengths_apart(tmp_path: Path) -> None:
    writer = Writer(str.upper)
    path = tmp_path / "texts.sqlite"
    first = CachedTextModel(writer, DiskCache(path))
    assert list(first.write([*PROMPTS, PROMPTS[0]], 10)) == [
        PROMPTS[0].upper(),
        PROMPTS[1].upper(),
        PROMPTS[0].upper(),
    ]
    assert writer.prompts == PROMPTS
    assert list(CachedTextModel(writer, DiskCache(path)).write(PROMPTS, 10))
    assert len(writer.prompts) == 2
    list(first.write(PROMPTS[:1], 11))
    assert len(writer.prompts) == 3
    other = Writer(str.lower, name="other")
    assert list(CachedTextModel(other, DiskCache(path)).write(PROMPTS[:1], 10)) == [
        "what is a bat?"
    ]


def test_what_was_written_before_a_failure_is_kept(tmp_path: Path) -> None:
    def say(prompt: str) -> str:
        if prompt == PROMPTS[1]:
            raise WordsightError("server away")
        return "text"

    writer = Writer(say)
    cache = DiskCache(tmp_path / "texts.sqlite")
    with pytest.raises(WordsightError, match="away"):
        list(CachedTextModel(writer, cache).write(PROMPTS, 10))
    healthy = Writer(lambda _: "late")
    assert list(CachedTextModel(healthy, cache).write(PROMPTS, 10)) == ["text", "late"]
    assert healthy.prompts == PROMPTS[1:]


class Server:
    """Answers POST requests with the next of its replies, again and again the last."""

    def __init__(self, replies: list[tuple[int, Any]]) -> None:
        self.replies = replies
        self.requests: list[tuple[str, dict[str, Any], dict[str, str]]] = []


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[tuple[str, Server]]:
    state = Server(request.param)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append((self.path, body, dict(self.headers)))
            status, reply = state.replies.pop(0) if len(state.replies) > 1 else state.replies[0]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        def log_message(self, *args: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_address[1]}/v1", state
    running.shutdown()
    running.server_close()
    thread.join()


GOOD = {"choices": [{"message": {"role": "assistant", "content": "A bird."}}]}


@pytest.mark.parametrize("server", [[(503, {}), (200, GOOD)]], indirect=True)
def test_server_gets_the_key_and_passing_errors_are_tried_again(
    server: tuple[str, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    url, state = server
    assert list(open_text_model(url, "some-model").write(["What?"], 7)) == ["A bird."]
    path, body, headers = state.requests[-1]
    assert len(state.requests) == 2
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer a-key"
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("some-model", 7, 0)


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ([(401, {"error": "no such key"})], "status 401.*no such key"),
        ([(200, {"choices": []})], "not a chat completion"),
        ([(200, [])], "not a chat completion"),
    ],
    indirect=["server"],
)
def test_refusals_are_told_at_once(server: tuple[str, Server], message: str) -> None:
    url, state = server
    with pytest.raises(WordsightError, match=message):
        list(OpenAIText(url, "").write(["What?"], 7))
    assert len(state.requests) == 1


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(WordsightError, match="is the text server running"):
        list(OpenAIText("http://127.0.0.1:9/v1", "").write(["What?"], 7))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    with pytest.raises(WordsightError, match="no such GGUF file"):
        GGUFText(tmp_path / "none.gguf")


@pytest.mark.slow
def test_gguf_in_process_and_as_a_server_write_the_same() -> None:
    pytest.importorskip("xllamacpp")
    try:
        model = GGUFText(smollm2_path())
    except WordsightError as error:
        pytest.skip(str(error))
    direct = list(model.write(PROMPTS, 6))
    served = list(OpenAIText(f"{model.address}/v1", "smollm2").write(PROMPTS, 6))
    assert served == direct
    assert all(direct)
