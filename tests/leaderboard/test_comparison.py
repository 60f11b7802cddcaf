"""Two entries against each other, and pages that show it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from scipy import stats as scipy_stats

from leaderboard.comparison import badge_svg, disagreeing, duel, sentence
from leaderboard.site.export import export_site
from leaderboard.submit import submit
from leaderboard.table import print_duel
from tests.leaderboard.bench import Bench, make_bench
from tests.leaderboard.browser import CHROMIUM, Browser
from wordsight.errors import DataError


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = make_bench(tmp_path_factory.mktemp("pair"), items=60)
    for name, accuracy in (("good", 0.95), ("same", 0.93), ("bad", 0.2)):
        submit(bench.run(name, accuracy=accuracy), str(bench.board))
    return bench


def test_verdicts(pair: Bench) -> None:
    assert duel(pair.store, "tiny", "org/good", "org/bad").answer == "yes"
    assert duel(pair.store, "tiny", "org/bad", "org/good").answer == "no"
    assert duel(pair.store, "tiny", "org/same", "org/good").answer == "cannot tell"


def test_numbers_agree_with_the_scores(pair: Bench) -> None:
    found = duel(pair.store, "tiny", "org/good", "org/bad")
    items = disagreeing(pair.store, found)
    wins = sum(one.value_a > one.value_b for one in items)
    assert (found.wins, found.losses) == (wins, len(items) - wins)
    assert found.p == pytest.approx(scipy_stats.binomtest(wins, len(items), 0.5).pvalue)
    assert found.difference == pytest.approx((2 * wins - len(items)) / 60)
    assert found.low <= found.difference <= found.high


def test_turned_round(pair: Bench) -> None:
    one = duel(pair.store, "tiny", "org/good", "org/bad")
    other = duel(pair.store, "tiny", "org/bad", "org/good")
    assert other.difference == pytest.approx(-one.difference)
    assert (other.wins, other.losses, other.p) == (one.losses, one.wins, one.p)


def test_too_few_disagreements_for_any_finding(bench: Bench) -> None:
    for name in ("one", "two"):
        submit(bench.run(name, accuracy=1.0), str(bench.board))
    found = duel(bench.store, "tiny", "org/one", "org/two")
    assert (found.answer, found.p, found.detectable) == ("cannot tell", 1.0, None)
    assert "too few items" in sentence(found)


def test_errors(pair: Bench) -> None:
    with pytest.raises(DataError, match="cannot be compared with itself"):
        duel(pair.store, "tiny", "org/good", "org/good")
    with pytest.raises(DataError, match="'other' is not on this board"):
        duel(pair.store, "other", "org/good", "org/bad")


def test_sentence_answers_the_question_in_its_own_order(pair: Bench) -> None:
    said = sentence(duel(pair.store, "tiny", "org/bad", "org/good"))
    assert said.startswith("Is org/bad better than org/good on tiny? No. org/good is the better")
    assert "Among all 3 pairs of entries" in said


def test_corrections_are_over_all_pairs(pair: Bench) -> None:
    names = ("org/good", "org/same", "org/bad")
    found = [duel(pair.store, "tiny", a, b) for a, b in combinations(names, 2)]
    p = [one.p for one in found]
    assert [one.p_screening for one in found] == pytest.approx(
        list(scipy_stats.false_discovery_control(p, method="bh"))
    )
    smallest = min(found, key=lambda one: one.p)
    assert smallest.p_holm == pytest.approx(3 * smallest.p)


def test_a_list_that_is_cut_says_so(pair: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    found = duel(pair.store, "tiny", "org/good", "org/bad")
    items = disagreeing(pair.store, found)
    print_duel(found, items, ("Term", "Context"), 5)
    cut = " ".join(capsys.readouterr().out.split())
    assert f"5 of {len(items)} items where they disagree shown" in cut
    assert f"--limit {len(items)} shows all" in cut
    print_duel(found, items, ("Term", "Context"), len(items))
    assert "--limit" not in capsys.readouterr().out


def test_badge_is_xml_that_says_the_answer(pair: Bench) -> None:
    root = ET.fromstring(badge_svg(duel(pair.store, "tiny", "org/good", "org/bad")))
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["org/good better than org/bad? (tiny)", "yes"]


def short(bench: Bench, name: str, answered: int) -> None:
    """A run that leaves all items but the first few unanswered."""

    def cut(task: str, lines: list[dict[str, Any]]) -> None:
        del lines[answered:]

    run = bench.run(name, accuracy=0.9, tasks=("tiny",), edit=cut)
    submit(run, str(bench.board), partial=True)


def test_no_verdict_on_who_leaves_many_items_unanswered(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, items=60)
    submit(bench.run("whole", accuracy=0.95, tasks=("tiny",)), str(bench.board))
    for name, answered in (("most", 57), ("less", 56), ("some", 20)):
        short(bench, name, answered)
    assert duel(bench.store, "tiny", "org/whole", "org/less").answer == "no verdict"
    assert duel(bench.store, "tiny", "org/whole", "org/most").answer == "yes", "5% may lack"
    found = duel(bench.store, "tiny", "org/whole", "org/some")
    assert found.p < 0.001
    said = sentence(found)
    assert "No verdict: the second left 40 of 60 items unanswered; they count as wrong" in said
    assert "cannot tell" not in said
    both = sentence(duel(bench.store, "tiny", "org/less", "org/some"))
    assert "the first left 4 of 60 items unanswered and the second left 40 of 60" in both
    assert ">no verdict</text>" in badge_svg(found)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_page_says_why_there_is_no_verdict(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, items=60)
    submit(bench.run("whole", accuracy=1.0, tasks=("tiny",)), str(bench.board))
    short(bench, "some", 20)
    page = export_site(bench.store, tmp_path / "site").parent / "tasks" / "tiny" / "compare.html"
    found = duel(bench.store, "tiny", "org/some", "org/whole")
    with Browser() as browser:
        browser.open(f"{page.as_uri()}#a={found.a}&b={found.b}")
        text = browser.run("document.getElementById('result').innerText")
        assert "No verdict: A left 40 of 60 items unanswered" in text


def test_one_item_is_no_items(bench: Bench) -> None:
    def off(task: str, lines: list[dict[str, Any]]) -> None:
        first, *rest = lines[0]["wordsight"]["responses"]
        lines[0]["wordsight"]["responses"] = [*rest, first]

    submit(bench.run("one", accuracy=1.0, tasks=("tiny",)), str(bench.board))
    submit(bench.run("two", accuracy=1.0, tasks=("tiny",), edit=off), str(bench.board))
    said = sentence(duel(bench.store, "tiny", "org/one", "org/two"))
    assert "1 item right only by the first, 0 items only by the second" in said


def test_static_page_holds_every_pair(pair: Bench) -> None:
    page = export_site(pair.store, pair.root / "site").parent / "tasks" / "tiny" / "compare.html"
    found = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    data = json.loads(found[1])
    assert len(data["duels"]) == 3
    assert len(data["items"]) == 60
    assert {len(one["told"]) for one in data["answers"].values()} == {60}


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_static_page_draws_the_chosen_pair(pair: Bench) -> None:
    page = export_site(pair.store, pair.root / "site2").parent / "tasks" / "tiny" / "compare.html"
    found = duel(pair.store, "tiny", "org/bad", "org/good")
    with Browser() as browser:
        browser.open(f"{page.as_uri()}#a={found.a}&b={found.b}")
        text = browser.run("document.getElementById('result').innerText")
        assert "B is better than A." in text
        assert f"{len(disagreeing(pair.store, found))} items where they disagree" in text
        assert browser.run("document.querySelectorAll('.duel').length") == 20
        assert f"20 of {len(disagreeing(pair.store, found))} shown." in text
        browser.run("Array.from(document.querySelectorAll('button')).at(-1).click()")
        assert browser.run("document.querySelectorAll('.duel').length") > 20
        assert browser.run("document.querySelectorAll('.duel li.gold').length") == browser.run(
            "document.querySelectorAll('.duel').length"
        )
