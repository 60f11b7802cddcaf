"""The service, over real sockets."""

from __future__ import annotations

import http.client
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from leaderboard.lines import write_submission
from leaderboard.runs import read_runs
from leaderboard.server.security import RateLimit, token_accepted
from leaderboard.submit import submit
from tests.leaderboard.bench import Bench, make_bench
from tests.leaderboard.browser import CHROMIUM, Browser, send_by_page
from tests.leaderboard.service import TOKEN, free_port, start
from wordsight.errors import WordsightError


@dataclass
class Served:
    bench: Bench
    url: str
    port: int

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    bench = make_bench(tmp_path_factory.mktemp("served"))
    for name, accuracy in (("good", 0.9), ("middle", 0.5), ("bad", 0.2)):
        submit(bench.run(name, accuracy=accuracy), str(bench.board))
    port = free_port()
    process = start(bench.board, port)
    yield Served(bench, f"http://127.0.0.1:{port}", port)
    process.terminate()
    process.wait(20)


def test_board_with_etag(served: Served) -> None:
    with served.client() as client:
        first = client.get("/api/v1/board")
        assert first.json()["tracks"][0]["rows"][0]["model"] == "org/good"
        again = client.get("/api/v1/board", headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_pages_of_rows_and_items(served: Served) -> None:
    with served.client() as client:
        page = client.get("/api/v1/tracks/tiny/rows?offset=1&limit=1").json()
        assert (page["total"], len(page["rows"])) == (3, 1)
        items = client.get("/api/v1/tasks/tiny/items?offset=20&limit=100").json()
        assert (items["total"], len(items["items"])) == (24, 4)
        assert client.get("/api/v1/tracks/tiny/rows?limit=100000").status_code == 422
        assert client.get("/api/v1/tracks/none/rows").status_code == 404


def test_item_and_its_pictures(served: Served) -> None:
    query = served.bench.packages["tiny"].queries[0]
    with served.client() as client:
        detail = client.get(f"/api/v1/tasks/tiny/items/{query.id}").json()
        assert detail["gold"]["gold"] == query.gold
        assert len(detail["answers"]) == 3
        picture = client.get(f"/api/v1/tasks/tiny/pictures/{detail['gold']['candidates'][0]}")
        assert picture.headers["content-type"] == "image/png"
        assert picture.content == served.bench.packages["tiny"].picture_bytes(query.candidates[0])
        page = client.get(f"/tasks/tiny/{query.id}").text
        assert page.count("<img ") == 10
        for missing in ("/tasks/tiny/none", "/tasks/none", "/api/v1/tasks/tiny/pictures/x"):
            assert client.get(missing).status_code == 404


def test_compare_page_takes_labels_and_ids_and_no_others(served: Served) -> None:
    with served.client() as client:
        rows = client.get("/api/v1/board").json()["tracks"][0]["rows"]
        ids = {row["label"]: row["entry"] for row in rows}

        def chosen(**query: str) -> list[str]:
            page = client.get("/compare", params=query)
            assert page.status_code == 200
            return re.findall(r'value="(\w+)" selected>org/', page.text)

        wanted = [ids["org/bad"], ids["org/middle"]]
        assert chosen(a="org/bad", b="org/middle") == wanted
        assert chosen(a=ids["org/bad"], b=ids["org/middle"]) == wanted
        assert chosen(b="org/bad")[0] == ids["org/bad"]
        for a, b in (("org/nobody", "org/bad"), ("org/bad", "org/nobody")):
            answer = client.get("/compare", params={"a": a, "b": b})
            assert answer.status_code == 404
            assert "'org/nobody' is not on the board" in answer.json()["detail"]


@pytest.mark.parametrize("query", ["page=abc", "track=tiny&page=abc", "%70age=abc", "page"])
def test_an_address_with_a_page_is_answered(served: Served, query: str) -> None:
    with served.client() as client:
        assert client.get(f"/?{query}").status_code == 200


def test_damaged_board_is_the_servers_fault(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    submit(bench.run("good", accuracy=0.9), str(bench.board))
    (entry,) = (bench.board / "entries").glob("*.parquet")
    port = free_port()
    process = start(bench.board, port)
    item = bench.packages["tiny"].queries[0].id
    entry.write_bytes(entry.read_bytes()[:100])
    shutil.rmtree(bench.board / "scores")
    try:
        answer = httpx.get(f"http://127.0.0.1:{port}/api/v1/tasks/tiny/items/{item}", timeout=30)
    finally:
        process.terminate()
        process.wait(20)
    assert answer.status_code == 500
    assert entry.name in answer.json()["detail"]


def post(run: Path, port: int) -> httpx.Response:
    """Submit a run over HTTP."""
    (submission,) = read_runs(run)
    return httpx.post(
        f"http://127.0.0.1:{port}/api/v1/submissions",
        content=write_submission(submission),
        headers={"authorization": f"Bearer {TOKEN}", "content-type": "application/x-ndjson"},
        timeout=30,
    )


def test_damaged_or_unwritable_board_is_not_the_submitters_fault(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    for name in "ab":
        submit(bench.run(name), str(bench.board))
    path, lock = bench.store.ledger_path, bench.board / ".lock"
    whole = path.read_bytes()
    first = whole.splitlines(keepends=True)[0]
    port = free_port()
    process = start(bench.board, port)
    rows = f"http://127.0.0.1:{port}/api/v1/tracks/tiny/rows"
    try:
        for damaged in (whole + b"garbage\n", first + b"garbage\n"):
            path.write_bytes(damaged)
            for answer in (httpx.get(rows, timeout=30), post(bench.run("new"), port)):
                assert answer.status_code == 500
                assert "is no line of a ledger" in answer.json()["detail"]
        path.write_bytes(whole)
        lock.unlink()
        lock.mkdir()  # no process, of whatever rights, can open it as a file
        refused = post(bench.run("new"), port)
        lock.rmdir()
        taken = post(bench.run("new"), port)
    finally:
        process.terminate()
        process.wait(20)
    assert refused.status_code == 503
    assert "the board cannot be written" in refused.json()["detail"]
    assert taken.status_code == 201


def test_root_lists_every_route(served: Served) -> None:
    with served.client() as client:
        told = client.get("/api/v1").json()
        paths = client.get(told["schema_path"]).json()["paths"]
        assert told["version"] == "1"
        listed = {(one["method"].lower(), one["path"]) for one in told["routes"]}
        assert listed == {(method, path) for path, one in paths.items() for method in one}
        assert all(one["text"] for one in told["routes"])
        assert told["commit"] == client.get("/api/v1/board").json()["commit"]


def test_schema_is_published(served: Served) -> None:
    with served.client() as client:
        paths = client.get("/openapi.json").json()["paths"]
    assert "/api/v1/submissions" in paths
    assert all(path.startswith("/api/v1") for path in paths)


@pytest.mark.parametrize("path", ["/", "/table", "/api/v1/board", "/style.css", "/nothing"])
def test_security_headers_on_everything(served: Served, path: str) -> None:
    with served.client() as client:
        headers = client.get(path).headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "unsafe-eval" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_forged_addresses_change_nothing(served: Served) -> None:
    with served.client() as client:
        plain = client.get("/")
        assert client.get("/", headers={"host": "evil.example"}).status_code == 400
        for name in ("x-forwarded-host", "x-gradio-server", "X-FORWARDED-HOST"):
            forged = client.get("/", headers={name: "http://evil.example"})
            assert forged.status_code == 200
            assert "evil.example" not in forged.text
            assert len(forged.text) == len(plain.text)
        config = client.get("/config", headers={"x-forwarded-host": "evil.example"})
        assert "evil.example" not in config.text


def test_run_history_has_no_route(served: Served) -> None:
    with served.client() as client:
        for path in ("/gradio_api/run_history", "/gradio_api/runs", "/run_history", "/runs"):
            assert client.get(path).status_code in (404, 405)


def test_submission_over_http_by_command(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    run = served.bench.run("remote", accuracy=0.7)
    monkeypatch.setenv("WORDSIGHT_TOKEN", "wrong")
    with pytest.raises(WordsightError, match=r"refused \(401\): a token is needed"):
        submit(run, served.url)
    monkeypatch.setenv("WORDSIGHT_TOKEN", TOKEN)
    (receipt,) = submit(run, served.url)
    assert (receipt.label, receipt.attempts) == ("org/remote", 1)
    with served.client() as client:
        rows = client.get("/api/v1/board").json()["tracks"][0]["rows"]
    assert "org/remote" in [row["model"] for row in rows]


def test_refusals(served: Served) -> None:
    (submission,) = read_runs(served.bench.run("refused"))
    content = write_submission(submission)
    right = {"authorization": f"Bearer {TOKEN}", "content-type": "application/x-ndjson"}
    with served.client() as client:

        def post(body: bytes, **changes: str) -> httpx.Response:
            headers = {**right, **{k.replace("_", "-"): v for k, v in changes.items()}}
            return client.post("/api/v1/submissions", content=body, headers=headers)

        assert post(content, authorization="").status_code == 401
        assert post(content, content_type="application/zip").status_code == 415
        assert post(b"PK\x03\x04" + content).status_code == 422
        assert post(content[:-20]).status_code == 422
        assert "line 1" in post(content.replace(b"org/refused", b"<b>x</b>")).json()["detail"]


def test_body_limit(served: Served) -> None:
    with served.client() as client:
        for length in ("99999999999", "9" * 5000, "-1", "many"):
            raw = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
            raw.putrequest("POST", "/api/v1/submissions")
            raw.putheader("content-length", length)
            raw.endheaders()
            assert raw.getresponse().status in (400, 413)
            raw.close()

        def endless() -> Iterator[bytes]:
            for _ in range(70):
                yield b"x" * (1 << 20)

        try:
            answer = client.post(
                "/api/v1/submissions",
                content=endless(),
                headers={
                    "authorization": f"Bearer {TOKEN}",
                    "content-type": "application/x-ndjson",
                },
            )
            assert answer.status_code == 413
        except httpx.WriteError:
            pass  # the service had answered and closed before everything was sent
        assert client.get("/api/v1/tasks").is_success


def test_token_comparison() -> None:
    assert token_accepted("b", ["a", "b"])
    assert not token_accepted("", ["a"])
    assert not token_accepted("ä", ["a"])
    assert not token_accepted("a", [])


def test_rate_limit_forgets() -> None:
    limit = RateLimit(2, 10)
    assert [limit.allow("k", now) for now in (0, 1, 2, 10.5, 10.6)] == [
        True,
        True,
        False,
        True,
        False,
    ]
    assert limit.allow("other", 2)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_page_in_a_browser(served: Served, width: int) -> None:
    with Browser(width) as browser:
        browser.open(f"{served.url}/?search=org/good&order=name")
        browser.wait("document.body.innerText.includes('org/good')")
        assert not browser.run("document.body.innerText.includes('org/bad')")
        assert browser.run("document.documentElement.scrollWidth") <= width
        browser.run("document.querySelectorAll('button[role=tab]')[1].click()")
        browser.wait("document.querySelectorAll('.js-plotly-plot .point').length > 0")
        for place, sign in ((3, "Tiny, swapped"), (2, "Tiny, swapped, Hits@1"), (1, "No entry")):
            browser.run(f"document.querySelectorAll('input[type=radio]')[{place}].click()")
            browser.wait(
                f"document.querySelector('.js-plotly-plot').textContent.includes('{sign}')"
            )
        assert not [text for text in browser.log if "Content Security" in text]
        hosts = {url.split("/")[2] for url in browser.requests if url.startswith("http")}
        assert hosts == {f"127.0.0.1:{served.port}"}


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_submission_by_page(served: Served) -> None:
    """The packed file, chosen and sent in a browser; then a broken one, whose reason is shown."""
    packed = served.bench.root / "page.jsonl"
    submit(served.bench.run("bypage", accuracy=0.6), str(packed))
    broken = served.bench.root / "broken.jsonl"
    broken.write_bytes(packed.read_bytes()[:-30])
    with Browser() as browser:
        for path, token, says in (
            (packed, "wrong", "Refused: a token is needed"),
            (packed, TOKEN, "org/bypage: submitted as"),
            (packed, TOKEN, "was submitted before"),
            (broken, TOKEN, "no line end; was the file cut?"),
        ):
            send_by_page(browser, served.url, path, token)
            browser.wait(f"document.getElementById('outcome').textContent.includes('{says}')")
    with served.client() as client:
        rows = client.get("/api/v1/board").json()["tracks"][0]["rows"]
    assert "org/bypage" in [found["model"] for found in rows]
