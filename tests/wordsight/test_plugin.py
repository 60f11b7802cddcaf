"""lmms-eval finds our models and tasks by itself, and others pay nothing for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

_TASKS = (
    "import lmms_eval.models; from lmms_eval.tasks import TaskManager; "
    "print(sorted(t for t in TaskManager(include_defaults=False).all_tasks if 'sage_demo' in t))"
)


def _python(code: str, **variables: str) -> str:
    import os

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **variables},
    )
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("order", ["before", "after"])
def test_tasks_are_known_in_either_import_order(order: str) -> None:
    code = _TASKS if order == "before" else "import lmms_eval.tasks; " + _TASKS

    names = ("sage_demo", "sage_demo_spis", "sage_demo_swapped", "sage_demo_choice")
    printed = _python(code).splitlines()[-1]
    assert all(repr(name) in printed for name in names)


@pytest.mark.slow
def test_opting_out_leaves_the_task_list_alone() -> None:
    assert _python(_TASKS, WORDSIGHT_NO_TASKS="1").splitlines()[-1] == "[]"


def test_models_are_registered_and_nothing_heavy_is_imported() -> None:
    code = (
        "import sys; from lmms_eval.models import MODEL_REGISTRY_V2 as r; "
        "print([n in r.list_model_names() for n in ('conse', 'wordsight_hf', 'wordsight_itm')]); "
        "print(sorted(m for m in ('torch', 'datasets', 'pydantic', 'lmms_eval.tasks', "
        "'sage_tasks') if m in sys.modules))"
    )

    printed = _python(code).splitlines()

    assert printed == ["[True, True, True]", "[]"]


def test_every_registered_class_can_be_loaded() -> None:
    from importlib import import_module

    from wordsight.plugin import _MODELS

    for path in _MODELS.values():
        module, _, name = path.rpartition(".")
        assert hasattr(import_module(module), name), path
