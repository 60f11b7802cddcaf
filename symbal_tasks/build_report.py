"""What a SymbalBench build says about itself: counts, Figures 6 and 7, sizes, dataset card."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from symbal_tasks.charts import Chart, counted, histogram, render
from symbal_tasks.records import Domain, Setting, Skipped
from symbal_tasks.store import Written
from symbal_tasks.view import Benchmark

_SHARES = [x / 20 for x in range(21)]


@dataclass(frozen=True)
class BuildReport:
    """Facts by name, charts, and everything left out with the reason."""

    domain: str
    facts: dict[str, str | int | float]
    charts: tuple[Chart, ...]
    skipped_rows: dict[str, int]
    skipped_settings: tuple[Skipped, ...]


def build_report(
    domain: Domain, settings: Sequence[Setting], skipped: Sequence[Skipped], written: Written
) -> BuildReport:
    """Describe a build; the charts are those of the paper's Figures 6 and 7."""
    strengths = Counter(f"{s.strength:g}" for s in settings)
    charts = [
        counted("Pairs of picture and caption per setting", _size_counts(settings)),
        counted("Settings by wanted Cramer's V", dict(sorted(strengths.items()))),
        histogram(
            "Share of captions with the injected error t",
            [len(s.rows) / s.n for s in settings],
            _SHARES,
        ),
        histogram("Share of pictures with the feature v", [s.n_v / s.n for s in settings], _SHARES),
    ]
    sizes = [s.feature_size for s in settings if s.feature_size is not None]
    if sizes:
        charts.append(
            histogram("Mean share of the picture that v's largest box takes", sizes, _SHARES)
        )
    kinds = Counter(kind for s in settings for kind in s.kinds)
    charts.append(
        counted("How t was sampled (a setting may count twice)", dict(sorted(kinds.items())))
    )
    gaps = [abs(s.achieved - s.strength) for s in settings]
    facts: dict[str, str | int | float] = {
        "fingerprint": written.fingerprint,
        "base pairs": len(domain.rows),
        "settings": len(settings),
        "settings not reachable": len(skipped),
        "pairs over all settings": sum(s.n for s in settings),
        "injected sentences": sum(len(s.rows) for s in settings),
        "largest |achieved V - wanted V|": round(max(gaps, default=0.0), 5),
        "bytes without pictures": written.data_bytes,
        "bytes of pictures": written.picture_bytes,
        "pictures missing": len(written.missing_pictures),
        **{f"option {key}": str(value) for key, value in domain.recipe.items()},
    }
    return BuildReport(domain.name, facts, tuple(charts), dict(domain.skipped), tuple(skipped))


def write_report(report: BuildReport, root: Path) -> tuple[Path, Path]:
    """Write ``report_<domain>.json``, a page beside it that opens offline, and ``report.json``.

    The last holds the name under which tasks look for the dataset: what ``wordsight push`` pins.
    """
    head = {
        "dataset": f"symbalbench_{report.domain}",
        "fingerprint": report.facts["fingerprint"],
        "report": f"report_{report.domain}.json",
    }
    (root / "report.json").write_text(json.dumps(head, indent=2) + "\n", encoding="utf-8")
    as_json = root / f"report_{report.domain}.json"
    as_json.write_text(json.dumps(asdict(report), indent=2) + "\n", encoding="utf-8")
    page = root / f"report_{report.domain}.html"
    page.write_text(render("benchmark.html.j2", report=report), encoding="utf-8")
    return as_json, page


def expanded_size(benchmark: Benchmark, folder: Path) -> int:
    """Bytes that the same settings take as one zstd Parquet file each, without pictures.

    Each file holds id, caption and reference of every row; it is written to ``folder``, measured
    and removed, so that a full build needs no room for all of them at once.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    total = 0
    ids = [row.id for row in benchmark.stored.rows]
    references = [row.reference for row in benchmark.stored.rows]
    path = folder / "setting.parquet"
    for setting in benchmark.settings:
        columns = {"id": ids, "caption": benchmark.captions(setting), "reference": references}
        pq.write_table(pa.table(columns), path, compression="zstd")
        total += path.stat().st_size
        path.unlink()
    return total


def write_card(root: Path) -> Path:
    """Write the dataset card (README.md) over every domain that the folder holds."""
    domains = sorted(path.stem for path in (root / "settings").glob("*.parquet"))
    configs = []
    for config in ("settings", "base", "sentences", "images"):
        pattern = "-*.parquet" if config == "images" else ".parquet"
        held = [d for d in domains if list((root / config).glob(f"{d}{pattern}"))]
        if held:
            configs.append((config, [(d, f"{config}/{d}{pattern}") for d in held]))
    manifests = [json.loads((root / f"{d}.json").read_text(encoding="utf-8")) for d in domains]
    path = root / "README.md"
    path.write_text(
        render("card.md.j2", configs=configs, manifests=manifests, medical="medical" in domains),
        encoding="utf-8",
    )
    return path


def _size_counts(settings: Sequence[Setting]) -> dict[str, int]:
    counts = Counter(s.n for s in settings)
    return {f"{size:,}": counts[size] for size in sorted(counts)}
