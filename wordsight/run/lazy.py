"""Putting off imports that lmms-eval makes and a run of ours does not need."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any


class _PutOff(ModuleType):
    """Stands for a package until something of it is used.

    ``importlib.util.LazyLoader`` will not do: the import statement itself looks at the module's
    ``__spec__``, and that loads it.
    """

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), attribute)


def put_off(name: str) -> None:
    """Let ``import name`` bind a module that is loaded when something of it is first used.

    Nothing happens where the package is loaded already or is not installed.
    """
    if name in sys.modules:
        return
    spec = importlib.util.find_spec(name)
    if spec is not None:
        module = _PutOff(name)
        module.__spec__ = spec  # others look for packages by it
        sys.modules[name] = module
