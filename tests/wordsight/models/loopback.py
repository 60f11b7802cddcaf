"""A real chat server on the loopback interface, with every fault that servers have."""

from __future__ import annotations

import base64
import io
import json
import math
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
# What to do with a request: its number (from 0) and its body -> the handler's method to call.
Script = Callable[[int, Body], str]


class ChatServer:
    """Runs in threads until closed; ``bodies`` holds every request, in order of arrival."""

    def __init__(self, script: Script) -> None:
        self.bodies: list[Body] = []
        self.keys: list[str] = []
        self.running = self.most_running = 0
        self.lock = threading.Lock()
        self.script = script
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def pictures_of(body: Body) -> list[bytes]:
    """The bytes of the pictures in a request."""
    parts = body["messages"][0]["content"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [base64.b64decode(url.split(",", 1)[1]) for url in urls]


def question_of(body: Body) -> str:
    parts = body["messages"][0]["content"]
    return parts if isinstance(parts, str) else str(parts[-1]["text"])


def redness(content: bytes) -> float:
    """P(yes) that the server gives: how red the picture is."""
    from PIL import Image

    picture = Image.open(io.BytesIO(content)).convert("RGB").resize((1, 1))
    value = picture.getpixel((0, 0))
    assert isinstance(value, tuple)
    return 0.05 + 0.9 * value[0] / 255


def chat_reply(body: Body, top: dict[str, float] | None, text: str) -> Body:
    """A chat completion; ``top`` are probabilities of the first token's alternatives."""
    listed = [{"token": token, "logprob": math.log(p)} for token, p in (top or {}).items()]
    logs = {"content": [{**listed[0], "top_logprobs": listed}]} if listed else None
    message = {"role": "assistant", "content": text}
    return {
        "id": "1",
        "object": "chat.completion",
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": message, "logprobs": logs}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8},
    }


def _handler(owner: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with owner.lock:
                number = len(owner.bodies)
                owner.bodies.append(self.body)
                owner.keys.append(self.headers["Authorization"])
                owner.running += 1
                owner.most_running = max(owner.most_running, owner.running)
            try:
                name, _, value = owner.script(number, self.body).partition(":")
                getattr(self, name)(value)
            finally:
                with owner.lock:
                    owner.running -= 1

        def _p(self) -> float:
            return redness(pictures_of(self.body)[0])

        def likelihood(self, _: str) -> None:
            time.sleep(0.01)
            p = self._p()
            top = {"Yes": p * 0.6, " yes": p * 0.3, "No": (1 - p) * 0.9, "The": 0.1}
            self.send(200, json.dumps(chat_reply(self.body, top, "Yes")))

        def only_yes(self, _: str) -> None:
            top = {"Yes": 0.9, "yes": 0.05, "The": 0.03}
            self.send(200, json.dumps(chat_reply(self.body, top, "Yes")))

        def neither(self, _: str) -> None:
            top = {"The": 0.9, "A": 0.05}
            self.send(200, json.dumps(chat_reply(self.body, top, "The")))

        def text(self, value: str) -> None:
            said = value or ("**Yes**" if self._p() > 0.5 else "No.")
            self.send(200, json.dumps(chat_reply(self.body, None, said)))

        def status(self, value: str) -> None:
            self.send(int(value), json.dumps({"error": {"message": f"error {value}"}}))

        def complaint(self, value: str) -> None:
            self.send(400, json.dumps({"error": {"message": value}}))

        def wait(self, value: str) -> None:
            self.send(429, "slow down", {"Retry-After": value})

        def html(self, value: str) -> None:
            self.send(int(value or 200), "<html>Bad gateway</html>", kind="text/html")

        def half(self, _: str) -> None:
            whole = json.dumps(chat_reply(self.body, None, "Yes")).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(whole)))
            self.end_headers()
            self.wfile.write(whole[: len(whole) // 2])
            self.wfile.flush()
            self.close_connection = True

        def cut_json(self, _: str) -> None:
            self.send(200, json.dumps(chat_reply(self.body, None, "Yes"))[:40])

        def empty(self, _: str) -> None:
            self.send(200, "")

        def nothing(self, _: str) -> None:
            self.close_connection = True

        def slow(self, value: str) -> None:
            time.sleep(float(value))
            self.likelihood("")

        def send(
            self,
            status: int,
            text: str,
            headers: dict[str, str] | None = None,
            kind: str = "application/json",
        ) -> None:
            content = text.encode()
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler
