"""Models behind an OpenAI-compatible chat server: vLLM, SGLang, llama.cpp, OpenAI and others."""

from __future__ import annotations

import base64
import io
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, TypeVar

from loguru import logger

from wordsight.answers import FAILED_PREFIX, failed, text_answer
from wordsight.errors import WordsightError
from wordsight.models.base import Ask, PictureModel, PictureSource
from wordsight.models.in_flight import in_flight
from wordsight.models.server_client import ChatServer, Dialect, RequestFailedError, is_refusal
from wordsight.models.server_reply import has_likelihoods, likelihood_answer, message_text

KEY_VARIABLE = "OPENAI_API_KEY"
# Formats that chat servers read; others are sent as PNG, which loses nothing.
_SENT_AS_IS = {"JPEG": "jpeg", "PNG": "png", "WEBP": "webp", "GIF": "gif"}
_MOST_FAILURES_IN_A_ROW = 20
_LONGEST_WORD = 1
T = TypeVar("T")


class OpenAIServer(PictureModel):
    """Registered as ``wordsight_openai``: yes and no from ``top_logprobs`` of the first token.

    Pictures are sent as the bytes they came in. Questions about one picture follow each other,
    the picture before the question, so that a server's prefix cache serves. A server that gives
    no log-probabilities is read by its text, with one warning. A request that fails after all
    tries is reported as failed: it is asked again on the next run and never scored.

    Parameters
    ----------
    model : name of the model on the server.
    base_url : the server, with its version path.
    api_key : by default the environment variable ``OPENAI_API_KEY``.
    concurrency : requests in flight; by default ``batch_size`` where it is above 1, else 16.
    timeout, retries : seconds per try, tries after the first; waits double, "Retry-After" rules.
    requests_per_minute : 0 for no limit.
    price_in, price_out : US dollars per million tokens, for the cost in the log.
    max_new_tokens : length of answers read as text.
    logprobs : False asks for text at once. top_logprobs : alternatives asked for.
    detail : "low", "high" or "auto", passed on with each picture.
    """

    kinds = frozenset({"yes_no", "scalar", "choice"})

    def __init__(
        self,
        model: str,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        concurrency: int | None = None,
        timeout: float = 120.0,
        retries: int = 6,
        requests_per_minute: float = 0.0,
        price_in: float = 0.0,
        price_out: float = 0.0,
        max_new_tokens: int = 32,
        logprobs: bool = True,
        top_logprobs: int = 20,
        detail: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.server = ChatServer(
            base_url.rstrip("/"),
            api_key or os.environ.get(KEY_VARIABLE, "none"),
            float(timeout),
            int(retries),
            float(requests_per_minute),
        )
        self.dialect = Dialect(logprobs=bool(logprobs), top_logprobs=int(top_logprobs))
        self._concurrency = int(concurrency or (self.batch_size if self.batch_size > 1 else 16))
        self._model_name = model
        self._max_new_tokens = int(max_new_tokens)
        self._prices = float(price_in), float(price_out)
        self._detail = {"detail": detail} if detail else {}
        self._met = False
        # A few: questions about one picture follow each other.
        self._data_urls: OrderedDict[str, str] = OrderedDict()

    def answer(self, asks: Sequence[Ask]) -> Iterator[str]:
        """Yield one response per ask; the first request goes ahead alone to meet the server."""
        yield from self._stream(self._answer_one, asks)

    def write(self, prompts: Sequence[str], max_tokens: int = 256) -> Iterator[str]:
        """Yield what the model writes after each prompt.

        Raises RequestFailedError when a prompt stays without a reply.
        """

        async def one(prompt: str) -> str:
            messages = [{"role": "user", "content": prompt}]
            return message_text(await self._post(messages, max_tokens, likelihood=False))

        yield from self._stream(one, prompts)

    def reply(self, prompts: Sequence[str], max_tokens: int) -> Iterator[str]:
        """Yield a response per prompt; one that stays without a reply is marked as failed."""

        async def one(prompt: str) -> str:
            messages = [{"role": "user", "content": prompt}]
            try:
                return message_text(await self._post(messages, max_tokens, likelihood=False))
            except RequestFailedError as error:
                return self._given_up(error)

        yield from self._stream(one, prompts)

    def _given_up(self, error: RequestFailedError) -> str:
        """The response of a failed request. Raises WordsightError when nothing was ever met."""
        if is_refusal(error) and not self._met:
            raise WordsightError(f"{self.server.url}: {error}") from error
        return failed(str(error))

    def _stream(self, ask: Callable[[T], Coroutine[Any, Any, str]], items: Sequence[T]) -> Any:
        before = time.perf_counter()
        in_a_row = 0
        responses = in_flight(
            ask, items, self._concurrency, first_alone=not self._met, close=self.server.close
        )
        for response in responses:
            in_a_row = in_a_row + 1 if response.startswith(FAILED_PREFIX) else 0
            if in_a_row == _MOST_FAILURES_IN_A_ROW:
                raise WordsightError(
                    f"{self.server.url}: {in_a_row} requests in a row failed, the last with "
                    f"{response}; what was answered is kept, --resume asks the rest"
                )
            yield response
        self._report(len(items), time.perf_counter() - before)

    def _report(self, answers: int, seconds: float) -> None:
        usage = self.server.usage
        cost = f", {usage.cost(*self._prices):.4f} USD" if any(self._prices) else ""
        logger.info(
            f"{answers} answers in {seconds:.1f} s; so far {usage.requests} requests, "
            f"{usage.retries} of them again, {usage.failed} failed, {usage.prompt_tokens} prompt "
            f"and {usage.completion_tokens} completion tokens{cost}"
        )

    async def _answer_one(self, ask: Ask) -> str:
        started = time.perf_counter()
        messages = [{"role": "user", "content": self._content(ask)}]
        try:
            if ask.kind == "yes_no" and self.dialect.logprobs:
                reply = await self._post(messages, _LONGEST_WORD, likelihood=True)
                if has_likelihoods(reply):
                    return likelihood_answer(reply, **_extras(reply, started))
                self.dialect.without_likelihoods("the server gives no logprobs")
            reply = await self._post(messages, self._max_new_tokens, likelihood=False)
            return text_answer(message_text(reply), **_extras(reply, started))
        except _NoLikelihoodsError:
            return await self._answer_one(ask)
        except RequestFailedError as error:
            return self._given_up(error)

    async def _post(self, messages: Any, max_tokens: int, *, likelihood: bool) -> dict[str, Any]:
        while True:
            if likelihood and not self.dialect.logprobs:
                raise _NoLikelihoodsError
            body = self.dialect.payload(messages, max_tokens, likelihood=likelihood)
            try:
                reply = await self.server.post({"model": self._model_name, **body})
            except RequestFailedError as error:
                if error.status in (400, 422) and self.dialect.learn(str(error)):
                    continue
                raise
            self._met = True
            return reply

    def _content(self, ask: Ask) -> list[dict[str, Any]]:
        ids = ask.image_ids or (ask.image_id,)
        pictures = [
            {
                "type": "image_url",
                "image_url": {"url": self._url(ask.source, image_id), **self._detail},
            }
            for image_id in ids
        ]
        return [*pictures, {"type": "text", "text": ask.question}]

    def _url(self, source: PictureSource, image_id: str) -> str:
        if image_id not in self._data_urls:
            self._data_urls[image_id] = _data_url(source, image_id)
            while len(self._data_urls) > self._concurrency:
                self._data_urls.popitem(last=False)
        return self._data_urls[image_id]


class _NoLikelihoodsError(Exception):
    """The server was found to give none since the request was made up."""


def _extras(reply: dict[str, Any], started: float) -> dict[str, float]:
    usage = reply.get("usage") or {}
    return {
        "tokens": int(usage.get("prompt_tokens") or 0),
        "completion_tokens": int(usage.get("completion_tokens") or 0),
        "seconds": round(time.perf_counter() - started, 6),
    }


def _data_url(source: PictureSource, image_id: str) -> str:
    content: bytes = source.picture_bytes(image_id)
    subtype = _SENT_AS_IS.get(_format(content))
    if subtype is None:
        buffer = io.BytesIO()
        source.picture(image_id).save(buffer, "PNG")
        content, subtype = buffer.getvalue(), "png"
    return f"data:image/{subtype};base64,{base64.b64encode(content).decode()}"


def _format(content: bytes) -> str:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(content)) as opened:
            return str(opened.format)
    except (UnidentifiedImageError, OSError):
        return ""
