"""Symbal as a model of lmms-eval: ``--model symbal --model_args composition=...``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from lmms_eval.api.model import lmms
from loguru import logger

from symbal_tasks.audit.command import endpoint
from symbal_tasks.cache import ContentCache
from symbal_tasks.compositions import compose, spec
from symbal_tasks.symbal import Options, find, find_ungrouped
from symbal_tasks.task import SettingView
from wordsight.errors import WordsightError

_PARTS = (
    "texts",
    "scorer",
    "text_summary",
    "pictures",
    "row_summary",
    "second_scorer",
    "captioner",
    "embedding_scorer",
)


class Symbal(lmms):
    """Registered as ``symbal``: runs both stages on the setting behind a request.

    Parameters
    ----------
    composition : a preset of :mod:`symbal_tasks.compositions`; single parts may be replaced
        (``scorer=vision:MODEL``).
    server : address of an OpenAI-compatible server, where a part needs one.
    second : "behind" (the paper's stage 2) or "everywhere".
    margin : standard errors added to a group's mean before groups are ranked; 0 as the paper.
    cache : file that keeps the models' answers; "" keeps them in memory.
    traces : folder for one trace per setting; "" writes none.
    score_sample, summary_sample : members of a group that are scored and named.
    """

    is_simple = True
    grouped = True

    def __init__(
        self,
        composition: str = "offline",
        server: str = "",
        second: Literal["behind", "everywhere"] = "behind",
        margin: float | str = 2.0,
        cache: str = ".wordsight-cache/symbal.sqlite",
        traces: str = "",
        score_sample: int | str = "",
        summary_sample: int | str = 200,
        seed: int = 0,
        batch_size: Any = 1,
        device: Any = None,
        max_batch_size: Any = None,
        **parts: str,
    ) -> None:
        super().__init__()
        del batch_size, device, max_batch_size
        unknown = set(parts) - set(_PARTS)
        if unknown:
            raise WordsightError(
                f"symbal: no option {', '.join(sorted(unknown))}; parts are {', '.join(_PARTS)}"
            )
        if second not in ("behind", "everywhere"):
            raise WordsightError(f"symbal: second={second!r}; use behind or everywhere")
        self._parts = spec(composition, **parts)
        self._endpoint = endpoint(server)
        self._cache = ContentCache(Path(cache).expanduser() if cache else None)
        self._traces = Path(traces).expanduser() if traces else None
        self._options = replace(
            Options(),
            second=second,
            margin=float(margin),
            score_sample=int(score_sample) if score_sample else None,
            summary_sample=int(summary_sample) if summary_sample else None,
            seed=int(seed),
        )

    def generate_until(self, requests: list[Any]) -> Iterator[str]:
        """Yield one answer per setting, as it is found."""
        return (self._answer(request) for request in requests)

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        """Not offered: an answer is text."""
        raise WordsightError("symbal answers generate_until requests only")

    def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
        """Not offered: every setting stands alone."""
        raise WordsightError("symbal answers single requests only")

    def _answer(self, request: Any) -> str:
        _, _, _, doc_id, task, split = request.args
        view = self.task_dict[task][split]
        if not isinstance(view, SettingView):
            raise WordsightError(
                f"task {task} is not one of SymbalBench's: {type(self).__name__} runs only on "
                "symbalbench_natural, symbalbench_medical and their variants"
            )
        composition = compose(self._parts, self._cache, self._endpoint, references=view.references)
        method = find if self.grouped else find_ungrouped
        trace = method(view.rows(doc_id), composition, self._options)
        setting = view.settings[doc_id]
        if self._traces:
            trace.write(self._traces / f"{setting.id}.json")
        logger.info(f"{setting.id}: {trace.answer()!r}")
        return trace.answer()


class SymbalNoGroup(Symbal):
    """Registered as ``symbal_nogroup``: the ablation of Appendix D, single facts are flagged."""

    grouped = False
