"""Which of lmms-eval's own adapters can be imported in this environment.

    python tools/stock_adapters.py           # counts, and what the others lack
    python tools/stock_adapters.py --list    # every adapter by name

Imports all of them, which takes a while. An adapter that imports here may still want a package
when it loads its checkpoint.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import os
import warnings
from collections import Counter
from dataclasses import dataclass, field

OURS = ("wordsight.", "sage_tasks.", "symbal_tasks.")


@dataclass
class Found:
    """Adapters by what came of importing them; names with two forms are counted by form."""

    simple: list[str] = field(default_factory=list)
    chat: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def look() -> Found:
    """Import every form of every adapter, each class once, whatever aliases it has."""
    from lmms_eval.models import MODEL_REGISTRY_V2 as REGISTRY

    found = Found()
    seen: set[str] = set()
    for name in sorted(REGISTRY.list_model_names()):
        manifest = REGISTRY.get_manifest(name)
        for form in ("simple", "chat"):
            path = getattr(manifest, f"{form}_class_path")
            if not path or path.startswith(OURS) or path in seen:
                continue
            seen.add(path)
            try:
                REGISTRY.get_model_class(name, force_simple=form == "simple")
            except Exception as error:  # each fails in its own way
                found.failed[f"{name} ({form})"] = _reason(error)
            else:
                getattr(found, form).append(name)
    return found


def _reason(error: Exception) -> str:
    missing = getattr(error, "name", None)
    if isinstance(error, ModuleNotFoundError) and missing:
        # a missing part of a package that is here is named in full
        there = importlib.util.find_spec(missing.split(".")[0]) is not None
        return f"no module {missing if there else missing.split('.')[0]}"
    return f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name every adapter")
    arguments = parser.parse_args()
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    warnings.simplefilter("ignore")
    from loguru import logger

    logger.remove()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        found = look()
    whole = len(found.simple) + len(found.chat) + len(found.failed)
    print(
        f"{len(found.simple)} simple and {len(found.chat)} chat adapters of {whole} can be imported"
    )
    print("the others:")
    for reason, count in Counter(found.failed.values()).most_common():
        print(f"  {count:3}  {reason}")
    if arguments.list:
        print(f"simple: {', '.join(found.simple)}\nchat: {', '.join(found.chat)}")
        print(f"failed: {', '.join(found.failed)}")


if __name__ == "__main__":
    main()
