"""A board as a Space: a folder to push, and what the Space runs."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from wordsight import __version__
from wordsight.errors import WordsightError

REPOSITORY_VARIABLE = "WORDSIGHT_BOARD_REPO"
PORT = 7860


def write_space(out: Path, *, title: str, repository: str) -> list[Path]:
    """Write ``app.py``, the card and the requirements; secrets stay in the Space's settings.

    repository : dataset repository that keeps the board (ORG/NAME).
    """
    if repository.count("/") != 1 or "\n" in title + repository:
        raise WordsightError(f"{repository!r}: give the dataset repository as ORG/NAME")
    if out.exists() and not out.is_dir():
        raise WordsightError(f"{out}: is a file; give a folder")
    out.mkdir(parents=True, exist_ok=True)
    template = resources.files("leaderboard").joinpath("space_card.md").read_text("utf-8")
    values = {
        "@TITLE@": title.replace('"', ""),
        "@REPO@": repository,
        "@VARIABLE@": REPOSITORY_VARIABLE,
    }
    for name, value in values.items():
        template = template.replace(name, value)
    files = {
        "app.py": "from leaderboard.space import serve_space\n\nserve_space()\n",
        "requirements.txt": f"wordsight[leaderboard]>={__version__}\n",
        "README.md": template,
    }
    for name, text in files.items():
        if (out / name).exists() and (out / name).read_text(encoding="utf-8") != text:
            raise WordsightError(
                f"{out / name}: is there already and differs; give a new folder, or delete it"
            )
    for name, text in files.items():
        (out / name).write_text(text, encoding="utf-8")
    return [out / name for name in files]


def serve_space(root: Path = Path("board"), port: int = PORT) -> None:
    """Fetch the board from its repository, then serve it; new submissions go back there."""
    from leaderboard.hub_store import Mirror
    from leaderboard.server.run import run

    repository = os.environ.get(REPOSITORY_VARIABLE, "")
    if not repository:
        raise WordsightError(f"set {REPOSITORY_VARIABLE} to the dataset repository of the board")
    mirror = Mirror(repository, root)
    mirror.pull()
    hosts = [os.environ[name] for name in ("SPACE_HOST",) if os.environ.get(name)]
    run(root, host="0.0.0.0", port=port, allowed_hosts=hosts, mirror=mirror)
