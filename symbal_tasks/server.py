"""Any OpenAI-compatible server (vLLM, SGLang, llama.cpp, ollama, OpenAI) as a backend."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symbal_tasks.backends import Reply, Request
from wordsight.errors import IncompleteRunError, WordsightError

if TYPE_CHECKING:
    import httpx
    import numpy as np
    from numpy.typing import NDArray

_RETRY = frozenset({408, 409, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Endpoint:
    """Where a server is. ``key`` is sent as a bearer token and stands in no log or cache."""

    url: str
    key: str = ""
    concurrency: int = 8
    timeout: float = 120.0
    attempts: int = 4
    pause: float = 1.0

    def post(self, client: httpx.Client, path: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request, again after a failure that may pass.

        Raises IncompleteRunError when the server stays away, WordsightError when it refuses.
        """
        import httpx

        where = f"{self.url.rstrip('/')}/{path}"
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        problem = ""
        for attempt in range(self.attempts):
            if attempt:
                time.sleep(self.pause * 2 ** (attempt - 1))
            try:
                answer = client.post(where, json=payload, headers=headers, timeout=self.timeout)
                if answer.status_code in _RETRY:
                    problem = f"HTTP {answer.status_code}: {answer.text[:200]}"
                    continue
                if answer.status_code != 200:
                    raise WordsightError(
                        f"{where} refused the request (HTTP {answer.status_code}): "
                        f"{answer.text[:300]}"
                    )
                body: dict[str, Any] = answer.json()
                return body
            except (httpx.TransportError, ValueError) as error:
                problem = repr(error)
        raise IncompleteRunError(
            f"{where}: no answer after {self.attempts} attempts ({problem}); what was answered "
            "before is kept: run again to go on"
        )


@dataclass(frozen=True)
class ChatServer:
    """A chat model behind ``/chat/completions``; greedy, first token's alternatives asked for."""

    endpoint: Endpoint
    model: str

    @property
    def name(self) -> str:
        """The model's name, as the server knows it."""
        return f"server:{self.model}"

    def reply(self, requests: Sequence[Request], *, max_tokens: int) -> list[Reply]:
        """Ask all requests, several at a time. Raises as :meth:`Endpoint.post`."""
        import httpx

        with (
            httpx.Client() as client,
            ThreadPoolExecutor(self.endpoint.concurrency) as pool,
        ):
            return list(pool.map(lambda r: self._one(client, r, max_tokens), requests))

    def _one(self, client: httpx.Client, request: Request, max_tokens: int) -> Reply:
        content: list[dict[str, Any]] = [{"type": "text", "text": request.text}]
        if request.picture is not None:
            # the picture comes first, so that a server's prefix cache serves its next question
            url = f"data:{_media_type(request.picture)};base64," + base64.b64encode(
                request.picture
            ).decode("ascii")
            content.insert(0, {"type": "image_url", "image_url": {"url": url}})
        payload: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {
                    "role": "user",
                    "content": content if request.picture is not None else request.text,
                }
            ],
            "max_tokens": max_tokens,
            "temperature": 0,
        }
        if max_tokens <= 2:
            payload |= {"logprobs": True, "top_logprobs": 20}
        if request.schema is not None:
            form = {"name": "answer", "schema": request.schema, "strict": True}
            payload["response_format"] = {"type": "json_schema", "json_schema": form}
        body = self.endpoint.post(client, "chat/completions", payload)
        try:
            choice = body["choices"][0]
            return Reply(choice["message"]["content"] or "", _first_token(choice))
        except (KeyError, IndexError, TypeError) as error:
            raise WordsightError(
                f"{self.endpoint.url}: not a chat completion ({error!r}): {str(body)[:200]}"
            ) from None


@dataclass(frozen=True)
class EmbeddingServer:
    """A text embedder behind ``/embeddings``."""

    endpoint: Endpoint
    model: str
    batch: int = 64

    @property
    def name(self) -> str:
        """The model's name, as the server knows it."""
        return f"server:{self.model}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit rows. Raises as :meth:`Endpoint.post`."""
        import httpx
        import numpy as np

        chunks = [list(texts[i : i + self.batch]) for i in range(0, len(texts), self.batch)]
        with (
            httpx.Client() as client,
            ThreadPoolExecutor(self.endpoint.concurrency) as pool,
        ):
            bodies = list(
                pool.map(
                    lambda chunk: self.endpoint.post(
                        client, "embeddings", {"model": self.model, "input": chunk}
                    ),
                    chunks,
                )
            )
        rows = [
            entry["embedding"]
            for body in bodies
            for entry in sorted(body["data"], key=lambda entry: entry["index"])
        ]
        vectors = np.asarray(rows, dtype=np.float32)
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


def _first_token(choice: Mapping[str, Any]) -> dict[str, float]:
    tokens = (choice.get("logprobs") or {}).get("content") or []
    if not tokens:
        return {}
    found: dict[str, float] = {}
    for entry in tokens[0].get("top_logprobs") or []:
        token = str(entry["token"]).strip()
        # " 1" and "1" are two tokens of one answer: the likelier stands for it
        found[token] = max(float(entry["logprob"]), found.get(token, float("-inf")))
    return found


def _media_type(picture: bytes) -> str:
    if picture.startswith(b"\x89PNG"):
        return "image/png"
    if picture[8:12] == b"WEBP":
        return "image/webp"
    return "image/jpeg"
