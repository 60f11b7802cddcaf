"""Weighted meanings against the formula written out over the same encoders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from sage_tasks.lexicons.base import Gloss
from sage_tasks.package import open_package
from sage_tasks.task import CandidateView
from sage_tasks.uvwsd import UVWSD
from wordsight.errors import WordsightError
from wordsight.models.base import Ask
from wordsight.models.itm import ImageTextMatcher
from wordsight.tiny_models import build_tiny_model

MEANINGS = ["an animal that flies", "a tool, a club for a game", "an animal that flies"]


class Bats:
    """A lexicon of one word."""

    name = "bats"

    def lookup(self, term: str, pos: str = "") -> list[Gloss]:
        return [Gloss("bats", str(k), text) for k, text in enumerate(MEANINGS) if term == "bat"]


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build_tiny_model("clip", tmp_path_factory.mktemp("models") / "clip"))


@pytest.fixture
def asks(dataset: Path) -> list[Ask]:
    package = open_package(dataset, "toy", "test")
    view = CandidateView(package, package.queries)
    return [
        Ask("?", doc["image_id"], view, term=doc["term"], context=doc["context"], gloss="g")
        for doc in view
    ]


def _vectors(clip: str, asks: list[Ask], texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    model = ImageTextMatcher(pretrained=clip, device="cpu", batch_size=1)
    return torch.stack(list(model.picture_vectors(asks))), model.text_vectors(texts)


def test_meanings_are_weighted_by_their_fit_to_the_caption(clip: str, asks: list[Ask]) -> None:
    model = UVWSD(
        base="wordsight_itm", pretrained=clip, lexicon="dataset", sharpness=30, device="cpu"
    )
    model._lexicon = Bats()
    for context in {ask.context for ask in asks}:
        mine = [ask for ask in asks if ask.context == context]
        meanings = MEANINGS[:2]  # the same definition twice counts once
        texts = [context, *meanings, *[f"{context}: {text}" for text in meanings]]
        pictures, words = _vectors(clip, mine, texts)
        caption, senses, joined = words[0].numpy(), words[1:3].numpy(), words[3:].numpy()
        weights = np.exp(30 * senses @ caption)
        weights /= weights.sum()
        expected = (pictures.numpy() @ joined.T) @ weights
        answers = [json.loads(response) for response in model.answer(mine)]
        assert [a["similarity"] for a in answers] == pytest.approx(expected.tolist(), abs=1e-5)
        assert {a["gloss"] for a in answers} == {meanings[int(weights.argmax())]}
        assert answers[0]["gloss_weight"] == pytest.approx(weights.max(), abs=1e-5)


def test_term_without_meanings_is_its_caption(clip: str, asks: list[Ask]) -> None:
    model = UVWSD(base="wordsight_itm", pretrained=clip, lexicon="dataset", device="cpu")
    model._lexicon = Bats()
    other = [Ask("?", ask.image_id, ask.source, term="crane", context="a crane") for ask in asks]
    pictures, words = _vectors(clip, other, ["a crane"])
    found = [json.loads(response)["similarity"] for response in model.answer(other)]
    assert found == pytest.approx((pictures @ words[0]).tolist(), abs=1e-5)


def test_definition_of_the_dataset(clip: str, asks: list[Ask]) -> None:
    model = UVWSD(base="wordsight_itm", pretrained=clip, lexicon="dataset", device="cpu")
    pictures, words = _vectors(clip, asks[:1], [f"{asks[0].context}: g"])
    found = json.loads(next(model.answer(asks[:1])))
    assert found["similarity"] == pytest.approx(float(pictures[0] @ words[0]), abs=1e-5)


def test_base_must_compare_pictures_with_texts(tmp_path: Path) -> None:
    folder = build_tiny_model("llava", tmp_path / "llava")
    with pytest.raises(WordsightError, match="compares no pictures with texts"):
        UVWSD(base="wordsight_hf", pretrained=str(folder), lexicon="dataset", device="cpu")
