"""GAR as a model of lmms-eval: ``--model gar --model_args base=...,lexicon=...,method=gar``."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from loguru import logger

from sage_tasks.gar.definitions_file import read_definitions
from sage_tasks.gar.fusion import K
from sage_tasks.gar.methods import (
    Settings,
    checked_aggregation,
    checked_method,
    parse_axes,
    parse_weights,
)
from sage_tasks.gar.pipeline import Pipeline
from sage_tasks.gar.prompts import VERSIONS
from sage_tasks.gar.text_models import (
    CachedTextModel,
    PictureModelText,
    TextModel,
    open_text_model,
)
from sage_tasks.gar.texts import GivenTexts, TextSource, WrittenTexts
from sage_tasks.gar.verification import Calibration
from sage_tasks.lexicons.cache import DiskCache, cache_folder
from sage_tasks.lexicons.registry import open_lexicon
from sage_tasks.records import CANDIDATES
from wordsight.errors import WordsightError
from wordsight.models.base import Ask, PictureModel

TEXTS = "gar_texts.sqlite"
# Models that compare a picture with a text: which option makes them compare with the statement
# of a question, and its value.
_MATCHERS = {"conse": ("text", "gloss"), "wordsight_itm": ("text", "{gloss}")}


class GAR(PictureModel):
    """Registered as ``gar``: gloss-augmented reasoning on top of another picture model.

    Parameters
    ----------
    base : the picture model, e.g. "wordsight_hf"; options not named here go to it.
    method : "base", "generated_def", "lexical_def", "cgr", "gar", or "all" (asks what every
        method needs and ranks as gar; for ``wordsight ablate``).
    lexicon : "wordnet", "ontonotes", "wikidata", "babelnet", several joined by "+", or "none".
    ontonotes, wikidata : file of that lexicon (``verse_visualness_labels.csv``; a Wikidata dump).
    text_base : model that writes definitions and constraints: "smollm2", a GGUF file, the address
        of an OpenAI-compatible server with ``text_model=NAME``, or a transformers checkpoint; by
        default the base itself.
    definitions : exported definitions file; then nothing is looked up or written.
    axes, aggregation, axis_weights, information, k : see :class:`~sage_tasks.gar.methods.Settings`.
    glosses, per_axis, attempts : see :class:`~sage_tasks.gar.texts.WrittenTexts`.
    similarity_scale, similarity_offset : see :class:`~sage_tasks.gar.verification.Calibration`.
    items_at_once : items whose questions are put to the base together.
    cache : "on" or "off": keep texts on disk under $WORDSIGHT_CACHE.
    """

    def __init__(
        self,
        base: str,
        method: str = "gar",
        lexicon: str = "wordnet",
        ontonotes: str | None = None,
        wikidata: str | None = None,
        text_base: str | None = None,
        text_model: str = "",
        definitions: str | None = None,
        axes: str = "object+attribute+state",
        aggregation: str = "mean",
        axis_weights: str = "",
        information: bool = False,
        k: int = K,
        glosses: int = 20,
        per_axis: int = 3,
        attempts: int = 2,
        similarity_scale: float = 10.0,
        similarity_offset: float = 0.2,
        items_at_once: int = 32,
        cache: str = "on",
        batch_size: int | str = 1,
        device: str | None = None,
        **base_options: Any,
    ) -> None:
        super().__init__(batch_size=batch_size, device=device)
        self._items_at_once = int(items_at_once)
        settings = Settings(
            method=checked_method(str(method)),
            axes=parse_axes(str(axes)),
            aggregation=checked_aggregation(str(aggregation)),
            axis_weights=parse_weights(str(axis_weights)),
            information=bool(information),
            k=int(k),
        )
        self._base = _load_base(base, base_options, batch_size, device, settings.method)
        self.kinds = frozenset({"yes_no"})
        origin = {"base": _model_name(base, base_options), "prompts": VERSIONS}
        texts: TextSource | None = None
        if settings.method != "base" and definitions is not None:
            texts = GivenTexts(read_definitions(Path(definitions)), definitions)
            origin["definitions"] = Path(definitions).name
        elif settings.method != "base":
            writer = self._text_model(base, base_options, text_base, text_model, device)
            texts = WrittenTexts(
                writer if cache == "off" else _cached(writer),
                open_lexicon(lexicon, ontonotes=ontonotes, wikidata=wikidata),
                most_glosses=int(glosses),
                per_axis=int(per_axis),
                attempts=int(attempts),
            )
            origin |= {"text": writer.name, "lexicon": lexicon}
        calibration = Calibration(float(similarity_scale), float(similarity_offset))
        self._pipeline = Pipeline(self._base, texts, settings, calibration, origin)

    def _text_model(
        self,
        base: str,
        base_options: dict[str, Any],
        text_base: str | None,
        text_model: str,
        device: str | None,
    ) -> TextModel:
        if text_base is not None and text_base != base_options.get("pretrained"):
            return open_text_model(text_base, text_model, device)
        if base in _MATCHERS:
            raise WordsightError(
                f"gar: {base} writes no text; name a model that does with text_base=..., or give "
                "definitions=FILE"
            )
        return PictureModelText(self._base, _model_name(base, base_options))

    def answer(self, asks: Sequence[Ask]) -> Iterator[str]:
        """Questions that belong to no item go to the base model."""
        return self._base.answer(asks)

    def write(self, prompts: Sequence[str], max_tokens: int = 256) -> Iterator[str]:
        """Texts come from the base model."""
        return self._base.write(prompts, max_tokens)

    def arrange(self, requests: Sequence[Any]) -> list[int]:
        """Requests stay item by item: an item's ten candidates are ranked together."""
        return list(range(len(requests)))

    def generate_until(self, requests: list[Any]) -> Iterator[str]:
        """lmms-eval's call; responses come item by item.

        Each item is ranked over all its ten candidates, also where only some are asked for: an
        interrupted run may have kept the others.
        """
        for place, group in itertools.groupby(requests, key=lambda r: (r.args[4], r.args[5])):
            yield from self._of_task(*place, list(group))

    def _of_task(self, task: str, split: str, requests: list[Any]) -> Iterator[str]:
        numbers = [request.args[3] for request in requests]
        items = list(dict.fromkeys(number // CANDIDATES for number in numbers))
        example = {number // CANDIDATES: r for number, r in zip(numbers, requests, strict=True)}
        done: dict[int, list[str]] = {}
        position = 0
        for start in range(0, len(items), self._items_at_once):
            chunk = items[start : start + self._items_at_once]
            asks = [self._candidates(example[item], task, split, item) for item in chunk]
            done |= dict(zip(chunk, self._pipeline.rank(asks), strict=True))
            while position < len(numbers) and numbers[position] // CANDIDATES in done:
                item, candidate = divmod(numbers[position], CANDIDATES)
                yield done[item][candidate]
                position += 1
        self._tell_faults()

    def _candidates(self, request: Any, task: str, split: str, item: int) -> list[Ask]:
        view = self.task_dict[task][split]
        ask = self._ask(request)
        first = item * CANDIDATES
        return [_with_picture(ask, view[first + c]["image_id"]) for c in range(CANDIDATES)]

    def _tell_faults(self) -> None:
        texts = self._pipeline.texts
        if isinstance(texts, WrittenTexts) and (faults := texts.faults()):
            told = ", ".join(f"{name} {count}" for name, count in faults.items())
            logger.warning(f"gar: texts that were not as asked for: {told}")


def _with_picture(ask: Ask, image_id: str) -> Ask:
    return dataclasses.replace(ask, image_id=image_id)


def _load_base(
    base: str, options: dict[str, Any], batch_size: Any, device: str | None, method: str
) -> PictureModel:
    from lmms_eval.models import MODEL_REGISTRY_V2, get_model

    if base == "gar" or base not in MODEL_REGISTRY_V2.list_model_names():
        raise WordsightError(f"gar: unknown base model {base!r}; e.g. wordsight_hf")
    loader = get_model(base)
    if not issubclass(loader, PictureModel):
        raise WordsightError(
            f"gar: {base} answers a whole task and no single questions; the base must be a model "
            "of this package (wordsight_hf, wordsight_openai, wordsight_itm, conse)"
        )
    if base in _MATCHERS:
        name, value = _MATCHERS[base]
        if name in options:
            raise WordsightError(f"gar sets {name} of {base} itself: leave {name}=... out")
        options = {**options, name: value}
    made: PictureModel = loader(batch_size=batch_size, device=device, **options)
    return made


def _model_name(base: str, options: dict[str, Any]) -> str:
    # Texts are kept under this name: it must tell the models of a server apart, too.
    named = [options[name] for name in ("pretrained", "model", "revision") if name in options]
    return ":".join([base, *map(str, named)])


def _cached(model: TextModel) -> TextModel:
    return CachedTextModel(model, DiskCache(cache_folder() / TEXTS))
