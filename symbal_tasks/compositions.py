"""Compositions by name: which model stands where (Tables 1 and 2).

A part is written ``kind`` or ``kind:model``. Kinds: ``minilm``, ``conse``, ``references``,
``lexical``, ``counting`` run offline; ``st:ID`` loads with sentence-transformers, ``clip:ID``
with transformers or open_clip; ``embed:ID``, ``text:ID`` and ``vision:ID`` ask an
OpenAI-compatible server for model ID; ``text:hf:ID`` and ``vision:hf:ID`` load a vision-language
model with transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Literal

from symbal_tasks.backends import CachedChat, CachedText, ChatModel, RowEmbedder, TextEmbedder
from symbal_tasks.cache import ContentCache
from symbal_tasks.embedders import CHUNK, Clip, ConsePictures, MiniLM, ReferenceRows, SentenceModel
from symbal_tasks.local_chat import LocalChat
from symbal_tasks.scorers import (
    EmbeddingScorer,
    LexicalScorer,
    Scorer,
    SentenceScorer,
    TextScorer,
    VisionScorer,
)
from symbal_tasks.server import ChatServer, EmbeddingServer, Endpoint
from symbal_tasks.summarise import (
    CountingSummary,
    ModelSummary,
    ReferenceSummary,
    RowSummary,
    TextSummary,
    VisionSummary,
)
from symbal_tasks.symbal import Composition
from wordsight.errors import WordsightError


@dataclass(frozen=True)
class Spec:
    """The parts of a composition, each as text.

    scorer : "embedding" (fact and picture towers below), "lexical", "sentence", "text:ID",
        "vision:ID". second_scorer : the same, "" for the first stage's.
    captioner : "vision:ID", or "" where references are used.
    """

    texts: str
    scorer: str
    text_summary: str
    pictures: str
    row_summary: str
    second_scorer: str = ""
    captioner: str = ""
    embedding_scorer: str = ""


@dataclass(frozen=True)
class Needs:
    """What every row must have. captioned : a row without a reference needs a picture instead."""

    pictures: bool
    references: bool
    captioned: bool


# One server for all models, one for each model's name, or none.
Server = Endpoint | Callable[[str], Endpoint] | None
LOCAL = "hf:"
_QWEN = "Qwen/Qwen2.5-VL-72B-Instruct"
_MEDGEMMA = "google/medgemma-27b-it"

PRESETS: Mapping[str, Spec] = {
    # no download; needs references, does not look at pictures
    "offline": Spec("minilm", "lexical", "counting", "references", "counting"),
    # no download; stage 2 looks at the pictures
    "offline_pictures": Spec("minilm", "lexical", "counting", "conse", "counting"),
    # no download, no references: the weak ConSE matcher scores
    "offline_free": Spec(
        "minilm", "embedding", "counting", "conse", "counting", embedding_scorer="conse"
    ),
    "paper_natural": Spec(
        texts="embed:Qwen/Qwen3-Embedding-8B",
        scorer=f"vision:{_QWEN}",
        text_summary=f"text:{_QWEN}",
        # the paper says OpenCLIP ViT-H-14-quickgelu; these are weights of that architecture
        pictures="clip:facebook/metaclip-h14-fullcc2.5b",
        row_summary=f"text:{_QWEN}",
        captioner="vision:meta-llama/Llama-3.2-11B-Vision-Instruct",
    ),
    "paper_medical": Spec(
        texts="clip:StanfordAIMI/XrayCLIP__vit-l-14__laion2b-s32b-b82k",
        scorer=f"text:{_MEDGEMMA}",
        text_summary=f"text:{_MEDGEMMA}",
        pictures="clip:StanfordAIMI/XrayCLIP__vit-l-14__laion2b-s32b-b82k",
        row_summary=f"vision:{_MEDGEMMA}",
        second_scorer="embedding",
        captioner="vision:microsoft/maira-2",
        embedding_scorer="clip:google/medsiglip-448",
    ),
}


def spec(name: str, **changes: str) -> Spec:
    """A preset with single parts replaced. Raises WordsightError for an unknown name or part."""
    if name not in PRESETS:
        raise WordsightError(f"no composition {name!r}; known: {', '.join(PRESETS)}")
    known = {field.name for field in fields(Spec)}
    unknown = set(changes) - known
    if unknown:
        raise WordsightError(
            f"no part {', '.join(sorted(unknown))}; a composition has {', '.join(sorted(known))}"
        )
    return replace(PRESETS[name], **changes)


def needs(parts: Spec) -> Needs:
    """What a composition cannot do without in any row."""
    kinds = {part.partition(":")[0] for part in (parts.scorer, parts.second_scorer)}
    sees_rows = parts.row_summary.startswith("vision")
    captioned = bool(parts.captioner)
    return Needs(
        pictures=parts.pictures != "references"
        or sees_rows
        or bool(kinds & {"embedding", "vision"}),
        references=parts.pictures == "references"
        or bool(kinds & {"lexical", "sentence"})
        or (not captioned and ("text" in kinds or not sees_rows)),
        captioned=captioned,
    )


def compose(
    parts: Spec,
    cache: ContentCache,
    endpoint: Server = None,
    *,
    references: bool = True,
    engine: Literal["local", "ray"] = "local",
) -> Composition:
    """Build the models of a composition, every answer cached.

    endpoint : the server of all models, or a function from a model's name to its server.
    references : False for the reference-free variant, where captions stand in for references.
    engine : "ray" embeds texts and scores offline on a Ray cluster; servers are asked from here.
    Raises WordsightError for a part that is not known, or a server that is not named.
    """
    make = _Maker(cache, endpoint, engine)
    captioner = make.chat(parts.captioner) if parts.captioner else None
    if not references and captioner is None and _reads_references(parts):
        raise WordsightError(
            "this composition compares captions with references: give references, or a captioner "
            "(captioner=vision:ID)"
        )
    return Composition(
        texts=make.texts(parts.texts),
        scorer=make.scorer(parts.scorer, parts, captioner),
        text_summary=make.text_summary(parts.text_summary),
        pictures=make.pictures(parts.pictures),
        row_summary=make.row_summary(parts.row_summary, captioner),
        second_scorer=make.scorer(parts.second_scorer, parts, captioner)
        if parts.second_scorer
        else None,
    )


@dataclass(frozen=True)
class _Maker:
    cache: ContentCache
    endpoint: Server
    engine: Literal["local", "ray"] = "local"

    def chat(self, part: str) -> ChatModel:
        kind, _, model = part.partition(":")
        if kind not in ("text", "vision") or not model:
            raise WordsightError(f"{part!r} is no chat model; write text:ID or vision:ID")
        return CachedChat(chat_model(model, self.endpoint), self.cache)

    def texts(self, part: str) -> TextEmbedder:
        kind, _, model = part.partition(":")
        if kind == "minilm":
            return self.minilm()
        if kind == "embed" and model:
            return CachedText(EmbeddingServer(_server(model, self.endpoint), model), self.cache)
        if kind == "st" and model:
            return self._spread(SentenceModel(model))
        if kind == "clip" and model:
            return self._spread(Clip(model))
        raise WordsightError(f"{part!r} embeds no text; write minilm, st:ID, clip:ID or embed:ID")

    def minilm(self) -> TextEmbedder:
        return self._spread(MiniLM())

    def _spread(self, embedder: TextEmbedder) -> TextEmbedder:
        if self.engine == "local":
            return CachedText(embedder, self.cache)
        from symbal_tasks.audit.ray_engine import RayText

        # many chunks at a time, or workers would wait for each other
        return CachedText(RayText(embedder), self.cache, batch=64 * CHUNK)

    def pictures(self, part: str) -> RowEmbedder:
        kind, _, model = part.partition(":")
        if kind == "conse":
            return ConsePictures(self.cache)
        if kind == "references":
            return ReferenceRows(self.minilm())
        if kind == "clip" and model:
            return Clip(model, cache=self.cache)
        raise WordsightError(f"{part!r} embeds no picture; write conse, references or clip:ID")

    def scorer(self, part: str, parts: Spec, captioner: ChatModel | None) -> Scorer:
        kind = part.partition(":")[0]
        simple: dict[str, Callable[[], Scorer]] = {
            "lexical": self.lexical,
            "sentence": lambda: SentenceScorer(self.minilm()),
            "embedding": partial(self._embedding, parts),
        }
        if kind in simple:
            return simple[kind]()
        if kind == "text":
            return TextScorer(self.chat(part), captioner)
        if kind == "vision":
            return VisionScorer(self.chat(part))
        raise WordsightError(
            f"{part!r} is no scorer; write lexical, sentence, embedding, text:ID or vision:ID"
        )

    def lexical(self) -> Scorer:
        if self.engine == "local":
            return LexicalScorer()
        from symbal_tasks.audit.ray_engine import RayScorer

        return RayScorer(LexicalScorer())

    def _embedding(self, parts: Spec) -> Scorer:
        towers = parts.embedding_scorer
        if towers == "conse":
            return EmbeddingScorer(self.minilm(), ConsePictures(self.cache))
        if towers.startswith("clip:"):
            model = Clip(towers.removeprefix("clip:"), cache=self.cache)
            return EmbeddingScorer(CachedText(model, self.cache), model)
        raise WordsightError(
            f"the embedding scorer needs one space for both (embedding_scorer={towers!r}); write "
            "conse or clip:ID"
        )

    def text_summary(self, part: str) -> TextSummary:
        if part == "counting":
            return CountingSummary()
        model, by_count = _counted(part)
        return ModelSummary(self.chat(model), by_count)

    def row_summary(self, part: str, captioner: ChatModel | None) -> RowSummary:
        if part.startswith("vision"):
            model, by_count = _counted(part)
            return VisionSummary(self.chat(model), by_count)
        return ReferenceSummary(self.text_summary(part), captioner)


def _counted(part: str) -> tuple[str, bool]:
    """ "text+count:ID" -> ("text:ID", True): counting picks, not a second call of the model."""
    kind, mark, model = part.partition(":")
    return f"{kind.removesuffix('+count')}{mark}{model}", kind.endswith("+count")


def chat_model(name: str, endpoint: Server) -> ChatModel:
    """``hf:ID`` in this process, any other name on its server.

    Raises WordsightError where that is not named.
    """
    if name.startswith(LOCAL):
        return LocalChat(name.removeprefix(LOCAL))
    return ChatServer(_server(name, endpoint), name)


def _server(model: str, endpoint: Server) -> Endpoint:
    if endpoint is None:
        raise WordsightError(
            f"{model} needs a server: give its address with --server URL, or load it here as "
            f"{LOCAL}{model}"
        )
    return endpoint if isinstance(endpoint, Endpoint) else endpoint(model)


def _reads_references(parts: Spec) -> bool:
    return (
        parts.pictures == "references"
        or parts.scorer.split(":")[0] in ("lexical", "sentence", "text")
        or not parts.row_summary.startswith("vision")
    )
