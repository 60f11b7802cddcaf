"""Splitting a caption into textual facts (Appendix A.1)."""

from __future__ import annotations

import re
from collections.abc import Callable

# What a fact is may be defined anew: any function from a caption to its facts.
SplitFacts = Callable[[str], list[str]]

_HAS_LETTER = re.compile(r"[^\W\d_]")


def sentences(text: str, language: str = "en") -> list[str]:
    """Facts of one caption: its sentences.

    The library knows abbreviations and decimal numbers; what it cuts off without a letter in it
    (a list number, "1.") is joined to the sentence that follows.
    """
    from sentencex import segment

    facts: list[str] = []
    pending = ""
    for piece in segment(language, re.sub(r"\s+", " ", text).strip()):
        joined = f"{pending} {piece.strip()}".strip()
        if _HAS_LETTER.search(piece):
            facts.append(joined)
            pending = ""
        else:
            pending = joined
    if pending and facts:
        facts[-1] = f"{facts[-1]} {pending}"
    return facts
