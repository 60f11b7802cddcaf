"""Symbal end to end on made-up captions with a planted error."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from symbal_tasks.backends import Row
from symbal_tasks.cache import ContentCache
from symbal_tasks.compositions import PRESETS, compose, spec
from symbal_tasks.scorers import LexicalScorer
from symbal_tasks.server import Endpoint
from symbal_tasks.summarise import CountingSummary, count_features, read_features
from symbal_tasks.symbal import Composition, Options, find, find_ungrouped, split_claims
from tests.symbal_tasks.chat_server import Script, serve
from wordsight.errors import DataError, WordsightError

SCENES = {
    "kitchen": ["A stove and a sink in a kitchen.", "The kitchen has an oven and a sink."],
    "beach": ["Waves roll onto a sandy beach.", "A sandy beach with waves and a lifeguard."],
    "street": ["Cars drive along a busy street.", "A busy street full of cars and taxis."],
    "zoo": ["A giraffe eats leaves at the zoo.", "The zoo keeper feeds a tall giraffe."],
}
ERRORS = ["There is an umbrella.", "An umbrella can be seen.", "In the back is an umbrella."]
SMALL = Options(sweep=(2, 4, 5, 6, 8), picture_sweep=(2, 4), everywhere_sweep=(2, 4))


def planted(n: int = 200, share: float = 0.9, seed: int = 0) -> list[Row]:
    """Captions in four kinds of scene; beaches get a wrong umbrella."""
    rng = random.Random(seed)
    rows = []
    for k in range(n):
        scene = list(SCENES)[k % 4]
        caption, reference = rng.sample(SCENES[scene], 2)
        if rng.random() < (share if scene == "beach" else 0.02):
            caption += " " + rng.choice(ERRORS)
        truth = f"{reference} {caption.split('.')[0]}."
        rows.append(Row(str(k), caption, truth, truth.encode))
    return rows


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> ContentCache:
    return ContentCache(tmp_path_factory.mktemp("cache") / "c.sqlite")


@pytest.fixture(scope="module")
def offline(cache: ContentCache) -> Composition:
    return compose(spec("offline"), cache)


@pytest.mark.parametrize("second", ["behind", "everywhere"])
def test_planted_error_is_found(offline: Composition, second: str, tmp_path: Path) -> None:
    options = Options(
        sweep=SMALL.sweep,
        picture_sweep=SMALL.picture_sweep,
        everywhere_sweep=SMALL.everywhere_sweep,
        second=second,  # type: ignore[arg-type]
    )
    trace = find(planted(), offline, options)
    finding = trace.findings[0]
    assert finding.errors[0] == "umbrella"
    assert {"beach", "sandy beach", "sandy"} & set(finding.features)
    assert all("umbrella" in fact for _, fact in finding.facts)
    assert trace.first is not None
    scores = [group.score for group in trace.first.groups if group.score is not None]
    assert scores == sorted(scores)
    assert trace.answer().startswith("Textual Error: umbrella")
    trace.write(tmp_path / "trace.json")
    written = json.loads((tmp_path / "trace.json").read_text())
    assert written["composition"]["scorer"] == "lexical-1"
    assert sum(len(g["members"]) for g in written["first"]["groups"]) == written["n_facts"]


def test_result_repeats(offline: Composition) -> None:
    assert find(planted(), offline, SMALL) == find(planted(), offline, SMALL)


def test_several_misalignments(offline: Composition) -> None:
    rows = []
    for k, row in enumerate(planted(240)):
        extra = " A red kite flies above." if "giraffe" in row.reference and k % 8 else ""
        rows.append(Row(row.id, row.caption + extra, row.reference))
    options = Options(findings=2, sweep=(4, 6, 8), picture_sweep=(2, 4))
    found = {finding.errors[0] for finding in find(rows, offline, options).findings}
    assert "umbrella" in found
    assert any("kite" in name for name in found)


def test_near_duplicate_groups_are_one_finding(offline: Composition) -> None:
    options = Options(findings=3, sweep=(11,), picture_sweep=(2,), merge=0.5, min_share=0.001)
    findings = find(planted(), offline, options).findings
    first = {fact for _, fact in findings[0].facts}
    assert len(first) == len(ERRORS)


def test_ungrouped_flags_single_facts(offline: Composition) -> None:
    trace = find_ungrouped(planted(), offline, SMALL)
    assert trace.first is None
    assert trace.findings[0].errors[0] == "umbrella"
    clean = [Row(str(k), "A dog.", "A dog.") for k in range(10)]
    assert find_ungrouped(clean, offline).findings == ()
    assert find_ungrouped(clean, offline).answer() == "Textual Error: \nVisual Feature: "


@pytest.mark.parametrize(
    "captions",
    [
        ["One caption only."],
        ["A dog."] * 30,
        ["A dog.", ""],
    ],
)
def test_degenerate_sets_give_a_result(offline: Composition, captions: list[str]) -> None:
    rows = [Row(str(k), text, "A cat.") for k, text in enumerate(captions)]
    trace = find(rows, offline, SMALL)
    assert trace.n_rows == len(captions)
    assert trace.findings[0].facts


def test_no_facts_is_an_error(offline: Composition) -> None:
    with pytest.raises(DataError, match="all captions are empty"):
        find([Row("1", ""), Row("2", " ... ")], offline)
    with pytest.raises(DataError, match="row 7: no reference"):
        find([Row("7", "A dog.")], offline, SMALL)


def test_facts_can_be_defined_anew() -> None:
    claims = split_claims([Row("1", "a; b; c")], lambda text: text.split("; "))
    assert [claim.fact for claim in claims] == ["a", "b", "c"]


def test_models_behind_a_server_do_every_part(cache: ContentCache) -> None:
    script = Script()
    with serve(script) as url:
        parts = spec(
            "offline",
            scorer="text:judge",
            text_summary="text:namer",
            row_summary="vision:looker",
            second_scorer="vision:looker",
        )
        composition = compose(parts, cache, Endpoint(url))
        options = Options(sweep=(4, 6), picture_sweep=(2,), score_sample=10, summary_sample=12)
        trace = find(planted(120), composition, options)
        assert trace.findings[0].errors[0] == "umbrella"
        seen = [str(r["messages"]) for r in script.requests if r["model"] == "looker"]
        assert any("Which things" in text and "A true description" in text for text in seen)
        # the pictures' bytes say what they show, and the server read them
        assert {"beach", "sandy", "wave"} & set(trace.findings[0].features)
        asked = len(script.requests)
        assert find(planted(120), composition, options) == trace
        assert len(script.requests) == asked
        assert {request["model"] for request in script.requests} == {"judge", "namer", "looker"}


def test_reference_free_variant_needs_a_captioner(cache: ContentCache) -> None:
    with pytest.raises(WordsightError, match="captioner"):
        compose(spec("offline"), cache, references=False)
    script = Script()
    rows = [Row(row.id, row.caption, "", row.picture) for row in planted(120)]
    with serve(script) as url:
        parts = spec(
            "offline",
            scorer="text:judge",
            captioner="vision:looker",
            pictures="conse",
            row_summary="vision:looker",
        )
        with pytest.raises(DataError, match="cannot be decoded"):
            # the made-up pictures are text: the server reads them, a picture model cannot
            find(rows, compose(parts, cache, Endpoint(url), references=False), SMALL)
    captions = [r for r in script.requests if "Describe" in str(r["messages"])]
    assert len(captions) == len({row.reference for row in planted(120)})


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(Script()) as url:
        yield Endpoint(url)


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_preset_can_be_built(name: str, cache: ContentCache, endpoint: Endpoint) -> None:
    composition = compose(PRESETS[name], cache, endpoint)
    assert all(composition.names().values())
    if name.startswith("offline"):
        compose(PRESETS[name], cache)
    else:
        with pytest.raises(WordsightError, match="--server"):
            compose(PRESETS[name], cache)


def test_a_second_call_or_counting_picks_the_names(cache: ContentCache) -> None:
    rows = planted(60)
    picks = {}
    for how in ("", "+count"):
        script = Script()
        with serve(script) as url:
            parts = spec(
                "offline", text_summary=f"text{how}:namer", row_summary=f"vision{how}:looker"
            )
            composition = compose(parts, ContentCache(), Endpoint(url))
            trace = find(rows, composition, Options(sweep=(4, 6), picture_sweep=(2,)))
        assert trace.findings[0].errors[0] == "umbrella"
        picks[how] = sum("one list of features per line" in str(r) for r in script.requests)
    assert picks == {"": 2, "+count": 0}


def test_unknown_parts_are_named(cache: ContentCache) -> None:
    with pytest.raises(WordsightError, match="no composition 'papr'"):
        spec("papr")
    with pytest.raises(WordsightError, match="no part scorr"):
        spec("offline", scorr="x")
    for part in ("texts", "scorer", "pictures", "text_summary"):
        with pytest.raises(WordsightError, match="'zzz'"):
            compose(spec("offline", **{part: "zzz"}), cache)


def test_embedding_scorer_ignores_references(cache: ContentCache) -> None:
    composition = compose(spec("offline_free"), cache)
    assert not composition.scorer.uses_reference
    assert not composition.scorer.needs_reference


def test_lexical_scorer_is_the_share_of_words() -> None:
    claims = split_claims([Row("1", "A red dog. It is there. A cat.", "The dog sleeps.")])
    scores = LexicalScorer().score(claims)
    assert scores[0] == 0.5
    assert scores[1] != scores[1]
    assert scores[2] == 0.0


def test_counting_prefers_what_stands_out() -> None:
    texts = ["a man with an umbrella", "a man and an umbrella", "umbrella"]
    others = ["a man on a bike", "a man in a car", "a man sits"]
    assert CountingSummary().summarise(texts, others, 2)[0] == "umbrella"
    assert CountingSummary().summarise([], others, 2) == []


def test_features_are_read_and_counted() -> None:
    assert read_features("Sure.\nAnswer: A dog, two cats., none") == ["a dog", "two cats"]
    assert read_features("answer:") == []
    lists = [["a dog", "cat"], ["the dog"], ["dogs", "bird"], ["a dog"]]
    assert count_features(lists, 1) == ["a dog"]
