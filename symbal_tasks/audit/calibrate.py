"""How often an audit flags something where features and errors have nothing to do with each other.

The features of the pictures are shuffled over the pictures, which keeps how frequent each is, and
how they go together, but breaks every tie to the captions. What then survives Holm is a false
alarm.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from symbal_tasks.audit.audit import AuditOptions, audit
from symbal_tasks.audit.captions import CaptionSet
from symbal_tasks.audit.features import TableFeatures
from symbal_tasks.symbal import Composition, Progress, no_progress


@dataclass(frozen=True)
class Calibration:
    """``alarms`` of ``sets`` null sets had a finding that stood; ``tested`` findings in all.

    low, high : 95% Clopper-Pearson interval of the share of alarms.
    """

    sets: int
    alarms: int
    tested: int
    low: float
    high: float


def calibrate(
    captions: CaptionSet,
    composition: Composition,
    features: TableFeatures,
    options: AuditOptions,
    *,
    sets: int = 200,
    progress: Progress = no_progress,
) -> Calibration:
    """Audit ``sets`` shuffled copies, each with its own halves. Raises as :func:`audit`."""
    from scipy.stats import binomtest

    keys = sorted(set(captions.picture_of.values()))
    alarms = tested = 0
    for number in range(sets):
        progress("null sets", number + 1, sets)
        order = list(keys)
        random.Random(f"{options.seed}|null|{number}").shuffle(order)
        shuffled = TableFeatures(
            {key: features.of(other) for key, other in zip(keys, order, strict=True)},
            features.names,
        )
        result = audit(
            captions, composition, shuffled, replace(options, seed=options.seed + number)
        )
        tested += sum(m.tested is not None for m in result.misalignments)
        alarms += any(m.stands() for m in result.misalignments)
    interval = binomtest(alarms, sets).proportion_ci(0.95)
    return Calibration(sets, alarms, tested, float(interval.low), float(interval.high))
