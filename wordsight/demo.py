"""The whole way in one process: evaluate, submit, rank, on real pictures, on a CPU, offline."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.run.spec import RunSpec

if TYPE_CHECKING:
    from leaderboard.records import Board

TASKS = ("sage_demo", "sage_demo_swapped")
TEXT_FORMS = ("word", "context", "gloss")
CHANCE = "random-weights"


@dataclass(frozen=True)
class DemoResult:
    """Where the demo's parts lie, the board, and what is said about gloss against word."""

    board: Board
    verdict: dict[str, Any]
    sentence: str
    board_folder: Path
    page: Path


def run_demo(output: Path, tell: Any = print) -> DemoResult:
    """Run the demo into ``output`` and return what it found; ``tell`` is given lines of progress.

    A folder of an earlier demo is replaced.
    """
    import os
    import shutil

    # the lines told are the progress; a bar for every loop of lmms-eval would hide them
    os.environ.setdefault("TQDM_DISABLE", "1")

    from leaderboard.board import build_board
    from leaderboard.comparison import duel, sentence
    from leaderboard.site.export import export_site
    from leaderboard.store import open_store
    from leaderboard.submit import submit
    from wordsight.run.report import evaluate

    board_folder = output / "board"
    for part in ("runs", "board", "site", "models"):
        shutil.rmtree(output / part, ignore_errors=True)
    for name, spec in _specs(output / "models"):
        folder = output / "runs" / name
        tell(f"evaluating {spec.model} {spec.model_args}")
        evaluate(spec, folder, quiet=True)
        submit(folder, str(board_folder))
    store = open_store(board_folder)
    base = "conse (text=word)"
    board = build_board(store, base=base, tracks=["demo"])
    found = duel(store, "sage_demo", "conse (text=gloss)", base)
    tell("writing the pages")
    page = export_site(store, output / "site", base=base)
    return DemoResult(board, found.model_dump(mode="json"), sentence(found), board_folder, page)


def demo_and_report(output: Path, *, as_json: bool) -> None:
    """The ``demo`` command."""

    def tell(line: str) -> None:
        print(line, file=sys.stderr)

    result = run_demo(output, tell)
    if as_json:
        answer = {
            "board": result.board.model_dump(mode="json"),
            "gloss_over_word": result.verdict,
            "store": str(result.board_folder),
            "page": str(result.page),
        }
        print(json.dumps(answer, indent=2))
        return
    from leaderboard.table import print_board

    print_board(result.board)
    print(result.sentence)
    print(f"\nThe board as pages: {result.page}")
    print(f"The board served: wordsight leaderboard serve --store {result.board_folder}")


def _specs(models: Path) -> Iterator[tuple[str, RunSpec]]:
    from wordsight.tiny_models import build_tiny_model

    # A vision-language model with random weights: the chance row.
    chance = build_tiny_model("qwen2_5_vl", models / CHANCE)
    yield (
        CHANCE,
        RunSpec(
            model="wordsight_hf",
            model_args=f"pretrained={chance}",
            tasks=TASKS,
            batch_size=16,
            device="cpu",
        ),
    )
    for form in TEXT_FORMS:
        yield f"conse-{form}", RunSpec(model="conse", model_args=f"text={form}", tasks=TASKS)
