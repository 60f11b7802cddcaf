"""Where torch computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordsight.errors import WordsightError

if TYPE_CHECKING:
    import torch


def usable_device(name: str | None = None) -> torch.device:
    """The device of that name; without a name, a GPU where there is one.

    Raises WordsightError when torch cannot compute there.
    """
    import torch

    wanted = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wanted)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError, ImportError) as error:
        first = str(error).partition("\n")[0].partition(". ")[0]
        raise WordsightError(
            f"device={wanted}: torch {torch.__version__} cannot compute there ({first}); "
            f"it sees {torch.cuda.device_count()} GPU(s). Leave device out, or give device=cpu"
        ) from None
    return device
