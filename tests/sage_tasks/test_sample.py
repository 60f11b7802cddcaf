"""Samples for annotators, and the commands around them."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from sage_tasks.package import Package, open_package
from sage_tasks.records import Query
from sage_tasks.sample import CATEGORIES, Part, Sheet, draw, read_sheet, write_sample
from sage_tasks.sample_cli import agreement, sample
from sage_tasks.sources import DEMO, dataset_root
from wordsight.errors import DataError

app = typer.Typer()
app.command()(sample)
app.command()(agreement)
run = CliRunner()


@pytest.fixture(scope="module")
def package() -> Package:
    return open_package(dataset_root(DEMO), "demo")


def sheet_of(package: Package, subset: str, queries: tuple[Query, ...]) -> Sheet:
    return Sheet("choice", (Part(subset, package, queries),))


def fill(path: Path, **columns: list[str]) -> Path:
    """Fill in a sheet, column by column."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for name, values in columns.items():
        for row, value in zip(rows, values, strict=True):
            row[name] = value
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_draw_repeats_and_one_removed_item_moves_no_other(package: Package) -> None:
    first = draw(package.queries, 20, seed=1)
    assert first == draw(package.queries, 20, seed=1)
    assert first != draw(package.queries, 20, seed=2)
    less = [query for query in package.queries if query is not first[0]]
    assert set(first[1:]) <= set(draw(less, 20, seed=1))
    assert draw(package.queries, 1, 0, [first[3].id]) == (first[3],)
    with pytest.raises(DataError, match="only 1 items"):
        draw(package.queries, 2, 0, [first[3].id])


def test_the_page_does_not_give_the_gold_away(package: Package, tmp_path: Path) -> None:
    queries = draw(package.queries, 3, 0)
    write_sample(sheet_of(package, "demo", queries), tmp_path / "s", 3)
    assert len(list((tmp_path / "s").glob("annotator_*.csv"))) == 3
    assert len(list((tmp_path / "s" / "pictures").iterdir())) == 30
    for path in [tmp_path / "s" / "page.html", tmp_path / "s" / "annotator_1.csv"]:
        text = path.read_text("utf-8")
        for query in queries:
            assert query.id in text
            assert query.candidates[query.gold] not in text
            assert query.candidate_sources[query.gold] not in text
    key = json.loads((tmp_path / "s" / "key.json").read_text("utf-8"))
    assert key["gold"] == {q.id: str(q.gold + 1) for q in queries}
    with Image.open(tmp_path / "s" / "pictures" / "001-01.jpg") as picture:
        assert max(picture.size) <= 384


