"""Audit a set of captions: find misalignments on one half of the pictures, test on the other.

What is tested was chosen without a look at the pictures it is tested on, so its p-values hold.
The unit is a picture: several captions of one picture are no independent trials.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from symbal_tasks.audit.captions import CaptionSet
from symbal_tasks.audit.contrast import Contrast, contrast, holm
from symbal_tasks.audit.features import FeatureSource, Marks
from symbal_tasks.backends import Claim, Row
from symbal_tasks.facts import SplitFacts
from symbal_tasks.symbal import Composition, Options, Progress, find, no_progress
from symbal_tasks.trace import Finding, Trace
from symbal_tasks.words import content_words
from wordsight.errors import DataError

# A feature shown by fewer pictures of a half, or missing in fewer, cannot be told from chance.
LEAST_PICTURES = 5
LEAST_HALF = 2
NO_FEATURES = "none"


@dataclass(frozen=True)
class AuditOptions:
    """findings : misalignments looked for. sample : pictures audited (None: all), drawn by seed.
    threshold : agreement below which a claim counts as erroneous."""

    findings: int = 10
    sample: int | None = 10_000
    threshold: float = 0.5
    seed: int = 0
    symbal: Options = field(default_factory=lambda: Options(second="everywhere", min_share=0.01))


@dataclass(frozen=True)
class Flagged:
    """A sentence marked as an erroneous claim.

    shown : whether its picture shows the finding's feature; None where none could be marked.
    """

    row: str
    picture: str
    sentence: str
    agreement: float
    shown: bool | None = None


@dataclass(frozen=True)
class Misalignment:
    """One finding.

    tested : the contrast on the half that was not used to find it; everywhere : on all pictures,
    for description only. p_holm : adjusted over all findings. Both None where no feature could be
    marked.
    """

    error: str
    feature: str | None
    error_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    claims: int
    unread: int
    tested: Contrast | None
    everywhere: Contrast | None
    p_holm: float | None
    flagged: tuple[Flagged, ...]

    def stands(self, level: float = 0.05) -> bool:
        """Whether it survives Holm and the error is likelier with the feature."""
        return bool(
            self.p_holm is not None
            and self.p_holm < level
            and self.tested
            and self.tested.ratio is not None
            and self.tested.ratio > 1
        )


@dataclass(frozen=True)
class Audit:
    """A whole audit; ``misalignments`` ranked, those that stand first."""

    misalignments: tuple[Misalignment, ...]
    n_rows: int
    n_pictures: int
    n_found_on: int
    n_tested_on: int
    skipped: Mapping[str, int]
    features: str
    threshold: float
    trace: Trace


def audit(
    captions: CaptionSet,
    composition: Composition,
    features: FeatureSource | None,
    options: AuditOptions = AuditOptions(),
    progress: Progress = no_progress,
) -> Audit:
    """Run an audit. Raises DataError when there are fewer than four pictures."""
    pictures = _by_picture(captions, options)
    keys = sorted(pictures)
    if len(keys) < 2 * LEAST_HALF:
        raise DataError(
            f"{len(keys)} pictures are too few to find on one half and test on the other"
        )
    first, second = halves(keys, options.seed)
    found_on = [row for key in first for row in pictures[key]]
    settings = replace(options.symbal, findings=options.findings, seed=options.seed)
    trace = find(found_on, composition, settings, progress)
    facts = _facts([row for key in keys for row in pictures[key]], composition.split)
    marks = _marks(trace, features, keys, pictures)
    results: dict[tuple[str, str | None], Misalignment] = {}
    for number, finding in enumerate(trace.findings, 1):
        progress("test findings", number, len(trace.findings))
        error = _name(finding)
        if error is None:
            continue
        claims = [claim for words, claim in facts if set(content_words(error)) <= words]
        marked, unread = _erroneous(claims, composition, captions, options)
        if not marked:
            continue
        wrong = {flag.picture for flag in marked}
        names = features.candidates(finding.features) if features else ()
        feature = _choose(names, marks, first, wrong)
        tested = _contrast(feature, marks, second, wrong)
        result = Misalignment(
            error,
            feature,
            finding.errors,
            finding.features,
            len(claims),
            unread,
            tested,
            _contrast(feature, marks, keys, wrong),
            None,
            tuple(
                replace(flag, shown=None if feature is None else flag.picture in marks[feature])
                for flag in marked
            ),
        )
        results.setdefault((error, feature), result)
    return Audit(
        _ranked(list(results.values())),
        sum(len(rows) for rows in pictures.values()),
        len(keys),
        len(first),
        len(second),
        captions.skipped,
        features.name if features else NO_FEATURES,
        options.threshold,
        trace,
    )


def drawn(captions: CaptionSet, options: AuditOptions) -> CaptionSet:
    """Only the pictures that an audit with these options looks at."""
    pictures = _by_picture(captions, options)
    rows = tuple(row for row in captions.rows if captions.picture_of[row.id] in pictures)
    return replace(captions, rows=rows)


def halves(keys: Sequence[str], seed: int) -> tuple[list[str], list[str]]:
    """Two halves of the pictures, at random by the seed; the first has the odd one."""
    shuffled = sorted(keys)
    random.Random(f"{seed}|halves").shuffle(shuffled)
    middle = (len(shuffled) + 1) // 2
    return sorted(shuffled[:middle]), sorted(shuffled[middle:])


def _by_picture(captions: CaptionSet, options: AuditOptions) -> dict[str, list[Row]]:
    pictures: dict[str, list[Row]] = defaultdict(list)
    for row in captions.rows:
        pictures[captions.picture_of[row.id]].append(row)
    keys = sorted(pictures)
    if options.sample is not None and len(keys) > options.sample:
        keys = random.Random(f"{options.seed}|sample").sample(keys, options.sample)
    return {key: pictures[key] for key in keys}


def _facts(rows: Sequence[Row], split: SplitFacts) -> list[tuple[frozenset[str], Claim]]:
    return [
        (frozenset(content_words(fact)), Claim(fact, row))
        for row in rows
        for fact in split(row.caption)
    ]


def _name(finding: Finding) -> str | None:
    """The name that most of the group's facts hold; the first one where none holds half."""
    names = [name for name in finding.errors if content_words(name)]
    held = [set(content_words(fact)) for _, fact in finding.facts]
    for name in names:
        if sum(set(content_words(name)) <= words for words in held) * 2 >= len(held):
            return name
    return names[0] if names else None


