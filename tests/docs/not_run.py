"""Commands of the pages that no test runs as they stand: why, and which test covers the same."""

from __future__ import annotations

from fnmatch import fnmatchcase

# pattern of the whole command (* stands for anything) -> reason
NOT_RUN = {
    "make test": "it is what runs these tests",
    "make demo": "tests/test_demo.py runs `wordsight demo`, all that it adds to the installation",
    "pip install *": "tests/test_packaging.py installs the package with its extras",
    "pre-commit install": "it changes the checkout; `make lint`, part of `make test`, checks alike",
    "apt-get install wordnet-base": "needs root and a mirror; "
    "tests/sage_tasks/lexicons/test_wordnet.py reads the files that it installs",
    "python -m nltk.downloader wordnet": "downloads; "
    "tests/sage_tasks/lexicons/test_wordnet.py reads the same files",
    "python tools/coverage_simulation.py": "minutes; run with `pytest -m simulation` by "
    "tests/leaderboard/stats/test_statistics_page.py",
}


def is_left_out(command: str) -> bool:
    """Whether the command is one of those above."""
    return any(fnmatchcase(command, pattern) for pattern in NOT_RUN)
