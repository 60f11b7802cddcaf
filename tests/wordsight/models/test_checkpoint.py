"""Names of checkpoints that cannot be had end in one line, and cached ones are read offline."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from wordsight.errors import WordsightError
from wordsight.models.checkpoint import find_checkpoint
from wordsight.models.hf import HFImageTextToText
from wordsight.models.itm import ImageTextMatcher

Checkpoint = Callable[[str], Path]
NOWHERE = "http://127.0.0.1:9"
# What the Hub itself answers: status and the header that its client reads.
HUB = {
    "/api/models/org/there": (200, ""),
    "/api/models/org/busy": (503, ""),
    "/api/models/org/nothing": (401, "RepoNotFound"),
    "/api/models/org/there/revision/v9": (404, "RevisionNotFound"),
}


class _Hub(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, code = HUB[self.path]
        content = b'{"id": "org/there"}'
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if code:
            self.send_header("X-Error-Code", code)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def _hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
    yield
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("_hub")
def test_what_the_hub_says() -> None:
    assert find_checkpoint("org/there") == "org/there"
    # it may answer when asked again, which from_pretrained does
    assert find_checkpoint("org/busy") == "org/busy"
    with pytest.raises(WordsightError, match="no such model at http"):
        find_checkpoint("org/nothing")
    with pytest.raises(WordsightError, match="no revision 'v9'"):
        find_checkpoint("org/there", "v9")


@pytest.mark.parametrize("name", ["./gone", "/gone/model", "a/b/c", "~/model", "gone/"])
def test_a_path_that_is_no_folder_asks_nobody(name: str) -> None:
    with pytest.raises(WordsightError, match="no such folder; give a folder with a config"):
        find_checkpoint(name)


def test_a_folder_without_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(WordsightError, match=r"holds no config\.json"):
        find_checkpoint(str(tmp_path))


@pytest.fixture
def _no_hub(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", NOWHERE)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", request.param == "offline")


def cpu(kind: type, name: str) -> object:
    return kind(pretrained=name, device="cpu")


@pytest.mark.usefixtures("_no_hub")
@pytest.mark.parametrize(
    ("_no_hub", "reason"),
    [("unreachable", f"{NOWHERE} cannot be reached"), ("offline", "HF_HUB_OFFLINE is set")],
    indirect=["_no_hub"],
)
@pytest.mark.parametrize(
    ("kind", "given", "name"),
    [
        (HFImageTextToText, "org/model", "org/model"),
        (ImageTextMatcher, "org/model", "org/model"),
        (ImageTextMatcher, "open_clip:hf-hub:org/model", "org/model"),
        (
            ImageTextMatcher,
            "open_clip:ViT-B-32/laion2b_s34b_b79k",
            "laion/CLIP-ViT-B-32-laion2B-s34B-b79K",
        ),
    ],
)
def test_no_hub_and_no_copy_is_one_line_without_trying_again(
    kind: type,
    given: str,
    name: str,
    reason: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if given.startswith("open_clip:"):
        pytest.importorskip("open_clip")
    with pytest.raises(WordsightError) as raised:
        cpu(kind, given)
    line = str(raised.value)
    assert line.startswith(f"{name}: no such folder here, not in the Hub's cache ({tmp_path})")
    assert reason in line
    assert "pretrained=FOLDER" in line
    assert "\n" not in line
    assert "Retrying" not in "".join(capfd.readouterr())


@pytest.mark.usefixtures("_no_hub")
@pytest.mark.parametrize("_no_hub", ["unreachable", "offline"], indirect=True)
def test_a_cached_copy_is_read_where_the_hub_cannot_be_reached(
    checkpoint: Checkpoint, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for kind in ("llava", "clip"):
        repository = tmp_path / f"models--org--{kind}"
        shutil.copytree(checkpoint(kind), repository / "snapshots" / "abc")
        (repository / "refs").mkdir()
        (repository / "refs" / "main").write_text("abc")
    assert find_checkpoint("org/llava") == str(tmp_path / "models--org--llava/snapshots/abc")
    cpu(HFImageTextToText, "org/llava")
    cpu(ImageTextMatcher, "org/clip")
    assert "Retrying" not in "".join(capfd.readouterr())
