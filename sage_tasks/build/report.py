"""What a build reports: counts beside the paper's, lexicon figures, everything skipped."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sage_tasks.build import published
from sage_tasks.build.plan import Planned, Skipped
from sage_tasks.lexicons import coverage

# Tables 14 and 15 describe the swapped, unchanged VerSe and no other variant.
MAIN_CONFIGS = ("vwsd", "verse", "wikidiverse")
SPLITS = ("train", "trial", "validation", "test")


def split_counts(planned: Iterable[Planned]) -> dict[str, dict[str, Any]]:
    """Per config and split: items, and negatives by kind, beside Tables 1 and 14."""
    groups: dict[tuple[str, str], list[Planned]] = defaultdict(list)
    for plan in planned:
        groups[plan.item.config, plan.item.split].append(plan)
    counts: dict[str, dict[str, Any]] = {}
    for (config, split), plans in sorted(groups.items(), key=lambda g: SPLITS.index(g[0][1])):
        paper = published.ITEMS.get(config, {}).get(split)
        entry: dict[str, Any] = {"items": len(plans)}
        if paper is not None:
            entry |= {"paper_items": paper, "difference": len(plans) - paper}
        for kind in () if "source" in plans[0].kinds else ("hard", "random"):
            number = sum(plan.kinds.count(kind) for plan in plans)
            entry[f"mean_{kind}_negatives"] = number / len(plans)
        counts.setdefault(config, {})[split] = entry
    return counts


def overall_negatives(planned: Sequence[Planned]) -> dict[str, Any]:
    """Mean negatives over all splits of the main config, beside Table 14; empty for VWSD."""
    plans = [p for p in planned if p.item.config in MAIN_CONFIGS]
    if not plans or "source" in plans[0].kinds:
        return {}
    return {
        "hard": sum(p.kinds.count("hard") for p in plans) / len(plans),
        "random": sum(p.kinds.count("random") for p in plans) / len(plans),
        "paper": published.NEGATIVES.get(plans[0].item.config),
    }


@dataclass(frozen=True)
class SenseCounter:
    """A lexicon as Table 15 sees it: how many senses a term has, of any part of speech.

    splits : splits to measure; None for all. A lexicon with a daily allowance is asked about the
        test split alone.
    """

    name: str
    version: str
    senses: Callable[[str], int]
    splits: tuple[str, ...] | None = None


def lexicon_figures(planned: Iterable[Planned], counter: SenseCounter) -> dict[str, Any]:
    """Coverage (percent of queries with a sense) and mean senses per query, by split."""
    terms: dict[tuple[str, str], list[str]] = defaultdict(list)
    for plan in planned:
        wanted = counter.splits is None or plan.item.split in counter.splits
        if plan.item.config in MAIN_CONFIGS and wanted:
            terms[plan.item.config, plan.item.split].append(plan.item.term)
    figures: dict[str, Any] = {}
    for (config, split), members in terms.items():
        measured = coverage.measure(members, counter.senses)
        figures[split] = {"coverage": measured.percent, "ambiguity": measured.ambiguity}
        paper = coverage.PAPER.get((counter.name, config))
        if split == "test" and paper is not None:
            figures[split]["paper"] = {"coverage": paper[0], "ambiguity": paper[1]}
    return figures


def tag_counts(planned: Iterable[Planned], tag: Callable[[str], str]) -> dict[str, dict[str, int]]:
    """Part of speech of the target per split of VWSD (Table 10), by the given tagger."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for plan in planned:
        if plan.item.config == "vwsd":
            counts[plan.item.split][tag(plan.item.term)] += 1
    return {split: dict(sorted(counter.items())) for split, counter in counts.items()}


def skipped_summary(skipped: Sequence[Skipped]) -> dict[str, Any]:
    """Counts by reason, and every single case with its place."""
    reasons = Counter(f"{skip.what}: {skip.reason}" for skip in skipped)
    return {
        "total": len(skipped),
        "by_reason": dict(reasons.most_common()),
        "cases": [asdict(skip) for skip in skipped],
    }


def readable(report: Mapping[str, Any]) -> str:
    """The report as Markdown for people; the JSON holds the single cases."""
    kind = " (dry run: texts only, no picture was looked at)" if report["dry_run"] else ""
    lines = [f"# Build report: {report['dataset']}{kind}", "", f"Seed {report['seed']}.", ""]
    rows = [
        [
            config,
            split,
            e["items"],
            e.get("paper_items", ""),
            e.get("difference", ""),
            _decimals(e.get("mean_hard_negatives"), 3),
            _decimals(e.get("mean_random_negatives"), 3),
        ]
        for config, splits in report["configs"].items()
        for split, e in splits.items()
    ]
    head = ["config", "split", "items", "paper (Table 1)", "difference", "hard", "random"]
    lines += _table(head, rows)
    negatives = report.get("negatives")
    if negatives and negatives["paper"]:
        paper = negatives["paper"]
        lines += [
            f"Negatives per query over all splits: hard {negatives['hard']:.3f}, random "
            f"{negatives['random']:.3f}; Table 14: {paper['hard']} and {paper['random']}.",
            "",
        ]
    lines += _lexicon_lines(report.get("lexicons", {}))
    if report.get("tags"):
        lines += ["Part of speech of the targets, by WordNet (noun where it has a noun sense):", ""]
        tags = ["NOUN", "PROPN", "VERB", "OTHER"]
        rows = [
            [split, *(counts.get(tag, 0) for tag in tags)]
            for split, counts in report["tags"]["wordnet"].items()
        ]
        rows.append(["paper, test (Table 10)", *(published.VWSD_TEST_TAGS[tag] for tag in tags)])
        lines += _table(["split", *tags], rows)
    lines += _fact_lines(report)
    skipped = report["skipped"]
    lines += [f"Left out: {skipped['total']}; every case with its place is in report.json.", ""]
    lines += _table(["reason", "cases"], [[r, n] for r, n in skipped["by_reason"].items()])
    return "\n".join(lines)


def _lexicon_lines(lexicons: Mapping[str, Any]) -> list[str]:
    rows = []
    for name, entry in lexicons.items():
        for split, figures in entry["splits"].items():
            paper = figures.get("paper") or {}
            rows.append(
                [
                    f"{name} {entry['version']}".strip(),
                    split,
                    _decimals(figures["coverage"], 2),
                    paper.get("coverage", ""),
                    _decimals(figures["ambiguity"], 2),
                    paper.get("ambiguity", ""),
                ]
            )
    head = ["lexicon", "split", "coverage %", "Table 15", "mean senses", "Table 15"]
    return _table(head, rows) if rows else []


def _fact_lines(report: Mapping[str, Any]) -> list[str]:
    lines = [f"- {name.replace('_', ' ')}: {value}" for name, value in report["facts"].items()]
    if report.get("pictures"):
        lines += [
            f"- pictures, {name.replace('_', ' ')}: {value}"
            for name, value in report["pictures"].items()
        ]
    lines += [f"- {note}" for note in report.get("notes", [])]
    return [*lines, ""] if lines else []


def _decimals(value: float | None, places: int) -> str:
    return "" if value is None else f"{value:.{places}f}"


def _table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> list[str]:
    if not rows:
        return []
    cells = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(map(str, row)) + " |" for row in cells] + [""]
