"""The task manager of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordsight.errors import WordsightError
from wordsight.run.spec import RunSpec
from wordsight.task_paths import task_folder

if TYPE_CHECKING:
    from lmms_eval.tasks import TaskManager


def task_manager(spec: RunSpec) -> TaskManager:
    """A manager that knows the run's tasks.

    lmms-eval's own thousand YAML files are read only when a task is not one of ours: that scan
    takes seconds. Raises WordsightError naming the tasks that nobody knows.
    """
    from lmms_eval.tasks import TaskManager

    own = [str(task_folder()), *([spec.include_path] if spec.include_path else [])]
    manager = TaskManager(include_path=own, include_defaults=False)
    if set(spec.tasks) <= set(manager.all_tasks):
        return manager
    manager = TaskManager(include_path=own)
    unknown = sorted(set(spec.tasks) - set(manager.all_tasks))
    if unknown:
        raise WordsightError(
            f"unknown task(s) {', '.join(unknown)}; `wordsight tasks` lists those of this package"
        )
    return manager
