"""What an audit leaves behind: a page that opens offline, JSON, and the rows to look at."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from symbal_tasks.audit.audit import LEAST_PICTURES, NO_FEATURES, Audit, Flagged, Misalignment
from symbal_tasks.audit.captions import CaptionSet
from symbal_tasks.audit.contrast import Contrast
from symbal_tasks.audit.features import FeatureSource
from symbal_tasks.backends import Row
from symbal_tasks.charts import Chart, render, shares
from symbal_tasks.judge import Agreement, agreement
from wordsight.errors import DataError

EXAMPLES = 6
THUMBNAIL = 320
JOINED = "; "
# Below this, a half holds too few pictures for all but the strongest associations.
FEW = 20


@dataclass(frozen=True)
class Labelled:
    """Agreement of the automatic marks of one name with labels by hand."""

    name: str
    kind: str
    agreement: Agreement


@dataclass(frozen=True)
class Example:
    """A picture with its caption, cut around the marked sentence."""

    id: str
    before: str
    sentence: str
    after: str
    picture: str
    shown: bool | None


@dataclass(frozen=True)
class Item:
    """A misalignment made ready for the page."""

    m: Misalignment
    ratio: str
    interval: str
    p: str
    chart: Chart | None
    examples: tuple[Example, ...]


def write_audit(
    result: Audit,
    captions: CaptionSet,
    folder: Path,
    agreements: Sequence[Labelled] = (),
) -> Path:
    """Write ``index.html``, ``audit.json``, ``rows.csv`` and ``trace.json``; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = {row.id: row for row in captions.rows}
    items = [_item(m, rows) for m in result.misalignments]
    page = folder / "index.html"
    page.write_text(
        render("audit.html.j2", audit=result, items=items, agreements=agreements), encoding="utf-8"
    )
    (folder / "audit.json").write_text(
        json.dumps(as_json(result, agreements), indent=1, allow_nan=False) + "\n", encoding="utf-8"
    )
    result.trace.write(folder / "trace.json")
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(
            ["id", "picture", "finding", "error", "feature", "shown", "agreement", "sentence"]
        )
        writer.writerows(_sentences(result))
    return page


def _sentences(result: Audit) -> list[list[str]]:
    """Every flagged sentence once; what its findings differ in is joined in their order."""
    held: dict[tuple[str, str], dict[int, Flagged]] = {}
    for number, m in enumerate(result.misalignments):
        for flag in m.flagged:
            held.setdefault((flag.row, flag.sentence), {})[number] = flag
    rows = []
    for flags in held.values():
        first = next(iter(flags.values()))
        found = [result.misalignments[number] for number in flags]
        shown = ["" if flag.shown is None else str(int(flag.shown)) for flag in flags.values()]
        rows.append(
            [
                first.row,
                first.picture,
                JOINED.join(str(number + 1) for number in flags),
                JOINED.join(m.error for m in found),
                JOINED.join(m.feature or "" for m in found),
                JOINED.join(shown),
                f"{first.agreement:.4f}",
                first.sentence,
            ]
        )
    return rows


def as_json(result: Audit, agreements: Sequence[Labelled] = ()) -> dict[str, Any]:
    """Everything but the trace and the flagged rows, in plain JSON; infinity becomes "inf"."""
    found = []
    for m in result.misalignments:
        entry = {k: v for k, v in asdict(m).items() if k != "flagged"}
        entry |= {"flagged": len(m.flagged), "stands": m.stands()}
        found.append(entry)
    head = {
        key: value for key, value in asdict(result).items() if key not in ("misalignments", "trace")
    }
    labels = [asdict(labelled) for labelled in agreements]
    plain = _plain(
        head
        | {
            "composition": dict(result.trace.composition),
            "misalignments": found,
            "labels": labels,
        }
    )
    assert isinstance(plain, dict)
    return plain


def lines(result: Audit) -> list[str]:
    """The findings as lines of text for a terminal."""
    out = [
        f"{result.n_rows} captions of {result.n_pictures} pictures; found on "
        f"{result.n_found_on}, tested on {result.n_tested_on}"
    ]
    out += [f"left out: {count} ({reason})" for reason, count in result.skipped.items()]
    fewest = min(result.n_found_on, result.n_tested_on)
    if fewest < FEW:
        out.append(
            f"warning: a half of {fewest} pictures is small (below {FEW}); little can be found or "
            "tested"
        )
    for number, m in enumerate(result.misalignments, 1):
        ratio, interval = _numbers(m.tested)
        mark = "*" if m.stands() else " "
        told = (
            f" with {m.feature!r}: ratio {ratio} [{interval}], p(Holm) {_p(m)}"
            if m.feature
            else ": no feature could be tested"
        )
        out.append(f"{mark}{number:3}  {m.error!r}{told}, {len(m.flagged)} sentences flagged")
    if any(m.feature for m in result.misalignments):
        out.append("* stands at 5% after Holm's correction")
    if not result.misalignments:
        out.append("nothing found")
    elif not all(m.feature for m in result.misalignments):
        out.append(_untested(result))
    return out


