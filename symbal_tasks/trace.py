"""What Symbal did, step by step: enough to see why it said what it said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Group:
    """A cluster of facts or of pictures.

    score : mean agreement of the scored members; None where no answer could be read.
    members : facts as (row id, fact), or pictures as (row id, "").
    """

    number: int
    size: int
    score: float | None
    scored: int
    members: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Stage:
    """Grouping and ranking of one stage: groups by score, worst first."""

    k: int
    silhouettes: Mapping[int, float]
    groups: tuple[Group, ...]
    left_out: int = 0


@dataclass(frozen=True)
class Finding:
    """One predicted misalignment: names of the error and of the feature, best first.

    ``facts`` is the group that was summarised (merged ones included), ``rows`` the group of
    pictures; ``second`` is the stage that chose it.
    """

    errors: tuple[str, ...]
    features: tuple[str, ...]
    score: float | None
    facts: tuple[tuple[str, str], ...]
    rows: tuple[str, ...]
    second: Stage | None


@dataclass(frozen=True)
class Trace:
    """A whole run: composition, options, first stage, findings worst first."""

    composition: Mapping[str, str]
    options: Mapping[str, object]
    n_rows: int
    n_facts: int
    first: Stage | None
    findings: tuple[Finding, ...]

    def answer(self) -> str:
        """The benchmark's answer: the five names of error and feature of the worst finding."""
        if not self.findings:
            return "Textual Error: \nVisual Feature: "
        worst = self.findings[0]
        return (
            f"Textual Error: {', '.join(worst.errors[:5])}\n"
            f"Visual Feature: {', '.join(worst.features[:5])}"
        )

    def write(self, path: Path) -> None:
        """Write as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
