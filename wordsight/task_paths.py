"""Where the lmms-eval task YAML lies, in a checkout and in an installed wheel."""

from pathlib import Path


def task_folder() -> Path:
    """Folder for ``--include_path``: beside the package in a wheel, ``tasks/`` in a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "_tasks"
    return installed if installed.is_dir() else package.parent / "tasks"
