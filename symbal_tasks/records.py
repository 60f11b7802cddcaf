"""Records of SymbalBench: a row of the base dataset, a domain, an evaluation setting."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

STRENGTHS = (0.3, 0.6, 0.9)


@dataclass(frozen=True)
class BaseRow:
    """A picture with a correct caption: sentences of T, reference R, visual features it shows.

    ``sizes`` gives for each feature the share of the picture's area that its largest box takes
    (empty where the domain has no boxes).
    """

    id: str
    file: str
    width: int
    height: int
    caption: tuple[str, ...]
    reference: str
    features: tuple[str, ...]
    sizes: tuple[float, ...] = ()
    licence: str = ""


@dataclass(frozen=True)
class Pair:
    """An error t and the feature v it goes with. ``kinds``: random, popular, adversarial."""

    t: str
    v: str
    kinds: tuple[str, ...] = ("unknown",)


@dataclass(frozen=True)
class Domain:
    """All that settings are made from.

    present : for each t, the rows whose picture or caption holds it already.
    sentences : for each t, the wordings that may be injected.
    recipe : options and hashes of the inputs, enough to repeat the build.
    """

    name: str
    rows: tuple[BaseRow, ...]
    present: Mapping[str, frozenset[int]]
    sentences: Mapping[str, tuple[str, ...]]
    skipped: Mapping[str, int] = field(default_factory=dict)
    recipe: Mapping[str, object] = field(default_factory=dict)

    def showing(self, feature: str) -> frozenset[int]:
        """Rows whose picture shows the feature."""
        return frozenset(i for i, row in enumerate(self.rows) if feature in row.features)

    def feature_size(self, feature: str) -> float | None:
        """Mean share of the picture that the feature's largest box takes (Figure 7)."""
        sizes = [
            size
            for row in self.rows
            for name, size in zip(row.features, row.sizes, strict=False)
            if name == feature
        ]
        return sum(sizes) / len(sizes) if sizes else None


@dataclass(frozen=True)
class Setting:
    """One dataset of the benchmark: a base with t put into the captions of ``rows``.

    ``sentences`` are indices into the domain's table of sentences; ``places`` as in
    :class:`symbal_tasks.inject.Injections`.
    """

    domain: str
    t: str
    v: str
    strength: float
    achieved: float
    n: int
    n_v: int
    with_v: int
    without_v: int
    kinds: tuple[str, ...]
    feature_size: float | None
    rows: tuple[int, ...]
    sentences: tuple[int, ...]
    places: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """Readable and stable: domain, error, feature and strength."""
        return setting_id(self.domain, self.t, self.v, self.strength)

    def facts(self) -> dict[str, Any]:
        """What is right, and what its strata are, as plain data."""
        return {
            "t": self.t,
            "v": self.v,
            "strength": self.strength,
            "achieved": self.achieved,
            "feature_size": self.feature_size,
            "kinds": list(self.kinds),
        }


@dataclass(frozen=True)
class Skipped:
    """A setting that the base cannot reach, and why."""

    t: str
    v: str
    strength: float
    strongest: float
    reason: str


def setting_id(domain: str, t: str, v: str, strength: float) -> str:
    """ "natural__hot_dog__bicycle__0.3"."""
    return "__".join((domain, t.replace(" ", "_"), v.replace(" ", "_"), f"{strength:g}"))


def fingerprint(rows: Iterable[BaseRow], settings: Iterable[Setting]) -> str:
    """Identity of a build: base captions and every injection, 20 hex digits."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps([row.id, row.caption, row.reference]).encode())
    for setting in settings:
        digest.update(
            json.dumps([setting.id, setting.rows, setting.sentences, setting.places]).encode()
        )
    return digest.hexdigest()[:20]
