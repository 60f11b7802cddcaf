"""Hostile submissions: none accepted, none crashes, each answered with its reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leaderboard.lines import read_submission
from leaderboard.schema import SubmissionError
from leaderboard.site.export import export_site
from sage_tasks.records import pictures_fingerprint
from tests.leaderboard.bench import Bench, make_bench
from tests.leaderboard.browser import CHROMIUM, Browser
from tests.leaderboard.hostile import cases, good
from tests.leaderboard.service import free_port, start
from wordsight.errors import DataError


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("target"), items=6)


def parts(bench: Bench) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    package = bench.packages["tiny"]
    header = {
        "schema": "wordsight-submission/1",
        "model": "org/name",
        "tasks": [{"name": "tiny", "version": "1", "dataset": package.fingerprint}],
    }
    items = [
        {
            "task": "tiny",
            "item": query.id,
            "images": pictures_fingerprint(query),
            "responses": ["No"] * 9 + ["Yes"],
        }
        for query in package.queries
    ]
    return header, items


def test_the_model_of_all_cases_is_accepted(target: Bench) -> None:
    submission = read_submission(good(*parts(target)))
    assert target.store.check(submission)[0].missing == ()


def test_none_is_accepted_and_each_has_its_reason(target: Bench) -> None:
    tried = set()
    for name, content in cases(*parts(target)):
        tried.add(content)
        try:
            submission = read_submission(content, "upload.jsonl")
            target.store.check(submission, name="upload.jsonl")
        except (SubmissionError, DataError) as error:
            message = str(error)
            assert 20 < len(message) < 1500, f"{name}: {message[:200]}"
            if "is not on this board" not in message:
                assert message.startswith("upload.jsonl: "), f"{name}: {message[:200]}"
            assert all(c.isprintable() for c in message), f"{name}: {message[:200]!r}"
            message.encode()
            continue
        pytest.fail(f"accepted: {name}")
    assert len(tried) >= 300


def test_nothing_of_it_reaches_the_disk(target: Bench) -> None:
    before = sorted(target.root.rglob("*"))
    for _, content in cases(*parts(target)):
        with pytest.raises((SubmissionError, DataError)):
            target.store.add(read_submission(content))
    assert sorted(target.root.rglob("*")) == before


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("model", "<script>", "line 1 (header): model: String should match pattern"),
        ("cost", "x", "line 1 (header): cost:"),
        ("surprise", 1, "line 1 (header): surprise: Extra inputs are not permitted"),
    ],
)
def test_reason_names_line_and_field(target: Bench, field: str, value: Any, says: str) -> None:
    header, items = parts(target)
    with pytest.raises(SubmissionError) as caught:
        read_submission(good({**header, field: value}, items), "upload.jsonl")
    assert f"upload.jsonl: {says}" in str(caught.value)


def test_reason_names_line_item_and_field(target: Bench) -> None:
    header, items = parts(target)
    items[3]["responses"] = ["No"] * 9
    with pytest.raises(SubmissionError) as caught:
        read_submission(good(header, items))
    assert f"line 5: item {items[3]['item']}: responses:" in str(caught.value)


def test_compatibility_characters_become_plain(target: Bench) -> None:
    """Full-width letters become the plain ones they look like: no two names look alike."""
    header, items = parts(target)
    text = json.dumps({**header, "model": "\uff4frg/name"})
    submission = read_submission(text.encode() + b"\n" + good(header, items).split(b"\n", 1)[1])
    assert submission.header.model == "org/name"


SCRIPT = "<script>window.taken=1</script><img src=x onerror='window.taken=1'>"


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_script_in_every_text_field_is_shown_as_text(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, items=6)
    header, items = parts(bench)
    texts = dict.fromkeys(("command", "git", "contact"), SCRIPT)
    maps = {field: {"k": SCRIPT} for field in ("options", "packages", "hardware", "seeds")}
    for record in items:
        extra = {"definition": SCRIPT, SCRIPT: "x"}
        record["responses"] = [
            json.dumps({"yes": -0.1 * (place + 1), "no": -3.0, **extra}) for place in range(10)
        ]
    hostile = {**header, **texts, **maps, "method": "gar"}
    first = bench.store.add(read_submission(good(hostile, items)))
    bench.store.add(read_submission(good({**header, "model": "org/other"}, parts(bench)[1])))
    bench.store.decide(first.submission, "verified", SCRIPT)
    item = bench.packages["tiny"].queries[0].id
    site = export_site(bench.store, tmp_path / "site").parent
    port = free_port()
    process = start(bench.board, port)
    try:
        with Browser() as browser:
            pages = [site / "index.html", site / "tasks" / "tiny" / f"{item}.html"]
            addresses = [page.as_uri() for page in (*pages, site / "tasks/tiny/compare.html")]
            paths = ("/", "/table", f"/tasks/tiny/{item}", "/compare?task=tiny", "/about")
            for address in (*addresses, *(f"http://127.0.0.1:{port}{path}" for path in paths)):
                browser.open(address)
                if "about" not in address:
                    browser.wait("document.body.textContent.includes('<script>window.taken')")
                assert browser.run("window.taken === undefined"), address
            browser.open(f"http://127.0.0.1:{port}/")
            browser.wait("document.body.textContent.includes('<script>window.taken')")
            browser.run("document.querySelectorAll('button[role=tab]')[1].click()")
            browser.wait("document.querySelectorAll('.js-plotly-plot .point').length > 0")
            assert browser.run("window.taken === undefined")
            assert not [text for text in browser.log if text.startswith("dialog")]
    finally:
        process.terminate()
        process.wait(20)
