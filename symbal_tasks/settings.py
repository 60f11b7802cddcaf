"""From a domain and its pairs to settings: the part that both domains share."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from importlib.resources import files
from itertools import accumulate
from typing import Literal

from symbal_tasks.inject import Infeasible, Plan, draw, plan
from symbal_tasks.records import STRENGTHS, Domain, Pair, Setting, Skipped


def paper_pairs(domain: str) -> tuple[Pair, ...]:
    """The pairs of the paper's Table 3: 131 natural, 25 medical."""
    text = (files("symbal_tasks") / "data" / "pairs.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(Pair(row["t"], row["v"]) for row in rows if row["domain"] == domain)


def sentence_offsets(domain: Domain) -> dict[str, int]:
    """Where each error's wordings begin in the domain's one table of sentences."""
    lengths = [len(wordings) for wordings in domain.sentences.values()]
    starts = [0, *accumulate(lengths)][:-1]
    return dict(zip(domain.sentences, starts, strict=True))


def make_settings(
    domain: Domain,
    pairs: Sequence[Pair],
    *,
    strengths: Sequence[float] = STRENGTHS,
    tolerance: float = 0.02,
    seed: int = 0,
    place: Literal["last", "random"] = "last",
) -> tuple[tuple[Setting, ...], tuple[Skipped, ...]]:
    """Every pair at every strength that the base can reach within ``tolerance``.

    The draw of a setting depends on its own names and the seed only, so adding a pair changes no
    other setting.
    """
    offsets = sentence_offsets(domain)
    lengths = [len(row.caption) for row in domain.rows]
    everything = range(len(domain.rows))
    settings: list[Setting] = []
    skipped: list[Skipped] = []
    for pair in pairs:
        showing = domain.showing(pair.v)
        present = domain.present[pair.t]
        free_with = [i for i in everything if i in showing and i not in present]
        free_without = [i for i in everything if i not in showing and i not in present]
        wordings = domain.sentences.get(pair.t, ())
        for strength in strengths:
            found = plan(
                strength,
                free_with=len(free_with),
                free_without=len(free_without),
                n1=len(showing),
                n=len(domain.rows),
                tolerance=tolerance,
            )
            if isinstance(found, Plan) and not wordings:
                found = Infeasible(found.achieved, f"no sentence states {pair.t!r}")
            if isinstance(found, Infeasible):
                skipped.append(Skipped(pair.t, pair.v, strength, found.strongest, found.reason))
                continue
            rng = random.Random(f"{seed}|{domain.name}|{pair.t}|{pair.v}|{strength:g}")
            drawn = draw(
                found,
                free_with=free_with,
                free_without=free_without,
                n_sentences=len(wordings),
                rng=rng,
                place=place,
                caption_lengths=lengths,
            )
            start = offsets[pair.t]
            settings.append(
                Setting(
                    domain=domain.name,
                    t=pair.t,
                    v=pair.v,
                    strength=strength,
                    achieved=found.achieved,
                    n=len(domain.rows),
                    n_v=len(showing),
                    with_v=found.with_v,
                    without_v=found.without_v,
                    kinds=pair.kinds,
                    feature_size=domain.feature_size(pair.v),
                    rows=drawn.rows,
                    sentences=tuple(start + k for k in drawn.sentences),
                    places=drawn.places,
                )
            )
    return tuple(settings), tuple(skipped)


def spoil(sentences: Sequence[str], injected: str, position: int | None) -> str:
    """A caption with the injected sentence in it; None puts it last."""
    parts = list(sentences)
    parts.insert(len(parts) if position is None else position, injected)
    return " ".join(parts)
