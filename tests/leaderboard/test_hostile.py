"""Hostile submissions: none accepted, none crashes, each answered with its reason."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.lines import read_submission
from leaderboard.schema import SubmissionError
from leaderboard.site.export import export_site
from sage_tasks.records import pictures_fingerprint
from tests.leaderboard.bench import Bench, make_bench
from tests.leaderboard.browser import CHROMIUM, Browser, send_by_page
from tests.leaderboard.hostile import cases, good
from tests.leaderboard.service import TOKEN, free_port, start
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
        ("model", "<script>", "line 1 (header): model: a model's name holds letters"),
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


# as `serve` starts it, but for the bound on submissions an hour
SERVER = """
import sys
from pathlib import Path
import uvicorn
from leaderboard.server.app import create_app
from leaderboard.server.service import Service, Settings
from leaderboard.store import create_store
settings = Settings(tokens=(sys.argv[2],), hourly=1_000_000)
app = create_app(Service(create_store(Path(".")), settings))
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", proxy_headers=False)
"""


@dataclass
class Attacked:
    bench: Bench
    process: subprocess.Popen[bytes]
    client: httpx.Client

    def post(self, content: bytes, **headers: str) -> httpx.Response:
        told = {"authorization": f"Bearer {TOKEN}", "content-type": "application/x-ndjson"}
        raw = [(k.encode(), v.encode("latin-1")) for k, v in (told | headers).items()]
        return self.client.post("/api/v1/submissions", content=content, headers=raw)

    @property
    def files(self) -> list[Path]:
        """What lies on the board's disk, but for the lock's file."""
        return sorted(p for p in self.bench.root.rglob("*") if p.name != ".lock")


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    """An empty board on a real socket, which takes any number of submissions an hour."""
    bench = make_bench(tmp_path_factory.mktemp("attacked"), items=6)
    port = free_port()
    process = start(bench.board, port, command=["-c", SERVER, str(port), TOKEN])
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        yield Attacked(bench, process, client)
    process.terminate()
    process.wait(20)


FORGED = (
    {"x-forwarded-host": "evil.example"},
    {"x-gradio-server": "http://evil.example"},
    {"x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "https", "x-real-ip": "127.0.0.1"},
    {"x-forwarded-host": "localhost", "forwarded": "host=localhost;for=127.0.0.1"},
    {"origin": "http://evil.example", "referer": "http://evil.example/"},
)


def test_all_of_it_over_http(attacked: Attacked) -> None:
    """Every case on a real socket, with forged headers in turn; after each, the server answers."""
    before = attacked.files
    sent = 0
    for number, (name, content) in enumerate(cases(*parts(attacked.bench))):
        answer = attacked.post(content, **FORGED[number % len(FORGED)])
        assert answer.status_code in (413, 422), f"{name}: {answer.status_code} {answer.text[:200]}"
        reason = answer.json()["detail"]
        assert isinstance(reason, str), f"{name}: {reason}"
        assert 20 < len(reason) < 1500, f"{name}: {reason[:200]}"
        assert reason.startswith("submission: ") or "is not on this board" in reason, name
        assert all(c.isprintable() for c in reason), f"{name}: {reason[:200]!r}"
        assert "evil.example" not in str(answer.headers)
        assert attacked.process.poll() is None, f"{name}: the server ended"
        assert attacked.client.get("/api/v1/tasks").json() == [], name
        sent += 1
    assert sent >= 390
    assert attacked.files == before
    assert attacked.client.get("/api/v1/ledger").json()["total"] == 0


def test_forged_host_reaches_nothing(attacked: Attacked) -> None:
    content = good(*parts(attacked.bench))
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil:7860"):
        answer = attacked.post(content, host=host)
        assert (answer.status_code, answer.text) == (400, "Invalid host header"), host
    assert attacked.client.get("/api/v1/ledger").json()["total"] == 0


def test_wrong_tokens_are_all_answered_alike(attacked: Attacked) -> None:
    """Nothing in the answer tells how much of a guess was right, nor is the body looked at."""
    guesses = ("x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), TOKEN[::-1], "\u00e9" * 8, "x" * 500)
    answers = set()
    for guess in guesses:
        for content in (good(*parts(attacked.bench)), b"", b"\x00" * 100_000):
            answer = attacked.post(content, authorization=f"Bearer {guess}")
            told = {k: v for k, v in answer.headers.items() if k != "date"}
            answers.add((answer.status_code, answer.text, str(told)))
    assert len(answers) == 1
    assert answers.pop()[0] == 401
    for given in (f"Basic {TOKEN}", TOKEN, f"Bearer Bearer {TOKEN}", "Bearer"):
        assert attacked.post(b"", authorization=given).status_code == 401


def test_wishes_in_the_address(attacked: Attacked) -> None:
    """A part is refused over HTTP too, unless the address says so; other wishes are no wishes."""
    header, items = parts(attacked.bench)
    part = good({**header, "model": "org/part"}, items[:3])
    refused = attacked.post(part)
    assert (refused.status_code, "3 of 6 items are not answered" in refused.text) == (422, True)
    address = "/api/v1/submissions"
    told = {"authorization": f"Bearer {TOKEN}", "content-type": "application/x-ndjson"}
    for wish in ("partial=maybe", "partial=true&replace=%00", "replace=<script>"):
        answer = attacked.client.post(f"{address}?{wish}", content=part, headers=told)
        assert answer.status_code == 422, wish
    taken = attacked.client.post(f"{address}?partial=true", content=part, headers=told)
    assert taken.status_code == 201, taken.text
    assert taken.json()["tasks"][0]["missing"] == 3


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_some_of_it_by_the_page(attacked: Attacked, tmp_path: Path) -> None:
    """Files chosen and sent in a browser: refused, the reason shown as text."""
    header, items = parts(attacked.bench)
    named = {**header, "contact": "\x00<script>window.taken=1</script>"}
    wanted = (
        "zip",
        "pickle 4",
        "html",
        "cut at 20/40",
        "item twice",
        "header header without model",
    )
    chosen = {n: c for n, c in cases(header, items) if n in wanted or n.startswith("model '<img")}
    chosen["script"] = good(named, items)
    chosen["part"] = good(header, items[:3])
    url = str(attacked.client.base_url).rstrip("/")
    shown = "document.getElementById('outcome').textContent"
    with Browser() as browser:
        for name, content in chosen.items():
            path = tmp_path / "upload.jsonl"
            path.write_bytes(content)
            send_by_page(browser, url, path, TOKEN)
            browser.wait(f"{shown}.startsWith('Refused: submission: ')")
            assert browser.run("document.querySelectorAll('#outcome *').length") == 0, name
            assert browser.run("window.taken === undefined"), name
        assert "--partial" in browser.run(shown)
        path.write_bytes(good({**header, "model": "org/page"}, items[:3]))
        send_by_page(browser, url, path, TOKEN, "partial")
        browser.wait(f"{shown}.includes('3 of 6 items answered, 3 missing, 0 unreadable')")
    assert len(chosen) >= 7


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
