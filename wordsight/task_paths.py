"""Where the lmms-eval task YAML lies, in a checkout and in an installed wheel."""

from pathlib import Path


def task_folder() -> Path:
    """Folder for ``--include_path``: beside the package in a wheel, ``tasks/`` in a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "_tasks"
    return installed if installed.is_dir() else package.parent / "tasks"


def task_names() -> list[str]:
    """Names of all tasks and groups of this package, sorted."""
    import re

    pattern = re.compile(r"^(?:task|group):\s*([\w.-]+)\s*$", re.MULTILINE)
    names: set[str] = set()
    for path in task_folder().glob("**/*.yaml"):
        names.update(pattern.findall(path.read_text(encoding="utf-8")))
    return sorted(names)
