"""Build hook: what travels inside the wheel from outside of the packages.

The YAML of ``tasks/`` becomes ``wordsight/_tasks``, the published figures of ``submissions/``
become ``leaderboard/_published``.

A static force-include would do the same for editable installs, where it leaves a bare
``wordsight`` folder in site-packages that hides the real package.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TasksHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the task folder to wheels that are not editable."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a build; ``version`` is "standard" or "editable"."""
        if version != "editable":
            build_data["force_include"]["tasks"] = "wordsight/_tasks"
            build_data["force_include"]["submissions/published"] = "leaderboard/_published"
