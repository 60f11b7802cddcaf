"""A small OpenAI-compatible server on loopback that can really tell what a text says.

It answers the package's own prompts by looking at words, so that what arrives (pictures, log
probabilities, failures) can be checked over real HTTP.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from symbal_tasks.words import content_words

# what it writes where a schema is asked for
LISTS = {"textual_error": ["kite"], "visual_feature": ["person", "man"]}


class Script:
    """What the server has seen, and how many of the next requests it fails."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.fail_next: list[int] = []
        self.logprobs = True
        self.lock = threading.Lock()


def answer(text: str, picture: bytes | None) -> str:
    """One answer: digits by shared words, features by content words, a caption by the bytes."""
    if "Reply with the one digit only" in text or "Reply with one digit only" in text:
        said = re.search(r"(?:Statement|Statement about the picture|First phrase): (.*)", text)
        truth = re.search(
            r"(?:Description|A true description of the picture|Second phrase): (.*)", text
        )
        seen = truth.group(1) if truth else (picture or b"").decode("latin-1")
        words = set(content_words(said.group(1) if said else ""))
        return "1" if words and words <= set(content_words(seen)) else "0"
    if "one list of features per line" in text:
        lines = [line for line in text.split("\n")[1:] if "," in line and "Answer" not in line]
        names = [name.strip() for line in lines for name in line.split(",")]
        return "Answer: " + ", ".join(sorted(set(names), key=lambda n: (-names.count(n), n))[:5])
    if text.startswith("Describe this picture"):
        return (picture or b"").decode("latin-1")
    body = re.search(r'A caption says: "(.*?)"', text)
    source = body.group(1) if body else (picture or b"").decode("latin-1")
    return "Answer: " + ", ".join(content_words(source))


@contextmanager
def serve(script: Script) -> Iterator[str]:
    """Run the server; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with script.lock:
                script.requests.append(payload | {"auth": self.headers.get("Authorization")})
                status = script.fail_next.pop(0) if script.fail_next else 200
            body = self._embed(payload) if "input" in payload else self._chat(payload)
            content = json.dumps(body if status == 200 else {"error": "no"}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _chat(self, payload: dict[str, Any]) -> dict[str, Any]:
            content, picture = payload["messages"][0]["content"], None
            if not isinstance(content, str):
                url = content[0]["image_url"]["url"]
                picture = base64.b64decode(url.split(",", 1)[1])
                content = content[1]["text"]
            held_to = payload.get("response_format", {}).get("json_schema", {}).get("schema")
            said = json.dumps(LISTS) if held_to else answer(content, picture)
            choice: dict[str, Any] = {"message": {"role": "assistant", "content": said}}
            if payload.get("logprobs") and script.logprobs:
                other = {"1": "0", "0": "1"}.get(said, "x")
                choice["logprobs"] = {
                    "content": [
                        {
                            "top_logprobs": [
                                {"token": said, "logprob": -0.25},
                                {"token": other, "logprob": -1.75},
                            ]
                        }
                    ]
                }
            return {"choices": [choice]}

        def _embed(self, payload: dict[str, Any]) -> dict[str, Any]:
            data = [
                {"index": k, "embedding": [float(len(text)), 1.0, 2.0]}
                for k, text in enumerate(payload["input"])
            ]
            # out of order, as the interface allows
            return {"data": data[::-1]}

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
