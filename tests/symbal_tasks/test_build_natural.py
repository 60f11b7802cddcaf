"""The natural build, from files to a dataset that can be looked at."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats.contingency import association

from symbal_tasks.build import NaturalSources, build, read_pairs
from symbal_tasks.coco import natural_domain, pair_kinds, read_coco, sample_pairs
from symbal_tasks.records import Pair
from symbal_tasks.settings import make_settings, paper_pairs
from symbal_tasks.view import open_benchmark
from tests.symbal_tasks.fixtures import LICENCE, Release
from wordsight.errors import DataError


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text("t,v\nskis,dog\ncar,umbrella\n")
    return path


@pytest.fixture
def built(coco_release: Release, pairs_file: Path, tmp_path: Path) -> Path:
    sources = NaturalSources(coco_release.instances, coco_release.captions)
    out = tmp_path / "built"
    list(build(sources, out, images=coco_release.images, pairs=str(pairs_file), tolerance=0.1))
    return out


def test_base_follows_the_rules(coco_release: Release) -> None:
    domain = natural_domain(read_coco(coco_release.instances, coco_release.captions), ["skis"])
    raw = json.loads(coco_release.instances.read_text())
    big = {a["image_id"] for a in raw["annotations"] if a["bbox"][2] * a["bbox"][3] >= 0.05 * 8000}
    assert {int(row.id) for row in domain.rows} == big - {4}
    assert sum(domain.skipped.values()) == 60 - len(domain.rows)
    for row in domain.rows:
        assert len(row.caption) == 2
        assert all(sentence.endswith(".") for sentence in row.caption)
        assert len(re.findall(r"\.", row.reference)) == 3
        assert not set(row.caption) & set(re.split(r"(?<=\.) ", row.reference))
        assert row.licence == LICENCE


@pytest.mark.parametrize("eligible", ["boxes", "boxes+words", "strict"])
def test_stricter_rules_count_more_as_present(coco_release: Release, eligible: str) -> None:
    pictures = read_coco(coco_release.instances, coco_release.captions)
    boxes = natural_domain(pictures, ["car"])
    other = natural_domain(pictures, ["car"], eligible=eligible)  # type: ignore[arg-type]
    assert boxes.present["car"] <= other.present["car"]
    small = {i for i, row in enumerate(boxes.rows) if int(row.id) % 5 == 0}
    assert (small <= other.present["car"]) is (eligible == "strict")


def test_a_setting_holds_what_it_says(built: Path, coco_release: Release) -> None:
    benchmark = open_benchmark(built, "natural")
    assert benchmark.settings
    for setting in benchmark.settings:
        rows = benchmark.stored.rows
        dataset = benchmark.dataset(setting)
        spoiled = np.array(
            [
                text != " ".join(row.caption)
                for text, row in zip(dataset["caption"], rows, strict=True)
            ]
        )
        shows = np.array([setting.v in row.features for row in rows])
        table = np.array(
            [[(spoiled & shows).sum(), (~spoiled & shows).sum()],
             [(spoiled & ~shows).sum(), (~spoiled & ~shows).sum()]]
        )  # fmt: skip
        assert association(table, method="cramer") == pytest.approx(setting.achieved)
        assert abs(setting.achieved - setting.strength) <= 0.1
        assert table[0, 0] == setting.with_v
        for number in np.flatnonzero(spoiled):
            assert setting.t not in rows[number].features
            added = dataset["caption"][number].removeprefix(" ".join(rows[number].caption))
            assert setting.t in added


def test_pictures_are_decoded_only_when_looked_at(built: Path, tmp_path: Path) -> None:
    benchmark = open_benchmark(built, "natural")
    dataset = benchmark.dataset(benchmark.settings[0])
    assert dataset.column_names == ["id", "image", "caption", "reference"]
    row = dataset[5]
    assert row["image"].size == (100, 80)
    # the colour tells the picture: red = 4 x id
    red, _, _ = row["image"].getpixel((50, 40))
    assert abs(red - 4 * int(row["id"])) <= 3
    without = benchmark.dataset(benchmark.settings[0], references=False)
    assert without.column_names == ["id", "image", "caption"]
    for shard in (built / "images").iterdir():
        shard.unlink()
    assert open_benchmark(built, "natural").dataset(benchmark.settings[0])[5]["image"] is None


def test_build_repeats_bit_for_bit(built: Path, coco_release: Release, tmp_path: Path) -> None:
    again = tmp_path / "again"
    sources = NaturalSources(coco_release.instances, coco_release.captions)
    pairs = str(tmp_path / "pairs.csv")
    list(build(sources, again, images=coco_release.images, pairs=pairs, tolerance=0.1))
    files = sorted(p.relative_to(built) for p in built.rglob("*.parquet"))
    assert len(files) == 4
    for file in files:
        assert (built / file).read_bytes() == (again / file).read_bytes(), file
    other = tmp_path / "other"
    list(build(sources, other, pairs=pairs, tolerance=0.1, seed=1))
    assert (
        open_benchmark(other, "natural").stored.manifest["fingerprint"]
        != open_benchmark(built, "natural").stored.manifest["fingerprint"]
    )


def test_random_place_keeps_the_sentences(
    coco_release: Release, pairs_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "placed"
    sources = NaturalSources(coco_release.instances, coco_release.captions)
    list(build(sources, out, pairs=str(pairs_file), tolerance=0.1, place="random"))
    benchmark = open_benchmark(out, "natural")
    assert {place for s in benchmark.settings for place in s.places} == {0, 1, 2}
    setting = benchmark.settings[0]
    captions = benchmark.captions(setting)
    for row, sentence in zip(setting.rows, setting.sentences, strict=True):
        parts = [*benchmark.stored.rows[row].caption, benchmark.stored.sentences[sentence]]
        assert sorted(captions[row].split()) == sorted(" ".join(parts).split())


def test_report_lists_what_was_left_out(built: Path) -> None:
    report = json.loads((built / "report_natural.json").read_text())
    listed = report["facts"]["settings"] + report["facts"]["settings not reachable"]
    assert listed == 6
    assert all(entry["reason"] for entry in report["skipped_settings"])
    page = (built / "report_natural.html").read_text()
    assert not re.findall(r"(?:src|href)=", page)
    assert "Cramer" in page
    assert "data_files" in (built / "README.md").read_text()


def test_build_says_how_many_settings_the_other_rules_leave(
    coco_release: Release, pairs_file: Path, tmp_path: Path
) -> None:
    def counts(rule: str) -> dict[str, int]:
        sources = NaturalSources(coco_release.instances, coco_release.captions, None, rule)  # type: ignore[arg-type]
        lines = list(build(sources, tmp_path / rule, pairs=str(pairs_file), tolerance=0.1))
        said = [re.fullmatch(r"settings(?: with --eligible (\S+))?: (\d+)", x) for x in lines]
        return {match[1] or rule: int(match[2]) for match in said if match}

    asked = [counts(rule) for rule in ("boxes", "boxes+words", "strict")]
    assert set(asked[0]) == {"boxes", "boxes+words", "strict"}
    assert asked[0] == asked[1] == asked[2]
    assert asked[0]["boxes"] > 0


def test_kinds_come_from_training_counts(coco_release: Release) -> None:
    train = read_coco(coco_release.instances)
    marked = pair_kinds([Pair("person", "dog"), Pair("zebra", "dog")], train)
    assert "popular" in marked[0].kinds
    assert marked[1].kinds == ("random",)
    sampled = sample_pairs(["dog", "car"], train)
    assert {kind for pair in sampled for kind in pair.kinds} == {"random", "popular", "adversarial"}
    assert all(pair.t != pair.v for pair in sampled)
    together = {
        name: sum(name in p.shares for p in train if "dog" in p.shares)
        for name in ("person", "umbrella", "skis", "car")
    }
    adversarial = next(p.t for p in sampled if p.v == "dog" and "adversarial" in p.kinds)
    assert together[adversarial] == max(together.values())


def test_bad_input_is_named(coco_release: Release, tmp_path: Path) -> None:
    broken = tmp_path / "cut.json"
    broken.write_bytes(coco_release.instances.read_bytes()[:500])
    with pytest.raises(DataError, match=r"cut\.json: not JSON"):
        read_coco(broken)
    with pytest.raises(DataError, match="no categories"):
        read_coco(coco_release.captions)
    with pytest.raises(DataError, match="no such file"):
        read_coco(tmp_path / "nothing.json")
    with pytest.raises(DataError, match="--instances and --captions"):
        NaturalSources(None, None).load("paper", 0)
    with pytest.raises(DataError, match="train-instances"):
        NaturalSources(coco_release.instances, coco_release.captions).load("sample", 0)
    pairs = tmp_path / "bad.csv"
    pairs.write_text("t,v\ncar,dog\ncar,car\n")
    with pytest.raises(DataError, match=r"bad\.csv: line 3"):
        read_pairs(pairs)


def test_a_damaged_build_is_refused(built: Path) -> None:
    with pytest.raises(DataError, match="wordsight build symbalbench"):
        open_benchmark(built, "medical")
    benchmark = open_benchmark(built, "natural")
    with pytest.raises(DataError, match=r"close: natural__skis__dog__0\.3"):
        benchmark.setting("natural__ski__dog__0.3")
    manifest = json.loads((built / "natural.json").read_text())
    (built / "natural.json").write_text(json.dumps(manifest | {"fingerprint": "0" * 20}))
    with pytest.raises(DataError, match="different builds"):
        open_benchmark(built, "natural")
    (built / "natural.json").write_text(json.dumps(manifest | {"format": 99}))
    with pytest.raises(DataError, match="format 99"):
        open_benchmark(built, "natural")


@pytest.mark.shared_data
def test_paper_counts_on_the_real_annotations(shared: Path) -> None:
    coco = shared / "data" / "coco"
    pictures = read_coco(coco / "instances_val2017.json", coco / "captions_val2017.json")
    pairs = paper_pairs("natural")
    assert len(pairs) == 131
    domain = natural_domain(pictures, [pair.t for pair in pairs])
    settings, skipped = make_settings(domain, pairs, tolerance=0.02)
    assert len(domain.rows) == 4350
    assert len(settings) == 360
    assert len(skipped) == 33
    assert all(abs(s.achieved - s.strength) <= 0.02 for s in settings)
    assert sum(s.n for s in settings) == 1_566_000
