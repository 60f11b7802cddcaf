"""Every part that loads weights, with random weights of the real classes: that it runs end to end.

What such models say means nothing, so nothing is asserted about what is found.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from symbal_tasks.audit.captions import read_captions
from symbal_tasks.backends import Request, Row, read_digit
from symbal_tasks.cache import ContentCache
from symbal_tasks.cli import app
from symbal_tasks.compositions import compose, spec
from symbal_tasks.embedders import CHUNK, Clip
from symbal_tasks.local_chat import LocalChat
from symbal_tasks.symbal import Options, find
from tests.symbal_tasks.tiny_detector import build_tiny_detector
from wordsight.errors import WordsightError
from wordsight.tiny_models import build_tiny_model

SMALL = Options(sweep=(2, 3), picture_sweep=(2,), summary_sample=6)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("models")
    found = {kind: str(build_tiny_model(kind, root / kind)) for kind in ("clip", "siglip", "llava")}
    return {**found, "owl": str(build_tiny_detector(root / "owl"))}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from PIL import Image

    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for k in range(12):
        coarse = rng.integers(0, 255, (3, 3, 3), dtype=np.uint8)
        Image.fromarray(coarse).resize((48, 40)).save(folder / f"{k:02}.png")
    return folder


@pytest.fixture(scope="module")
def captions(pictures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("captions") / "captions.jsonl"
    said = ("A dog runs. There is a kite.", "A cat sleeps on a sofa.", "A bus on a road.")
    lines = [
        {"image": picture.name, "caption": said[k % 3]}
        for k, picture in enumerate(sorted(pictures.iterdir()))
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def rows(captions: Path, pictures: Path) -> Sequence[Row]:
    return read_captions(captions, pictures).rows


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_matching_models_embed_and_score(
    kind: str, models: dict[str, str], rows: Sequence[Row], tmp_path: Path
) -> None:
    part = f"clip:{models[kind]}"
    parts = spec(
        "offline",
        texts=part,
        scorer="embedding",
        embedding_scorer=part,
        pictures=part,
        row_summary=f"vision:hf:{models['llava']}",
    )
    composition = compose(parts, ContentCache(tmp_path / "c.sqlite"), references=False)
    trace = find(rows, composition, SMALL)
    assert trace.first is not None
    assert all(-1 <= (group.score or 0) <= 1 for group in trace.first.groups)
    assert trace.findings[0].second is not None
    assert f"clip:{models[kind]}" in composition.names()["scorer"]
    assert find(rows, composition, SMALL) == trace


def test_pictures_are_encoded_alike_alone_and_in_a_batch(
    models: dict[str, str], rows: Sequence[Row]
) -> None:
    together = Clip(models["clip"]).embed_rows([*rows, *rows])
    assert np.allclose(together[:12], together[12:])
    assert np.allclose(together[5], Clip(models["clip"]).embed_rows([rows[5]])[0], atol=1e-5)


@pytest.mark.slow
def test_towers_embed_alike_on_workers(
    models: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_worker_niceness", "0")
    ray = pytest.importorskip("ray")
    texts = [f"A thing of number {k}." for k in range(2 * CHUNK + 5)]
    part = spec("offline", texts=f"clip:{models['clip']}")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        found = [
            compose(part, ContentCache(tmp_path / engine), engine=engine).texts.embed(texts)
            for engine in ("local", "ray")
        ]
    finally:
        ray.shutdown()
    assert np.allclose(found[0], found[1], atol=1e-5)


def test_a_checkpoint_in_this_process_answers_as_a_server_does(
    models: dict[str, str], rows: Sequence[Row]
) -> None:
    model = LocalChat(models["llava"])
    pictured = [Request("Is it 1 or 0?", row.picture()) for row in rows[:10] if row.picture]
    requests = [*pictured, Request("Name a thing."), Request("Is it 1 or 0, without a picture?")]
    replies = model.reply(requests, max_tokens=1)
    assert len(replies) == 12
    for reply in replies:
        values = list(reply.first_token.values())
        assert values == sorted(values, reverse=True)
        assert 0 < sum(map(math.exp, values)) <= 1 + 1e-5
    alone = model.reply(requests[3:4], max_tokens=1)[0]
    for token, value in alone.first_token.items():
        assert replies[3].first_token.get(token, value) == pytest.approx(value, abs=1e-3)
    assert replies[0].first_token != replies[1].first_token
    assert read_digit(replies[0]) is None or 0 <= (read_digit(replies[0]) or 0) <= 1
    with pytest.raises(WordsightError, match="a server can"):
        model.reply([Request("x", schema={})], max_tokens=1)


def test_audit_with_a_vision_scorer_and_a_detector(
    models: dict[str, str], captions: Path, pictures: Path, tmp_path: Path
) -> None:
    chat = f"hf:{models['llava']}"
    parts = [f"scorer=vision:{chat}", "pictures=conse", f"row_summary=text:{chat}"]
    words = ["audit", "--captions", captions, "--images", pictures, "--detector", models["owl"]]
    words += ["--report", tmp_path / "out", "--cache", tmp_path / "c.sqlite", "--k", 2]
    for part in [*parts, f"captioner=vision:{chat}", f"text_summary=text:{chat}"]:
        words += ["--set", part]
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 0, result.output + str(result.exception)
    written = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert written["features"] == f"detector {models['owl']} at 0.2"
    assert written["composition"]["scorer"].startswith("vision(hf:")


def test_captions_by_a_checkpoint(models: dict[str, str], pictures: Path, tmp_path: Path) -> None:
    words = ["caption", "--images", pictures, "--model", f"hf:{models['llava']}"]
    words += ["--out", tmp_path / "made.jsonl", "--max-tokens", 4, "--cache", tmp_path / "c"]
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 0, result.output
    made = [json.loads(line) for line in (tmp_path / "made.jsonl").read_text().splitlines()]
    assert [row["image"] for row in made] == sorted(p.name for p in pictures.iterdir())
    nowhere = CliRunner().invoke(app, [*map(str, words[:3]), "--model", "some/model"])
    assert "--server URL, or load it here as hf:some/model" in str(nowhere.exception)
