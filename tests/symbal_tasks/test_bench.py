"""Methods over settings: the demo benchmark, the control, the direct prompt."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from symbal_tasks.backends import Row
from symbal_tasks.bench import rows_of, run_method, stratified, without_association
from symbal_tasks.bench_command import BenchCommand, ablate_lines, bench_lines, prepare
from symbal_tasks.cache import ContentCache
from symbal_tasks.direct import count_words, direct_prompt, symbal_letters
from symbal_tasks.inject import phi
from symbal_tasks.view import Benchmark, open_benchmark
from tests.symbal_tasks.chat_server import Script, serve
from wordsight.errors import DataError, WordsightError

DEMO = Path(__file__).resolve().parents[2] / "symbal_tasks" / "demo"


@pytest.fixture(scope="module")
def demo() -> Benchmark:
    return open_benchmark(DEMO, "natural")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache") / "c.sqlite"


def _command(cache: Path, out: Path, **changes: object) -> BenchCommand:
    values: dict[str, object] = {
        "benchmark": DEMO,
        "domain": "natural",
        "images": None,
        "methods": ("symbal", "control", "nogroup"),
        "settings": 6,
        "least_shown": 0,
        "composition": "offline",
        "parts": (),
        "server": "",
        "references": True,
        "second": "everywhere",
        "sweep": "8,16",
        "margin": 2.0,
        "direct_model": "",
        "direct_form": "text",
        "context_tokens": 8192,
        "judge_model": "",
        "wordnet": None,
        "out": out,
        "traces": None,
        "seed": 0,
        "cache": cache,
    }
    return BenchCommand(**(values | changes))  # type: ignore[arg-type]


def test_demo_is_whole(demo: Benchmark) -> None:
    assert len(demo.settings) == 18
    assert {s.strength for s in demo.settings} == {0.3, 0.6, 0.9}
    rows = rows_of(demo, demo.settings[0])
    assert all(row.reference and row.picture is None for row in rows)
    assert not any(row.reference for row in rows_of(demo, demo.settings[0], references=False))


def test_settings_are_stratified(demo: Benchmark) -> None:
    chosen = stratified(demo.settings, 9)
    assert [sum(s.strength == v for s in chosen) for v in (0.3, 0.6, 0.9)] == [3, 3, 3]
    assert stratified(demo.settings, 9) == chosen
    assert len(stratified(demo.settings, 500)) == 18


def test_rare_features_can_be_left_out(cache: Path, tmp_path: Path, demo: Benchmark) -> None:
    counts = sorted({setting.n_v for setting in demo.settings})
    command = _command(cache, tmp_path / "x", settings=0, least_shown=counts[1])
    chosen = prepare(command, ContentCache(cache)).settings
    assert {setting.n_v for setting in chosen} == set(counts[1:])
    with pytest.raises(DataError, match="the most is"):
        prepare(_command(cache, tmp_path / "x", least_shown=10**6), ContentCache(cache))


def test_control_keeps_the_errors_and_breaks_the_tie(demo: Benchmark) -> None:
    strengths = []
    for setting in demo.settings:
        shuffled = without_association(setting, demo)
        assert len(shuffled.rows) == len(setting.rows)
        assert shuffled.sentences == setting.sentences
        shows = {i for i, row in enumerate(demo.stored.rows) if setting.v in row.features}
        a = len(shows & set(shuffled.rows))
        strengths.append(phi(a, len(shuffled.rows) - a, len(shows), setting.n))
    assert abs(np.mean(strengths)) < 0.1
    assert np.mean([s.achieved for s in demo.settings]) > 0.5


def test_methods_find_the_error_and_the_run_goes_on(cache: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    lines = list(bench_lines(_command(cache, out, traces=tmp_path / "traces")))
    assert any(line.startswith("== symbal minus control") for line in lines)
    assert any("both@5" in line for line in lines)
    shares = [line for line in lines if line.startswith("t@5")]
    assert float(shares[0].split()[1]) > 80
    held = out.read_text().splitlines()
    assert len(held) == 18
    assert len(list((tmp_path / "traces").iterdir())) == 18
    # killed in the middle of a line
    out.write_text("\n".join(held[:10]) + "\n" + held[10][:30])
    assert list(bench_lines(_command(cache, out))) == lines
    assert out.read_text().splitlines() == held
    # answers of other options are not taken for these
    list(bench_lines(_command(cache, out, sweep="4,8", methods=("symbal",), settings=2)))
    assert len(out.read_text().splitlines()) == 20
    out.write_text("{}\n")
    with pytest.raises(DataError, match="line 1"):
        list(bench_lines(_command(cache, out)))


def test_direct_prompt_fits_its_context() -> None:
    rows = [Row(str(k), f"A caption about thing {k}." * 3, "A truth.") for k in range(500)]
    small, large = (direct_prompt(rows, context_tokens=n) for n in (600, 4000))
    assert 0 < len(small.shown) < len(large.shown) < 500
    assert small.shown == large.shown[: len(small.shown)]
    assert len(small.text) <= 600 * 3
    assert "Reference caption: A truth." in small.text
    assert all(row.caption in small.text for row in small.shown)
    assert len(direct_prompt(rows, context_tokens=10**6).shown) == 500
    assert direct_prompt(rows, context_tokens=4000, seed=1).shown != large.shown
    bare = direct_prompt([Row("1", "A caption long enough to be worth its label.")])
    assert "Reference caption" not in bare.text
    with pytest.raises(DataError, match="no caption at all"):
        direct_prompt([Row("1", "word " * 9000)], context_tokens=300)


def test_direct_prompt_costs_no_more_than_symbal() -> None:
    # labels take more letters than these captions, so not all rows fit what Symbal reads
    rows = [Row(str(k), "A dog.", "A cat.") for k in range(100)]
    prompt = direct_prompt(rows, context_tokens=10**6)
    assert 0 < len(prompt.shown) < 100
    template = len(direct_prompt(rows[:9], context_tokens=10**6).text)
    assert len(prompt.text) - template < symbal_letters(rows) == 100 * (2 * 6 + 6)


def test_counting_words_finds_what_only_captions_say() -> None:
    scenes = ("a dog runs on the beach", "a cat sleeps on the sofa", "a bus drives on the road")
    rows = [
        Row(
            str(k),
            f"{scenes[k % 3].capitalize()}." + (" There is a kite." if k % 3 == 0 else ""),
            f"{scenes[k % 3].capitalize()}.",
        )
        for k in range(60)
    ]
    found = count_words(rows)
    assert found.errors == ("kite",)
    assert set(found.features) <= {"dog run", "beach"}
    assert count_words([Row("1", "A dog.", "A dog.")] * 5).errors == ()
    with pytest.raises(DataError, match="there are none"):
        count_words([Row("1", "A dog.")])


def test_direct_method_and_model_judge_use_the_server(cache: Path, tmp_path: Path) -> None:
    script = Script()
    out = tmp_path / "d.jsonl"
    with serve(script) as url:

        def run(form: str) -> list[str]:
            command = _command(
                cache,
                out,
                methods=("direct", "words"),
                settings=3,
                server=url,
                direct_model="m",
                direct_form=form,
                judge_model="j",
            )
            return list(bench_lines(command))

        lines = run("text")
        assert any("judge(server:j, judge-1)" in line for line in lines)
        direct = [r for r in script.requests if r["model"] == "m"]
        assert len(direct) == 3
        assert all("Textual Error: ..." in r["messages"][0]["content"] for r in direct)
        assert not any("response_format" in r for r in direct)
        run("json")
    held_to = [r["response_format"] for r in script.requests if "response_format" in r]
    assert len(held_to) == 3
    assert held_to[0]["json_schema"]["schema"]["required"] == ["textual_error", "visual_feature"]
    kept = [json.loads(line) for line in out.read_text().splitlines()]
    assert [entry["method"] for entry in kept] == [*["direct"] * 3, *["words"] * 3] * 2
    # the server's JSON lists are read as the answer
    assert kept[6]["errors"] == ["kite"]
    assert kept[6]["features"] == ["person", "man"]


def test_options_are_checked(cache: Path, tmp_path: Path, demo: Benchmark) -> None:
    store = ContentCache(cache)
    with pytest.raises(WordsightError, match="--second"):
        prepare(_command(cache, tmp_path / "x", second="both"), store)
    with pytest.raises(WordsightError, match="--sweep"):
        prepare(_command(cache, tmp_path / "x", sweep="8-16"), store)
    with pytest.raises(WordsightError, match="--direct-form 'xml': use text or json"):
        prepare(_command(cache, tmp_path / "x", direct_form="xml"), store)
    with pytest.raises(WordsightError, match="needs a server"):
        prepare(_command(cache, tmp_path / "x", direct_model="m"), store)
    assert prepare(_command(cache, tmp_path / "x", margin=0.0), store).options.margin == 0
    run = prepare(_command(cache, tmp_path / "x"), store)
    with pytest.raises(WordsightError, match="no method 'smbl'"):
        run_method("smbl", run, demo.settings[0])
    with pytest.raises(WordsightError, match="direct-model"):
        run_method("direct", run, demo.settings[0])


def test_ablation_fixes_stage_one(cache: Path, tmp_path: Path) -> None:
    command = _command(cache, tmp_path / "x", settings=3)
    lists = (("minilm",), ("sentence", "lexical"), ("counting",), ("references",))
    lines = list(ablate_lines(command, *lists, ("sentence", "lexical"), ("counting",)))
    best = next(line for line in lines if line.startswith("best: minilm"))
    rows = [line for line in lines if "acc@5" in line]
    assert len(rows) == 4
    top = max(rows[:2], key=lambda line: [float(x) for x in line.split()[-1::-2][:2]])
    assert best.removeprefix("best: ") in top
    assert lines[-1].startswith("best: references")
