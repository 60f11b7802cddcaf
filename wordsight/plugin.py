"""Entry point of group ``lmms_eval.models``: registers models and makes the task YAML known.

lmms-eval has an entry point for models and none for tasks. It loads this module whenever
``lmms_eval.models`` is imported, so from here ``TaskManager`` is taught our task folder as well,
and ``lmms-eval --tasks sage_demo`` needs no ``--include_path``. Set ``WORDSIGHT_NO_TASKS=1`` to
keep the task list as lmms-eval ships it.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

OPT_OUT = "WORDSIGHT_NO_TASKS"
_TASKS_MODULE = "lmms_eval.tasks"

# name -> (simple class, chat class); a class that takes either kind of request is listed as simple.
_MODELS = {
    "conse": "wordsight.models.conse.ConSE",
    "wordsight_itm": "wordsight.models.itm.ImageTextMatcher",
    "wordsight_hf": "wordsight.models.hf.HFImageTextToText",
    "wordsight_openai": "wordsight.models.openai_server.OpenAIServer",
    "gar": "sage_tasks.gar.model.GAR",
    "uvwsd": "sage_tasks.uvwsd.UVWSD",
    "symbal": "symbal_tasks.model.Symbal",
    "symbal_nogroup": "symbal_tasks.model.SymbalNoGroup",
}

# stock adapters without a torch model in this process: there are no logits to read
_SERVED = frozenset(
    {
        "aero_realtime_vllm",
        "async_openai",
        "batch_gpt4",
        "claude",
        "dummy",
        "fastvideo",
        "from_log",
        "gemini",
        "generation_api",
        "gpt4o_audio",
        "gpt4v",
        "litellm",
        "llava_sglang",
        "openai",
        "qwen_vl_api",
        "reka",
        "sglang",
        "srt_api",
        "vllm",
        "vllm_generate",
        "whisper_vllm",
    }
)


def manifests() -> list[Any]:
    """Model manifests for lmms-eval's registry; also hooks the task folder in, unless opted out."""
    from lmms_eval.models.registry_v2 import ModelManifest

    if not os.environ.get(OPT_OUT):
        _make_tasks_known()
    own = [ModelManifest(model_id=name, simple_class_path=path) for name, path in _MODELS.items()]
    return [*own, *_with_likelihoods(ModelManifest)]


def _with_likelihoods(manifest: Any) -> list[Any]:
    """``wordsight_NAME`` for each stock adapter that runs a model in this process."""
    stock = sys.modules["lmms_eval.models"]  # it is what imports us, and has its tables by now
    simple, chat = stock.AVAILABLE_SIMPLE_MODELS, stock.AVAILABLE_CHAT_TEMPLATE_MODELS
    names = (set(simple) | set(chat)) - _SERVED
    path = "wordsight.models.stock"
    return [
        manifest(
            model_id=f"wordsight_{name}",
            simple_class_path=f"{path}.{name}__simple" if name in simple else None,
            chat_class_path=f"{path}.{name}__chat" if name in chat else None,
        )
        for name in sorted(names)
    ]


def _make_tasks_known() -> None:
    loaded = sys.modules.get(_TASKS_MODULE)
    if loaded is not None and hasattr(loaded, "TaskManager"):
        _extend(loaded)
    elif not any(isinstance(finder, _TasksFinder) for finder in sys.meta_path):
        # Importing lmms_eval.tasks here would cost seconds in commands that need no tasks;
        # waiting for whoever imports it costs a millisecond.
        sys.meta_path.insert(0, _TasksFinder())


def _extend(tasks_module: ModuleType) -> None:
    manager = tasks_module.TaskManager
    if getattr(manager, "_wordsight", False):
        return
    original = manager.initialize_tasks

    def initialize_tasks(
        self: Any, include_path: str | list[str] | None = None, include_defaults: bool = True
    ) -> Any:
        from wordsight.task_paths import task_folder

        paths = [include_path] if isinstance(include_path, str) else list(include_path or [])
        return original(
            self, include_path=[*paths, str(task_folder())], include_defaults=include_defaults
        )

    manager.initialize_tasks = initialize_tasks
    manager._wordsight = True


class _TasksFinder(importlib.abc.MetaPathFinder):
    """Lets the next import of ``lmms_eval.tasks`` pass, and extends the module once it is ready."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != _TASKS_MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            _extend(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