def test_a_context_cannot_break_out_of_the_page(package: Package, tmp_path: Path) -> None:
    query = package.queries[0].model_copy(update={"context": "</script><script>alert(1)"})
    write_sample(sheet_of(package, "demo", (query,)), tmp_path / "s", 2)
    page = (tmp_path / "s" / "page.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert page.count("</script>") == 1


@pytest.mark.browser
def test_the_page_saves_what_was_chosen_as_a_sheet(package: Package, tmp_path: Path) -> None:
    browser = pytest.importorskip("tests.leaderboard.browser")
    if browser.CHROMIUM is None:
        pytest.skip("no Chromium")
    first = package.queries[0].model_copy(update={"context": 'a "quoted", comma'})
    write_sample(sheet_of(package, "verse", (first, package.queries[1])), tmp_path / "s", 2)
    with browser.Browser() as page:
        page.open((tmp_path / "s" / "page.html").as_uri())
        text = page.run("""(async () => {
            const sheets = [];
            URL.createObjectURL = (blob) => { sheets.push(blob.text()); return "blob:x"; };
            const choose = (n, place) => document.querySelectorAll("fieldset")[n]
                .querySelectorAll("input[type=radio]")[place].click();
            choose(0, 3);
            choose(1, 9);
            document.querySelectorAll("select")[1].selectedIndex = 2;
            document.getElementById("save").click();
            return await sheets[0];
        })()""")
        assert page.run("document.getElementById('count').textContent") == "2 of 2"
        pictures = "[...document.querySelectorAll('img')].slice(0, 5)"
        page.wait(f"{pictures}.every(image => image.complete && image.naturalWidth > 0)")
        page.open((tmp_path / "s" / "page.html").as_uri())
        page.wait("document.getElementById('count').textContent === '2 of 2'")
        assert page.run("document.querySelectorAll('input[type=radio]:checked')[1].value") == "10"
        if shots := os.environ.get("WORDSIGHT_SHOTS"):
            page.screenshot(Path(shots))
    saved = tmp_path / "saved.csv"
    saved.write_bytes(text.encode())
    rows = read_sheet(saved, [first.id, package.queries[1].id])
    assert [row["answer"] for row in rows] == ["4", "10"]
    assert [row["category"] for row in rows] == ["", CATEGORIES["verse"][1]]
    assert rows[0]["context"] == 'a "quoted", comma'


def test_filled_in_folders_are_not_overwritten(package: Package, tmp_path: Path) -> None:
    (tmp_path / "annotator_1.csv").write_text("work", encoding="utf-8")
    with pytest.raises(DataError, match="not empty"):
        write_sample(sheet_of(package, "demo", package.queries[:1]), tmp_path, 2)


def drawn(out: Path, number: int, *more: str) -> list[str]:
    result = run.invoke(app, ["sample", DEMO, "--out", str(out), "-n", str(number), *more])
    assert result.exit_code == 0, result.output
    items: list[str] = json.loads((out / "key.json").read_text("utf-8"))["items"]["demo"]
    return items


def test_three_annotators_from_sample_to_figures(tmp_path: Path) -> None:
    out = tmp_path / "s"
    items = drawn(out, 4)
    gold = json.loads((out / "key.json").read_text("utf-8"))["gold"]
    right = [gold[item] for item in items]
    other = [str(int(g) % 10 + 1) for g in right]
    third = [str(int(g) % 10 + 1) for g in other]
    # unanimous and right; two of three right; all different; two of three wrong
    sheets = [
        fill(
            out / "annotator_1.csv",
            answer=[right[0], right[1], right[2], other[3]],
            category=["", "", "", "competing sense or event cue"],
        ),
        fill(
            out / "annotator_2.csv",
            answer=[right[0], right[1], other[2], other[3]],
            category=["", "", "", "competing sense or event cue"],
        ),
        fill(out / "annotator_3.csv", answer=[right[0], other[1], third[2], right[3]]),
    ]
    result = run.invoke(app, ["agreement", str(out), *map(str, sheets), "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)["subsets"]["demo"]
    measured = report["agreement"]
    assert (measured["unanimous"], measured["two_of_three"], measured["all_different"]) == (1, 2, 1)
    assert measured["coefficient"] == "Fleiss' kappa"
    assert report["gold_mismatches"] == [items[3]]
    assert report["categories"] == {"competing sense or event cue": 1}
    text = run.invoke(app, ["agreement", str(out), *map(str, sheets)]).stdout
    assert "unanimous: 1/4 (25.0%)" in text
    assert "majority differs from the gold: 1" in text


def test_two_annotators_judge_texts(package: Package, tmp_path: Path) -> None:
    texts = tmp_path / "texts.jsonl"
    lines = [
        json.dumps({"item": q.id, "text": f"meaning of {q.term}"}) for q in package.queries[:5]
    ]
    texts.write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / "s"
    more = ["--kind", "plausible", "--texts", str(texts), "--annotators", "2"]
    assert set(drawn(out, 5, *more)) == {q.id for q in package.queries[:5]}
    assert "meaning of" in (out / "annotator_1.csv").read_text("utf-8")
    sheets = [
        fill(out / "annotator_1.csv", answer=["Yes", "yes", "yes", "yes", "no"]),
        fill(out / "annotator_2.csv", answer=["yes", "yes", "yes", "no", "no"]),
    ]
    result = run.invoke(app, ["agreement", str(out), *map(str, sheets), "--json"])
    report = json.loads(result.stdout)["subsets"]["demo"]
    assert report["yes"] == {"annotator_1": 4, "annotator_2": 3}
    # agreement 0.8, share of yes 0.7, chance 2 * 0.7 * 0.3
    assert report["agreement"]["value"] == pytest.approx((0.8 - 0.42) / (1 - 0.42))


def test_error_categories_are_counted(package: Package, tmp_path: Path) -> None:
    chosen = tmp_path / "errors.txt"
    chosen.write_text("".join(q.id + "\n" for q in package.queries[5:8]), encoding="utf-8")
    out = tmp_path / "s"
    drawn(out, 3, "--kind", "errors", "--items", str(chosen), "--annotators", "2")
    drift, visual = "decomposition drift", "visual verification"
    sheets = [
        fill(out / "annotator_1.csv", category=[drift, drift, visual]),
        fill(out / "annotator_2.csv", category=[drift, visual, visual]),
    ]
    result = run.invoke(app, ["agreement", str(out), *map(str, sheets), "--json"])
    report = json.loads(result.stdout)["subsets"]["demo"]
    assert report["categories"] == {drift: 1, visual: 1, "no majority": 1}


def test_answers_and_items_that_cannot_be_are_named(tmp_path: Path) -> None:
    out = tmp_path / "s"
    items = drawn(out, 2)
    sheets = [
        fill(out / "annotator_1.csv", answer=["1", "11"]),
        fill(out / "annotator_2.csv", answer=["1", "2"]),
    ]
    result = run.invoke(app, ["agreement", str(out), *map(str, sheets)])
    assert isinstance(result.exception, DataError)
    assert f"item {items[1]}: answer '11'" in str(result.exception)
    fill(sheets[0], item=["0" * 20, items[1]], answer=["1", "1"])
    result = run.invoke(app, ["agreement", str(out), *map(str, sheets)])
    assert isinstance(result.exception, DataError)
    assert "not in this sample's key" in str(result.exception)


def test_semicolons_of_a_spreadsheet_are_read(tmp_path: Path) -> None:
    out = tmp_path / "s"
    drawn(out, 2, "--annotators", "2")
    sheets = [fill(out / f"annotator_{n}.csv", answer=["1", "2"]) for n in (1, 2)]
    with sheets[0].open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    with sheets[0].open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=";").writerows(rows)
    result = run.invoke(app, ["agreement", str(out), *map(str, sheets), "--json"])
    assert json.loads(result.stdout)["subsets"]["demo"]["agreement"]["unanimous"] == 2


def test_several_subsets_are_measured_one_by_one_and_together(tmp_path: Path) -> None:
    out = tmp_path / "s"
    folder = dataset_root(DEMO)
    for config in ("demo", "demo_swapped"):
        # the folder's name is the config's
        copy = tmp_path / config
        copy.mkdir()
        for name in ("images", "images.jsonl", config):
            (copy / name).symlink_to(folder / name)
    names = [str(tmp_path / config) for config in ("demo", "demo_swapped")]
    result = run.invoke(app, ["sample", *names, "--out", str(out), "-n", "2", "--annotators", "2"])
    assert result.exit_code == 0, result.output
    sheets = [
        fill(out / "annotator_1.csv", answer=["1", "2", "3", "4"]),
        fill(out / "annotator_2.csv", answer=["1", "2", "3", "5"]),
    ]
    result = run.invoke(app, ["agreement", str(out), *map(str, sheets), "--json"])
    assert result.exit_code == 0, result.output
    subsets = json.loads(result.stdout)["subsets"]
    found = {name: part["agreement"]["unanimous"] for name, part in subsets.items()}
    assert found == {"demo": 2, "demo_swapped": 1, "overall": 3}
