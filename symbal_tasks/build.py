"""``wordsight build symbalbench``: sources in, benchmark folder and report out."""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol, get_args

from symbal_tasks.build_report import build_report, expanded_size, write_card, write_report
from symbal_tasks.coco import (
    Annotated,
    Eligible,
    file_hash,
    natural_domain,
    pair_kinds,
    read_coco,
    sample_pairs,
)
from symbal_tasks.records import Domain, Pair
from symbal_tasks.settings import make_settings, paper_pairs
from symbal_tasks.store import write_benchmark
from symbal_tasks.view import open_benchmark
from wordsight.errors import DataError


class Sources(Protocol):
    """Source files of one domain."""

    def load(self, pairs: str, seed: int) -> tuple[Domain, tuple[Pair, ...]]:
        """Read the files: the base, and the pairs to inject ('paper', 'sample' or a CSV)."""
        ...

    def other_rules(self, chosen: Sequence[Pair], seed: int) -> Iterator[tuple[str, Domain]]:
        """The base under each other rule for "t is already present", for comparison."""
        ...


@dataclass(frozen=True)
class NaturalSources:
    """COCO files and the rule for "t is already present"."""

    instances: Path | None
    captions: Path | None
    train_instances: Path | None = None
    eligible: Eligible = "boxes"

    def load(self, pairs: str, seed: int) -> tuple[Domain, tuple[Pair, ...]]:
        """Read COCO. Raises DataError when a file is missing, damaged or not named."""
        if self.instances is None or self.captions is None:
            raise DataError(
                "--domain natural needs --instances and --captions (COCO's "
                "instances_val2017.json and captions_val2017.json)"
            )
        pictures = self._pictures
        train = read_coco(self.train_instances) if self.train_instances else ()
        chosen = _natural_pairs(pairs, pictures, train, seed)
        recipe: dict[str, object] = {
            "pairs": pairs_source(pairs),
            "instances": file_hash(self.instances),
            "captions": file_hash(self.captions),
        }
        if self.train_instances:
            recipe["train_instances"] = file_hash(self.train_instances)
        domain = natural_domain(
            pictures,
            [pair.t for pair in chosen],
            eligible=self.eligible,
            seed=seed,
            recipe=recipe,
        )
        if not domain.rows:
            raise DataError(
                f"{self.instances}: no picture is left for the base ({dict(domain.skipped)}); do "
                "both files belong to the same release?"
            )
        return domain, chosen

    def other_rules(self, chosen: Sequence[Pair], seed: int) -> Iterator[tuple[str, Domain]]:
        """The base under the rules that were not asked for."""
        for rule in get_args(Eligible):
            if rule != self.eligible:
                errors = [pair.t for pair in chosen]
                yield rule, natural_domain(self._pictures, errors, eligible=rule, seed=seed)

    @cached_property
    def _pictures(self) -> tuple[Annotated, ...]:
        assert self.instances is not None
        return read_coco(self.instances, self.captions)


def build(
    sources: Sources,
    out: Path,
    *,
    images: Path | None = None,
    pairs: str = "paper",
    tolerance: float = 0.02,
    seed: int = 0,
    place: Literal["last", "random"] = "last",
    compare_size: bool = False,
) -> Iterator[str]:
    """Build a domain into ``out`` and yield the lines that tell the user about it.

    Raises DataError for unusable sources.
    """
    started = time.monotonic()
    domain, chosen = sources.load(pairs, seed)
    settings, skipped = make_settings(domain, chosen, tolerance=tolerance, seed=seed, place=place)
    written = write_benchmark(out, domain, settings, images)
    report = build_report(domain, settings, skipped, written)
    _, page = write_report(report, out)
    write_card(out)
    for name, value in report.facts.items():
        yield f"{name}: {value}"
    for reason, count in report.skipped_rows.items():
        yield f"left out of the base: {count} ({reason})"
    yield f"built in {time.monotonic() - started:.1f} s; report: {page}"
    for rule, other in sources.other_rules(chosen, seed):
        reachable, _ = make_settings(other, chosen, tolerance=tolerance, seed=seed, place=place)
        yield f"settings with --eligible {rule}: {len(reachable)}"
    if compare_size:
        with tempfile.TemporaryDirectory() as folder:
            full = expanded_size(open_benchmark(out, domain.name), Path(folder))
        yield (
            f"the same settings as zstd Parquet files without pictures: {full} bytes, "
            f"{full / written.data_bytes:.0f} times as many"
        )


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """Read pairs from a CSV with columns t and v; DataError names the file and line."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; --pairs takes 'paper', 'sample' or a CSV") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text ({error})") from None
    for number, row in enumerate(rows, 2):
        if not row.get("t") or not row.get("v") or row["t"] == row["v"]:
            raise DataError(f"{path}: line {number}: t and v must both be there and differ")
    if not rows:
        raise DataError(f"{path}: holds no pair; expected a CSV with the columns t,v")
    return tuple(Pair(row["t"], row["v"]) for row in rows)


def pairs_source(pairs: str) -> str:
    """What the recipe says: 'paper', 'sample', or a file by its name and hash, not its folder."""
    if pairs in ("paper", "sample"):
        return pairs
    return f"{Path(pairs).name} {file_hash(Path(pairs))}"


def _natural_pairs(
    wanted: str, pictures: Sequence[Annotated], train: Sequence[Annotated], seed: int
) -> tuple[Pair, ...]:
    if wanted == "sample":
        if not train:
            raise DataError("--pairs sample needs --train-instances (instances_train2017.json)")
        features = sorted({name for picture in pictures for name in picture.big()})
        return sample_pairs(features, train, seed)
    chosen = paper_pairs("natural") if wanted == "paper" else read_pairs(Path(wanted))
    return pair_kinds(chosen, train) if train else chosen
