"""The audit: planted errors are found, null sets are left in peace, the report opens offline."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from symbal_tasks.audit.audit import Audit, AuditOptions, audit, halves
from symbal_tasks.audit.calibrate import calibrate
from symbal_tasks.audit.captions import CaptionSet, read_captions
from symbal_tasks.audit.features import ReferenceFeatures, TableFeatures, read_features
from symbal_tasks.audit.report import as_json, compare_labels, highest_ratio, lines, write_audit
from symbal_tasks.audit.usable import usable
from symbal_tasks.backends import Row
from symbal_tasks.cache import ContentCache
from symbal_tasks.cli import app
from symbal_tasks.compositions import compose, needs, spec
from symbal_tasks.symbal import Composition, Options
from tests.symbal_tasks.chat_server import Script, serve
from tests.symbal_tasks.planted import PLANTED, Plant, plant
from tests.symbal_tasks.test_symbal import planted as beaches
from wordsight.errors import DataError

QUICK = AuditOptions(
    findings=3,
    symbal=Options(second="everywhere", sweep=(4, 6, 8), everywhere_sweep=(2, 4), min_share=0.01),
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache") / "c.sqlite"


@pytest.fixture(scope="module")
def offline(cache: Path) -> Composition:
    return compose(spec("offline"), ContentCache(cache))


def _set(rows: Sequence[Row]) -> CaptionSet:
    return CaptionSet(tuple(rows), {row.id: f"{row.id}.jpg" for row in rows})


def _table(rows: Sequence[Row]) -> TableFeatures:
    words = ("beach", "kitchen", "giraffe", "street")
    shown = {
        f"{row.id}.jpg": frozenset(word for word in words if word in row.reference.lower())
        for row in rows
    }
    return TableFeatures(shown, words)


@pytest.fixture(scope="module")
def found(offline: Composition) -> Audit:
    rows = beaches(200)
    return audit(_set(rows), offline, _table(rows), QUICK)


def test_planted_error_is_found_and_its_ratio_is_the_planted_one(found: Audit) -> None:
    top = found.misalignments[0]
    assert (top.error, top.feature) == ("umbrella", "beach")
    assert top.stands()
    rows = beaches(200)
    _, second = halves([f"{row.id}.jpg" for row in rows], QUICK.seed)
    on_half = [row for row in rows if f"{row.id}.jpg" in set(second)]
    for group, c in ((on_half, top.tested), (rows, top.everywhere)):
        assert c is not None
        wrong = [("umbrella" in row.caption, "beach" in row.reference.lower()) for row in group]
        assert c.errors_with == sum(e and v for e, v in wrong)
        assert c.n_with == sum(v for _, v in wrong)
        assert c.errors_without == sum(e and not v for e, v in wrong)
        assert c.n_without == sum(not v for _, v in wrong)
    assert highest_ratio(found) == top.tested.ratio if top.tested else False


def test_pictures_are_the_unit(offline: Composition) -> None:
    rows = beaches(120)
    twice = [*rows, *(Row(f"{row.id}b", row.caption, row.reference) for row in rows)]
    captions = CaptionSet(tuple(twice), {row.id: f"{row.id.rstrip('b')}.jpg" for row in twice})
    double = audit(captions, offline, _table(rows), QUICK).misalignments[0]
    single = audit(_set(rows), offline, _table(rows), QUICK).misalignments[0]
    assert double.tested == single.tested
    assert double.p_holm == single.p_holm


def test_halves_share_no_picture() -> None:
    keys = [str(k) for k in range(101)]
    first, second = halves(keys, 0)
    assert not set(first) & set(second)
    assert len(first) == 51
    assert halves(keys[::-1], 0) == (first, second)
    assert halves(keys, 1) != (first, second)


def test_sample_and_missing_features(offline: Composition) -> None:
    rows = beaches(200)
    options = AuditOptions(findings=1, sample=60, symbal=QUICK.symbal)
    result = audit(_set(rows), offline, None, options)
    assert result.n_pictures == 60
    assert result.misalignments[0].tested is None
    assert not result.misalignments[0].stands()
    by_words = audit(_set(rows), offline, ReferenceFeatures(), QUICK).misalignments[0]
    assert by_words.feature is not None
    assert by_words.stands()


@pytest.mark.parametrize("captions", [["A dog."], ["A dog.", "A cat.", "A bird."]])
def test_too_few_pictures_are_an_error(offline: Composition, captions: list[str]) -> None:
    rows = [Row(str(k), text, "A cat.") for k, text in enumerate(captions)]
    with pytest.raises(DataError, match="too few"):
        audit(_set(rows), offline, None, QUICK)


def test_equal_captions_give_no_false_finding(offline: Composition) -> None:
    rows = [Row(str(k), "A dog.", "A dog." if k % 2 else "A beach.") for k in range(40)]
    result = audit(_set(rows), offline, _table(rows), QUICK)
    assert len(result.misalignments) <= 1
    write = lines(result)
    assert "40 captions of 40 pictures" in write[0]


def test_report_opens_offline(found: Audit, tmp_path: Path) -> None:
    rows = [Row(r.id, r.caption + " <script>alert(1)</script>", r.reference) for r in beaches(200)]
    page = write_audit(found, _set(rows), tmp_path / "out")
    text = page.read_text()
    assert not re.findall(r'(?:src|href)="(?!data:|#)', text)
    assert "<script>" not in text
    assert "<mark>" in text
    written = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert written == json.loads(json.dumps(as_json(found)))
    assert written["misalignments"][0]["stands"] is True
    listed = list(csv.DictReader((tmp_path / "out" / "rows.csv").open()))
    sentences = {(f.row, f.sentence) for m in found.misalignments for f in m.flagged}
    assert {(row["id"], row["sentence"]) for row in listed} == sentences
    assert len(listed) == len(sentences)
    assert {row["error"] for row in listed} >= {"umbrella"}
    beach = {r.id for r in rows if "beach" in r.reference.lower()}
    for row in listed:
        if row["feature"] == "beach":
            assert row["shown"] == str(int(row["id"] in beach))
    # the first examples are those with the feature; small screens and dark ones are provided for
    first = re.search(r"<figcaption>.*?</figcaption>", text, re.DOTALL)
    assert first is not None
    assert ", with beach" in first.group()
    assert "prefers-color-scheme: dark" in text
    assert text.count('<div class="wide"><table>') == text.count("<table>")


def test_labels_by_hand_give_kappa(found: Audit, tmp_path: Path) -> None:
    rows = beaches(200)
    captions, table = _set(rows), _table(rows)
    path = tmp_path / "labels.csv"
    picked = random.Random(0).sample(rows, 60)
    given = [(row.id, "umbrella", int("umbrella" in row.caption)) for row in picked]
    given += [(row.id, "beach", int("beach" in row.reference.lower())) for row in picked]
    flipped = [(i, n, 1 - m if k < 3 else m) for k, (i, n, m) in enumerate(given)]
    path.write_text("row,name,mark\n" + "".join(f"{i},{n},{m}\n" for i, n, m in flipped))
    by_row = compare_labels(path, found, captions, table)
    path.write_text("id,name,mark\n" + "".join(f"{i},{n},{m}\n" for i, n, m in flipped))
    first, second = compare_labels(path, found, captions, table)
    assert by_row == (first, second)
    assert first.agreement.share == pytest.approx(57 / 60)
    assert first.kind == "erroneous claim"
    assert second.agreement.kappa == 1.0
    path.write_text("row,name,mark\n0,kite,1\n")
    with pytest.raises(DataError, match="no finding has kite"):
        compare_labels(path, found, captions, table)
    path.write_text("row,name,mark\nnowhere,umbrella,1\n")
    with pytest.raises(DataError, match="line 2"):
        compare_labels(path, found, captions, table)


def test_null_sets_are_left_in_peace(offline: Composition) -> None:
    rows = beaches(80)
    result = calibrate(_set(rows), offline, _table(rows), QUICK, sets=20)
    assert result.sets == 20
    assert result.low <= 0.05
    # the same captions with their own features would be flagged every time
    assert result.alarms <= 4


def _files(folder: Path, rows: Sequence[Row]) -> tuple[Path, Path]:
    captions, features = folder / "c.jsonl", folder / "f.csv"
    captions.write_text(
        "".join(
            json.dumps({"image": f"{r.id}.jpg", "caption": r.caption, "reference": r.reference})
            + "\n"
            for r in rows
        )
    )
    table = _table(rows)
    features.write_text(
        "image,feature\n"
        + "".join(
            f"{k},{v}\n" for k, shown in table.by_picture.items() for v in sorted(shown) or [""]
        )
    )
    return captions, features


def test_command_and_its_exit_code(tmp_path: Path, cache: Path) -> None:
    captions, features = _files(tmp_path, beaches(200))
    arguments = ["audit", "--captions", captions, "--features", features, "--k", 3]
    arguments += ["--report", tmp_path / "out", "--cache", cache]
    run = CliRunner()
    result = run.invoke(app, [*map(str, arguments), "--fail-above", "2"])
    assert result.exit_code == 4, result.output
    assert "'umbrella' with 'beach'" in result.output
    assert run.invoke(app, [*map(str, arguments), "--fail-above", "10000"]).exit_code == 0
    assert (tmp_path / "out" / "index.html").is_file()
    both = run.invoke(app, [*map(str, arguments), "--detector", "x"])
    assert "not both" in str(both.exception)
    neither = run.invoke(app, ["audit"])
    assert "--captions FILE or --hub" in str(neither.exception)


def test_captions_made_by_a_server_can_be_audited(tmp_path: Path, cache: Path) -> None:
    from PIL import Image

    folder = tmp_path / "pictures"
    folder.mkdir()
    for k in range(5):
        Image.new("RGB", (4, 4), (k, 0, 0)).save(folder / f"{k}.png")
    script = Script()
    arguments = ["caption", "--images", folder, "--model", "m", "--out", tmp_path / "c.jsonl"]
    with serve(script) as url:
        words = [*map(str, arguments), "--server", url, "--cache", str(tmp_path / "c.sqlite")]
        assert CliRunner().invoke(app, words).exit_code == 0
        assert CliRunner().invoke(app, words).exit_code == 0
    assert len(script.requests) == 5
    assert len(read_captions(tmp_path / "c.jsonl", folder).rows) == 5


def test_a_sentence_of_two_findings_is_listed_once(found: Audit, tmp_path: Path) -> None:
    top = found.misalignments[0]
    both = replace(found, misalignments=(top, replace(top, error="parasol", feature=None)))
    write_audit(both, _set(beaches(200)), tmp_path)
    listed = list(csv.DictReader((tmp_path / "rows.csv").open()))
    assert len(listed) == len({(flag.row, flag.sentence) for flag in top.flagged})
    assert {(row["finding"], row["error"]) for row in listed} == {("1; 2", "umbrella; parasol")}


def test_what_could_not_be_tested_is_said(offline: Composition) -> None:
    options = replace(QUICK, sample=60)
    told = "\n".join(lines(audit(_set(beaches(200)), offline, None, options)))
    assert "nothing says what the pictures show: give --features or --detector" in told
    assert "p(Holm)" not in told
    assert "warning" not in told
    few = lines(audit(_set(beaches(30)), offline, None, QUICK))
    assert "half of 15 pictures" in few[1]
    rare = TableFeatures({f"{row.id}.jpg": frozenset() for row in beaches(200)}, ("lion",))
    told = lines(audit(_set(beaches(200)), offline, rare, options))[-1]
    assert "none (table of 1 features" in told
    assert "give --features or --detector" in told
    right = [Row(str(k), "A dog.", "A dog.") for k in range(60)]
    clean = lines(audit(_set(right), offline, ReferenceFeatures(), QUICK))
    assert clean[-1] == "nothing found"
    assert not any("warning" in line for line in clean)


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("audit", "--fail-above", "nan"),
        ("audit", "--fail-above", "inf"),
        ("audit", "--fail-above", "-1"),
        ("audit", "--fail-above", "0"),
        ("audit", "--threshold", "nan"),
        ("audit", "--threshold", "7"),
        ("audit-null", "--threshold", "-0.1"),
        ("symbal", "--sweep", "0,-3"),
        ("symbal", "--sweep", "1"),
        ("symbal", "--sweep", "many"),
        ("symbal", "--methods", "symbal,symbal"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    command: str, option: str, value: str, tmp_path: Path
) -> None:
    needed = {
        "audit": ["--captions", "c.csv"],
        "audit-null": ["--captions", "c.csv", "--features", "f.csv"],
        "symbal": ["--benchmark", str(tmp_path)],
    }
    result = CliRunner().invoke(app, [command, *needed[command], option, value])
    assert result.exit_code == 2, result.output
    assert option in result.output


def test_what_is_no_picture_is_not_sent(tmp_path: Path) -> None:
    from PIL import Image

    folder = tmp_path / "pictures"
    folder.mkdir()
    Image.new("RGB", (4, 4)).save(folder / "good.png")
    (folder / "inside.png").symlink_to(folder / "good.png")
    Image.new("RGB", (4, 4)).save(tmp_path / "private.png")
    (folder / "secret.jpg").symlink_to(tmp_path / "private.png")
    (folder / "text.jpg").write_text("not a picture")
    (folder / "empty.jpg").touch()
    (folder / "folder.jpg").mkdir()
    (folder / "gone.jpg").symlink_to(folder / "nothing")
    script = Script()
    words = ["caption", "--images", str(folder), "--model", "m", "--cache", str(tmp_path / "c")]
    with serve(script) as url:
        words += ["--server", url, "--out", str(tmp_path / "c.jsonl")]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        held = [json.loads(line)["image"] for line in (tmp_path / "c.jsonl").open()]
        assert held == ["good.png", "inside.png"]
        assert "left out: 2 (no picture): empty.jpg, text.jpg" in result.output
        assert "left out: 1 (not a file): folder.jpg" in result.output
        assert "left out: 1 (link out of the folder): secret.jpg" in result.output
        for name in held:
            (folder / name).unlink()
        alone = CliRunner().invoke(app, words)
    assert isinstance(alone.exception, DataError)
    assert "text.jpg" in str(alone.exception)
    # both names hold the same bytes, so one question was asked
    assert len(script.requests) == 1


def test_bad_rows_do_not_end_an_audit(tmp_path: Path, cache: Path) -> None:
    rows = beaches(40)
    captions, features = _files(tmp_path, [replace(rows[0], reference=""), *rows[1:]])
    arguments = ["audit", "--captions", captions, "--features", features, "--k", 1]
    arguments += ["--report", tmp_path / "out", "--cache", cache]
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    assert "left out: 1 (no reference)" in result.output
    assert "39 captions of 39 pictures" in result.output


def test_only_what_a_composition_needs_is_checked() -> None:
    from PIL import Image

    stream = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(stream, "PNG")
    good = stream.getvalue()
    rows = [
        Row("good", "A.", "A.", lambda: good),
        Row("cut", "A.", "A.", lambda: good[:-200]),
        Row("bare", "A.", "A."),
        Row("unread", "A.", "", lambda: good),
    ]
    store = ContentCache()

    def kept(name: str, **parts: str) -> tuple[list[str], dict[str, int]]:
        found = usable(_set(rows), needs(spec(name, **parts)), store)
        return [row.id for row in found.rows], dict(found.skipped)

    assert kept("offline") == (["good", "cut", "bare"], {"no reference": 1})
    assert kept("offline_pictures") == (
        ["good"],
        {"picture cannot be decoded": 1, "no picture": 1, "no reference": 1},
    )
    made = {"scorer": "text:m", "captioner": "vision:m", "pictures": "clip:m"}
    assert kept("offline_pictures", **made)[0] == ["good", "unread"]
    with pytest.raises(DataError, match=r"left out: 1 \(no picture\)"):
        usable(_set(rows[2:3]), needs(spec("offline_pictures")), store)


@pytest.fixture(scope="module")
def mini(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Plant:
    return plant(shared / "data" / "coco" / "mini", tmp_path_factory.mktemp("mini"))


@pytest.mark.shared_data
def test_two_planted_errors_among_real_pictures(mini: Plant, cache: Path, tmp_path: Path) -> None:
    captions = read_captions(mini.captions, mini.images)
    composition = compose(spec("offline_pictures"), ContentCache(cache))
    features = read_features(mini.features)
    result = audit(captions, composition, features, AuditOptions())
    standing = {(m.error, m.feature): m for m in result.misalignments if m.stands()}
    _, second = halves(mini.pictures, 0)
    for t, v in PLANTED:
        assert (t, v) in standing
        for keys, c in (
            (set(second), standing[t, v].tested),
            (set(mini.pictures), standing[t, v].everywhere),
        ):
            assert c is not None
            assert c.errors_with == len(mini.wrong[t] & mini.shows[v] & keys)
            assert c.n_with == len(mini.shows[v] & keys)
            assert c.errors_without == len((mini.wrong[t] - mini.shows[v]) & keys)
            assert c.n_without == len(keys - mini.shows[v])
    page = write_audit(result, captions, tmp_path / "out").read_text()
    assert page.count("data:image/jpeg;base64,") > 5


@pytest.mark.slow
def test_two_ray_workers_give_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # workers are polite by default, and starve on a machine that has other work
    monkeypatch.setenv("RAY_worker_niceness", "0")
    ray = pytest.importorskip("ray")
    from symbal_tasks.embedders import CHUNK

    rows = beaches(400)
    # more facts than one chunk holds, so that both workers have something to do
    rows = [
        Row(r.id, f"{r.caption} " + " ".join(f"Item {r.id} {k}." for k in range(12)), r.reference)
        for r in rows
    ]
    assert 2 * CHUNK < 400 * 13
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        results = [
            audit(
                _set(rows),
                compose(
                    spec("offline"),
                    ContentCache(tmp_path / f"{engine}.sqlite"),
                    engine=engine,
                ),
                _table(rows),
                QUICK,
            )
            for engine in ("local", "ray")
        ]
    finally:
        ray.shutdown()
    assert results[0] == results[1]
