"""A true exit status for runs started through lmms-eval's own command.

That command ends with status 0 whatever happened. A task that knows its run is incomplete asks
here for the process to end with another status, after everything else has been written.
"""

from __future__ import annotations

import atexit
import os
import sys

INCOMPLETE = 3
_HARNESS_COMMANDS = ("lmms-eval", "lmms_eval")


def mark_incomplete() -> None:
    """Make the process end with status 3 if lmms-eval's command started it.

    In any other program (a notebook, ``wordsight eval``) this does nothing: there the caller sees
    the failed count in the results.
    """
    if not _started_by_harness() or getattr(mark_incomplete, "done", False):
        return
    mark_incomplete.done = True  # type: ignore[attr-defined]
    atexit.register(_leave)


def _started_by_harness() -> bool:
    main = sys.modules.get("__main__")
    spec_name = getattr(getattr(main, "__spec__", None), "name", "") or ""
    return spec_name.startswith("lmms_eval") or os.path.basename(sys.argv[0]) in _HARNESS_COMMANDS


def _leave() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INCOMPLETE)
