"""Judges and accuracy."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score

from symbal_tasks.backends import CachedChat
from symbal_tasks.cache import ContentCache
from symbal_tasks.evaluate import Answer, accuracy, difference, read_answer, score, strata, table
from symbal_tasks.judge import ModelJudge, OfflineJudge, agreement, wordnet_nouns
from symbal_tasks.records import Setting
from symbal_tasks.server import ChatServer, Endpoint
from tests.symbal_tasks.chat_server import Script, serve
from wordsight.errors import DataError


@pytest.mark.parametrize(
    ("said", "truth", "same"),
    [
        ("A Surfboard.", "surfboard", True),
        ("two surfboards", "surfboard", True),
        ("a white surfboard on the sand", "surfboard", True),
        ("sofa", "couch", True),
        ("a red bike", "bicycle", True),
        ("young man", "person", True),
        ("hot dog", "dog", False),
        ("teddy bear", "bear", False),
        ("toy bear", "bear", True),
        ("dog leash", "dog", False),
        ("wine glasses", "wine glass", True),
        ("table", "dining table", True),
        ("wooden dining table", "dining table", True),
        ("bus stop", "bus", False),
        ("", "bus", False),
        ("pleural effusions", "pleural effusion", True),
        ("edema", "atelectasis", False),
    ],
)
def test_offline_judge(said: str, truth: str, same: bool) -> None:
    assert OfflineJudge().same([(said, truth)]) == [same]


def test_wordnet_adds_synonyms(tmp_path: Path) -> None:
    # two lines in WordNet's own form: offset, file, part of speech, count in hex, words
    (tmp_path / "data.noun").write_text(
        "  1 This line is the licence.\n"
        "00000001 06 n 02 cardiomegaly 0 megacardia 0 001 @ 00000009 n 0000 | a big heart\n"
        "00000002 06 n 01 heart_attack 0 000 | an event\n"
    )
    synsets = wordnet_nouns(tmp_path)
    pair = ("Megacardia", "cardiomegaly")
    assert OfflineJudge().same([pair]) == [False]
    assert OfflineJudge(synsets).same([pair, ("heart attack", "cardiomegaly")]) == [True, False]
    with pytest.raises(DataError, match=r"data\.noun"):
        wordnet_nouns(tmp_path / "nowhere")


def test_model_judge_over_http(tmp_path: Path) -> None:
    script = Script()
    with serve(script) as url:
        cache = ContentCache(tmp_path / "c.sqlite")
        judge = ModelJudge(CachedChat(ChatServer(Endpoint(url), "llama3.3:70b"), cache))
        pairs = [("dog", "a dog"), ("cat", "dog")]
        assert judge.same(pairs) == [True, False]
        assert judge.same(pairs * 2) == [True, False] * 2
        assert len(script.requests) == 2


def test_agreement_is_cohens_kappa() -> None:
    rng = random.Random(0)
    first = [rng.random() < 0.4 for _ in range(200)]
    second = [value if rng.random() < 0.8 else not value for value in first]
    found = agreement(first, second)
    assert found.kappa == pytest.approx(cohen_kappa_score(first, second))
    assert agreement([True], [True]).kappa is None
    with pytest.raises(ValueError, match="compared"):
        agreement([True], [])


def test_answers_are_read() -> None:
    text = "<think>Textual Error: x</think>\n**Textual Error:** a cat, dog,\nVisual Feature: [tv]"
    assert read_answer(text) == Answer(("a cat", "dog"), ("tv",))
    assert read_answer("I cannot tell.") == Answer((), ())
    assert len(read_answer("Textual Error: a,b,c,d,e,f,g").errors) == 5
    below = "Textual Error:\n1. a cat\n2. dog\n\nVisual Feature:\n\n- tv\n- sofa\nThat is why."
    assert read_answer(below) == Answer(("a cat", "dog"), ("tv", "sofa"))
    lists = 'Sure: {"textual_error": ["cat", "", 3], "visual_feature": ["tv"], "why": ["x"]}'
    assert read_answer(lists) == Answer(("cat",), ("tv",))
    # cut at the token limit, or not a list
    assert read_answer('{"textual_error": ["cat", "dog') == Answer(("cat", "dog"), ())
    assert read_answer('{"textual_error": "cat"}') == Answer(("cat",), ())
    assert read_answer("} {") == Answer((), ())


def _setting(t: str, v: str, strength: float, size: float = 0.3) -> Setting:
    return Setting("natural", t, v, strength, strength, 10, 4, 3, 1, ("random",), size, (), ())


def test_accuracy_counts_top_one_and_top_five() -> None:
    settings = [
        _setting("dog", "car", 0.3),
        _setting("dog", "car", 0.6),
        _setting("cat", "tv", 0.9),
    ]
    answers = [
        Answer(("dog",), ("truck", "car")),
        Answer(("puppy", "cat"), ("automobile",)),
        Answer(("bird",), ("television",)),
    ]
    scored = score(settings, answers, OfflineJudge())
    shares = {
        m: accuracy(scored, m).share for m in ("t@1", "t@5", "v@1", "v@5", "both@1", "both@5")
    }
    assert shares == pytest.approx(
        {"t@1": 2 / 3, "t@5": 2 / 3, "v@1": 2 / 3, "v@5": 1, "both@1": 1 / 3, "both@5": 2 / 3}
    )
    assert accuracy(scored, "t@1").n_pairs == 2
    assert set(strata(scored)["strength"]) == {"0.3", "0.6", "0.9"}
    assert strata(scored)["feature size"]["0.2 to 0.4"] == scored
    assert any("both@5" in line for line in table(scored))
    with pytest.raises(DataError, match="no setting"):
        accuracy([], "t@1")


def test_interval_counts_pairs_not_settings() -> None:
    # 20 pairs whose three strengths always agree carry the information of 20 trials, not of 60
    settings = [_setting(f"t{k}", "car", s) for k in range(20) for s in (0.3, 0.6, 0.9)]
    answers = [Answer((f"t{k}",) if k % 2 else ("no",), ()) for k in range(20) for _ in range(3)]
    clustered = accuracy(score(settings, answers, OfflineJudge()), "t@1")
    apart = [_setting(f"t{k}", f"v{s}", s) for k in range(20) for s in (0.3, 0.6, 0.9)]
    free = accuracy(score(apart, answers, OfflineJudge()), "t@1")
    assert clustered.share == free.share == 0.5
    ratio = (clustered.high - clustered.low) / (free.high - free.low)
    assert ratio == pytest.approx(3**0.5, rel=0.15)


def test_difference_is_paired() -> None:
    settings = [_setting(f"t{k}", "car", 0.3) for k in range(30)]
    right = [Answer((f"t{k}",), ()) for k in range(30)]
    wrong = [*right[:20], *(Answer((), ()) for _ in range(10))]
    one, two = (score(settings, answers, OfflineJudge()) for answers in (right, wrong))
    gap, low, high = difference(one, two, "t@1")
    assert gap == pytest.approx(1 / 3)
    assert 0 < low < gap < high
    with pytest.raises(DataError, match="same settings"):
        difference(one, two[:10], "t@1")