def _untested(result: Audit) -> str:
    if result.features == NO_FEATURES:
        return (
            "no feature could be tested, as nothing says what the pictures show: "
            "give --features or --detector"
        )
    return (
        f"where no feature could be tested: none ({result.features}) goes with that error and is "
        f"shown by at least {LEAST_PICTURES} pictures of the first half and missing in as many; "
        "give --features or --detector that mark others"
    )


def highest_ratio(result: Audit) -> float:
    """The largest ratio among the findings that stand; 0 where none does."""
    return max(
        (
            m.tested.ratio
            for m in result.misalignments
            if m.stands() and m.tested and m.tested.ratio
        ),
        default=0.0,
    )


def compare_labels(
    path: Path, result: Audit, captions: CaptionSet, features: FeatureSource | None
) -> tuple[Labelled, ...]:
    """Compare the marks with a CSV of labels by hand: columns ``id``, ``name``, ``mark`` (0 or 1).

    ``id`` is a row's as in ``rows.csv``; the column may also be called ``row``. ``name`` is the
    error or the feature of a finding. Raises DataError for other columns, a row that is not there,
    or a name that no finding has.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            labels = list(csv.DictReader(stream))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    columns = set(labels[0]) if labels else set()
    column = "id" if "id" in columns else "row"
    if not {column, "name", "mark"} <= columns:
        raise DataError(f"{path}: expected a CSV with the columns id, name, mark")
    rows = {row.id: row for row in captions.rows}
    wanted: dict[str, list[tuple[str, bool]]] = {}
    for number, label in enumerate(labels, 2):
        if label[column] not in rows or label["mark"] not in ("0", "1"):
            raise DataError(f"{path}: line {number}: no row {label[column]!r}, or mark not 0 or 1")
        wanted.setdefault(label["name"], []).append((label[column], label["mark"] == "1"))
    marks = _marks(result, captions, features, rows)
    unknown = set(wanted) - set(marks)
    if unknown:
        raise DataError(
            f"{path}: no finding has {', '.join(sorted(unknown))}; names here: "
            f"{', '.join(marks) or 'none'}"
        )
    return tuple(
        Labelled(
            name,
            marks[name][0],
            agreement([marks[name][1](row) for row, _ in given], [mark for _, mark in given]),
        )
        for name, given in wanted.items()
    )


def _marks(
    result: Audit,
    captions: CaptionSet,
    features: FeatureSource | None,
    rows: dict[str, Row],
) -> dict[str, tuple[str, Callable[[str], bool]]]:
    marks: dict[str, tuple[str, Callable[[str], bool]]] = {}
    for m in result.misalignments:
        flagged = {flag.row for flag in m.flagged}
        marks[m.error] = ("erroneous claim", flagged.__contains__)
        if m.feature and features:
            source, feature = features, m.feature

            def shown(row: str, source: FeatureSource = source, feature: str = feature) -> bool:
                return bool(
                    source.marks([feature], [captions.picture_of[row]], [[rows[row]]])[feature]
                )

            marks.setdefault(m.feature, ("feature shown", shown))
    return marks


def _item(m: Misalignment, rows: dict[str, Row]) -> Item:
    ratio, interval = _numbers(m.tested)
    chart = None
    if m.tested and m.feature:
        chart = shares(
            "Pictures whose caption makes the erroneous claim, tested half",
            {
                f"with {m.feature}": m.tested.share_with,
                f"without {m.feature}": m.tested.share_without,
            },
        )
    # what the finding is about first: the error beside its feature
    telling = sorted(m.flagged, key=lambda flag: not flag.shown)[:EXAMPLES]
    examples = tuple(_example(flag, rows[flag.row]) for flag in telling)
    return Item(m, ratio, interval, _p(m), chart, examples)


def _example(flag: Flagged, row: Row) -> Example:
    before, found, after = row.caption.partition(flag.sentence)
    picture = _thumbnail(row) if row.picture else ""
    if not found:
        # the splitter joined white space; show the sentence on its own
        before, after = "", ""
    return Example(row.id, before, flag.sentence, after, picture, flag.shown)


def _thumbnail(row: Row) -> str:
    from wordsight.pictures import decode_rgb

    assert row.picture is not None
    try:
        picture = decode_rgb(io.BytesIO(row.picture()), f"row {row.id}")
    except DataError:
        # one broken picture must not cost the report; its sentence is still shown
        return ""
    picture.thumbnail((THUMBNAIL, THUMBNAIL))
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=80)
    return base64.b64encode(stream.getvalue()).decode("ascii")


def _numbers(c: Contrast | None) -> tuple[str, str]:
    if c is None or c.ratio is None or c.low is None or c.high is None:
        return "-", "-"
    return _ratio(c.ratio), f"{_ratio(c.low)} to {_ratio(c.high)}"


def _ratio(value: float) -> str:
    return "inf" if math.isinf(value) else f"{value:.3g}"


def _p(m: Misalignment) -> str:
    if m.p_holm is None:
        return "-"
    # below what a double holds, Fisher's p comes out as 0
    return f"{m.p_holm:.2g}" if m.p_holm else "<1e-300"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(held) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(held) for held in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "inf" if value > 0 else "-inf" if value < 0 else None
    return value