def _erroneous(
    claims: Sequence[Claim], composition: Composition, captions: CaptionSet, options: AuditOptions
) -> tuple[list[Flagged], int]:
    scores = composition.scorer.score(claims).tolist() if claims else []
    marked = [
        Flagged(claim.row.id, captions.picture_of[claim.row.id], claim.fact, score)
        for claim, score in zip(claims, scores, strict=True)
        if score < options.threshold
    ]
    return marked, sum(math.isnan(score) for score in scores)


def _marks(
    trace: Trace,
    features: FeatureSource | None,
    keys: Sequence[str],
    pictures: Mapping[str, Sequence[Row]],
) -> Marks:
    if features is None:
        return {}
    named = [name for finding in trace.findings for name in features.candidates(finding.features)]
    return features.marks(list(dict.fromkeys(named)), keys, [pictures[key] for key in keys])


def _choose(names: Sequence[str], marks: Marks, keys: Sequence[str], wrong: set[str]) -> str | None:
    """The candidate that goes best with the error among the pictures it was found on."""
    best: tuple[float, float, str] | None = None
    for name in names:
        held = _contrast(name, marks, keys, wrong)
        if held is None or min(held.n_with, held.n_without) < LEAST_PICTURES:
            continue
        if held.ratio is None or held.ratio <= 1:
            continue
        rank = (held.p, -held.ratio, name)
        if best is None or rank < best:
            best = rank
    return best[2] if best else None


def _contrast(
    feature: str | None, marks: Marks, keys: Sequence[str], wrong: set[str]
) -> Contrast | None:
    if feature is None:
        return None
    return contrast([key in wrong for key in keys], [key in marks[feature] for key in keys])


def _ranked(results: Sequence[Misalignment]) -> tuple[Misalignment, ...]:
    tested = [i for i, result in enumerate(results) if result.tested is not None]
    adjusted = holm([_p(results[i]) for i in tested])
    final = list(results)
    for i, p in zip(tested, adjusted, strict=True):
        final[i] = replace(results[i], p_holm=p)
    return tuple(
        sorted(
            final, key=lambda m: (1.0 if m.p_holm is None else m.p_holm, -len(m.flagged), m.error)
        )
    )


def _p(result: Misalignment) -> float:
    assert result.tested is not None
    return result.tested.p
