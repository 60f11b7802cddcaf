"""Loopback servers in the shape of the lexicons' web services; texts are made up."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

# What BabelNet says to a wrong key and to a spent one alike, with status 403.
REFUSAL = (
    "Your key is not valid or the daily requests limit has been reached. "
    "Please visit http://babelnet.org."
)


@dataclass
class Reply:
    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Served:
    """A running server and the requests it got: (call, parameters, headers)."""

    url: str
    requests: list[tuple[str, dict[str, str], dict[str, str]]]


@contextlib.contextmanager
def serve(answer: Callable[[str, dict[str, str]], Reply]) -> Iterator[Served]:
    """Serve GET requests on loopback with ``answer(call, parameters)``."""
    seen: list[tuple[str, dict[str, str], dict[str, str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            params = {name: values[0] for name, values in parse_qs(parts.query).items()}
            call = parts.path.rsplit("/", 1)[-1]
            seen.append((call, params, {k.lower(): v for k, v in self.headers.items()}))
            reply = answer(call, params)
            body = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Served(f"http://127.0.0.1:{server.server_address[1]}/v9", seen)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


SYNSETS = {
    "bn:00000011n": ("BANK", [("WIKI", "EN", "Firm that lends money."), ("WN", "EN", "A lender.")]),
    "bn:00000012n": ("BANK", [("OMWIKI", "DE", "Ufer."), ("WIKT", "EN", "Edge of a river.")]),
    "bn:00000013v": ("BANK", []),
}


@dataclass
class BabelNetService:
    """Answers in the shape of BabelNet v9; refuses after ``allowance`` requests."""

    key: str = "good-key"
    allowance: int = 1000
    served: int = 0

    def __call__(self, call: str, params: dict[str, str]) -> Reply:
        if params.get("key") != self.key or self.served >= self.allowance:
            return Reply(403, {"message": REFUSAL})
        self.served += 1
        if call == "getSynsetIds":
            pos = params.get("pos", "")
            ids = [i for i in SYNSETS if not pos or i[-1] == pos[0].lower()]
            found = ids if params["lemma"].lower() == "bank" else []
            rows = [{"id": i, "pos": "NOUN", "source": "BABELNET"} for i in found]
            return Reply(200, rows)
        if call == "getSynset":
            main, glosses = SYNSETS[params["id"]]
            return Reply(
                200,
                {
                    "mainSense": main,
                    "senses": [{"type": "WordNetSense", "properties": {"fullLemma": "bank"}}],
                    "wnOffsets": [],
                    "glosses": [
                        {"source": s, "sourceSense": 1, "language": lang, "gloss": g, "tokens": {}}
                        for s, lang, g in glosses
                    ],
                    "examples": [],
                    "synsetType": "CONCEPT",
                    "bkeyConcepts": False,
                },
            )
        return Reply(404, {"message": "unknown call"})
