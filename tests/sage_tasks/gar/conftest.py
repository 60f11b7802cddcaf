"""Runs of GAR over the first items of the demo set, with words given in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sage_tasks.gar.constraints import constraint
from sage_tasks.gar.definitions_file import write_definitions
from sage_tasks.gar.records import Definition, ItemText
from sage_tasks.lexicons.base import Gloss
from sage_tasks.package import open_package
from sage_tasks.records import Query
from sage_tasks.sources import dataset_root
from wordsight.run.harness import RunResult

ITEMS = 4
Run = Callable[..., RunResult]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("WORDSIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def queries() -> list[Query]:
    """The demo set's first items."""
    return list(open_package(dataset_root("demo"), "demo").queries[:ITEMS])


@pytest.fixture(scope="session")
def words(queries: list[Query], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A definitions file for them, from the demo set's own definitions."""
    path = tmp_path_factory.mktemp("words") / "definitions.jsonl"
    write_definitions([_words(query) for query in queries], path)
    return path


def _words(query: Query) -> ItemText:
    return ItemText(
        term=query.term,
        context=query.context,
        pos=query.pos,
        glosses=(Gloss("wordnet", "1-n", query.gloss), Gloss("wordnet", "2-n", "something else")),
        lexical=Definition(text=f"{query.gloss}.", visible=(query.context,), chosen="wordnet:1-n"),
        generated=Definition(text=f"{query.term} as in {query.context}."),
        constraints=(
            constraint("object", query.context),
            constraint("attribute", "many colours"),
            constraint("state", query.gloss),
        ),
        faults={"definition.repaired": 1},
    )


@pytest.fixture
def run(words: Path, tmp_path: Path) -> Run:
    """Run the demo task with a model's arguments into a folder; GAR gets the words."""
    from wordsight.run.report import evaluate
    from wordsight.run.spec import RunSpec

    def call(name: str, model_args: str = "", model: str = "gar", **options: bool) -> RunResult:
        if model == "gar":
            given = "" if "text_base" in model_args else f",definitions={words}"
            model_args = f"{model_args or 'base=conse'}{given}"
        spec = RunSpec(model=model, tasks=("sage_demo",), model_args=model_args, limit=ITEMS)
        result = evaluate(spec, tmp_path / name, quiet=True, **options)
        assert result is not None
        return result

    return call
