"""GAR through the harness, on real pictures with a real picture model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sage_tasks.gar.model import GAR
from sage_tasks.gar.results import read_result
from sage_tasks.records import Query
from tests.sage_tasks.gar.conftest import Run
from wordsight.errors import IncompleteRunError, WordsightError
from wordsight.run.harness import RunResult
from wordsight.tiny_models import build_tiny_model


def logs(result: RunResult) -> list[dict[str, Any]]:
    (path,) = result.sample_files
    return [json.loads(line)["wordsight"] for line in path.read_text().splitlines()]


def test_base_alone_and_as_a_method_answer_alike(run: Run) -> None:
    alone = logs(run("alone", model="conse"))
    within = logs(run("within", "base=conse,method=base"))
    assert [log["scores"] for log in within] == [log["scores"] for log in alone]
    assert {log["interface"] for log in within} == {"similarity"}


@pytest.mark.parametrize("method", ["generated_def", "lexical_def", "cgr", "gar", "all"])
def test_every_method_ranks_every_item(run: Run, method: str, queries: list[Query]) -> None:
    found = logs(run(method, f"base=conse,method={method}"))
    assert [log["item"] for log in found] == [query.id for query in queries]
    assert {log["status"] for log in found} == {"ok"}
    for log in found:
        part = json.loads(log["responses"][0])["gar_item"]
        assert part["settings"]["method"] == method
        assert set(part["seconds"]) >= {"verification", "fusion"}
        assert all(
            len(json.loads(r)["gar"]["p"]) == len(part["questions"]) for r in log["responses"]
        )


def test_full_gar_score_is_the_fusion_of_both_ranks(run: Run) -> None:
    for log in logs(run("gar", "base=conse,method=gar,k=10")):
        for response in map(json.loads, log["responses"]):
            ranks = [response["gar"]["holistic_rank"], response["gar"]["constraint_rank"]]
            if all(rank == int(rank) for rank in ranks):
                assert response["similarity"] == pytest.approx(sum(1 / (10 + r) for r in ranks))


def test_one_run_of_all_methods_holds_what_the_single_runs_find(run: Run) -> None:
    from sage_tasks.gar.methods import Settings, ranking

    single = logs(run("cgr", "base=conse,method=cgr,axes=object+state"))
    (task,) = read_result(run("all", "base=conse,method=all").results_file.parent)
    wanted = Settings(method="cgr", axes=("object", "state"))
    for item, log in zip(task.items, single, strict=True):
        assert ranking(item.trace.answers, wanted) == pytest.approx(log["scores"])


def test_with_given_definitions_two_runs_have_the_same_texts(run: Run) -> None:
    runs = [
        [json.loads(log["responses"][0])["gar_item"]["text"] for log in logs(run(name))]
        for name in ("one", "two")
    ]
    assert runs[0] == runs[1]
    assert all(text["faults"] == {"definition.repaired": 1} for text in runs[0])


@pytest.mark.parametrize("together", [1, 3])
def test_how_a_run_is_cut_up_changes_nothing(run: Run, together: int) -> None:
    whole = logs(run("whole", "base=conse,method=gar"))
    cut = logs(run("cut", f"base=conse,method=gar,items_at_once={together}"))
    assert [log["scores"] for log in cut] == [log["scores"] for log in whole]


def test_an_interrupted_item_is_ranked_over_all_ten_again(run: Run, tmp_path: Path) -> None:
    whole = run("kept", "base=conse,method=gar")
    (journal,) = (tmp_path / "kept" / "journal").glob("*.jsonl")
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:13]))
    again = run("kept", "base=conse,method=gar", resume=True)
    assert [log["scores"] for log in logs(again)] == [log["scores"] for log in logs(whole)]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vision-language model with random weights: its text is garbage."""
    return build_tiny_model("qwen2_5_vl", tmp_path_factory.mktemp("tiny") / "model")


@pytest.mark.parametrize("base", ["conse", "wordsight_hf"])
def test_garbage_text_ends_all_the_same_and_is_counted(run: Run, tiny: Path, base: str) -> None:
    own = f"{base},pretrained={tiny}" if base == "wordsight_hf" else base
    found = logs(run("garbage", f"base={own},lexicon=none,method=all,text_base={tiny}"))
    assert {log["status"] for log in found} == {"ok"}
    for log in found:
        part = json.loads(log["responses"][0])["gar_item"]
        assert part["origin"]["text"] == f"wordsight_hf:{tiny}"
        faults = part["text"]["faults"]
        assert faults["definition.fallback"] == faults["generated.fallback"] == 1
        assert faults["definition.asked_again"] == faults["constraints.asked_again"] == 1
        assert part["text"]["constraints"]


def test_a_failed_question_leaves_the_item_open(
    run: Run, queries: list[Query], monkeypatch: pytest.MonkeyPatch
) -> None:
    from wordsight.answers import failed, similarity
    from wordsight.models import conse

    # a question of this item alone: equal ones of several items are asked once, for all of them
    broken = [queries[2].context]

    def answer(self: conse.ConSE, asks: Any) -> Any:
        for ask in asks:
            bad = ask.gloss in broken and ask.context == queries[2].context
            yield failed("server away") if bad else similarity(len(ask.gloss) / 100)

    monkeypatch.setattr(conse.ConSE, "answer", answer)
    result = run("open", "base=conse,method=gar")
    assert result.failed == sum(log["status"] == "failed" for log in logs(result)) == 1
    with pytest.raises(IncompleteRunError):
        result.raise_if_incomplete()
    broken.clear()
    assert run("open", "base=conse,method=gar", resume=True).failed == 0


def test_answers_that_cannot_be_read_make_the_item_invalid(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wordsight.models import conse

    monkeypatch.setattr(conse.ConSE, "answer", lambda self, asks: ("maybe" for _ in asks))
    result = run("unreadable", "base=conse,method=cgr")
    assert result.invalid == len(logs(result))
    assert result.failed == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base": "conse"}, "conse writes no text"),
        ({"base": "gar"}, "unknown base model 'gar'"),
        ({"base": "no_such"}, "unknown base model"),
        ({"base": "conse", "method": "cot"}, "choose one of base, generated_def"),
        ({"base": "conse", "axes": "colour"}, "choose from object"),
        ({"base": "conse", "text": "word"}, "leave text=... out"),
        ({"base": "conse", "definitions": "none.jsonl"}, "no such definitions file"),
        ({"base": "conse", "aggregation": "median"}, "aggregation='median'"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(WordsightError, match=message):
        GAR(**options)


def test_an_item_that_the_definitions_lack_is_named(run: Run, words: Path) -> None:
    short = words.with_name("short.jsonl")
    short.write_text("".join(words.read_text().splitlines(keepends=True)[1:]))
    # with text_base the fixture adds no definitions of its own; it is not opened
    with pytest.raises(WordsightError, match=r"short\.jsonl: no text for 'bar'"):
        run("short", f"base=conse,text_base=unused,definitions={short}")
