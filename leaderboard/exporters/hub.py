"""Evaluation results for model pages of the Hugging Face Hub (``.eval_results/*.yaml``)."""

from __future__ import annotations

from pathlib import Path

from leaderboard.catalog import BoardTask
from leaderboard.files import write_atomic
from leaderboard.records import Board
from leaderboard.store import Store
from wordsight.errors import DataError

NAME = "wordsight.yaml"


def write_yaml(store: Store, board: Board, out: Path) -> list[Path]:
    """One file per model under ``out/<organisation>/<name>/.eval_results``, for its repository.

    Values are the track's first measure in percent. Only models with a Hub name, and tasks whose
    dataset is on the Hub, can be given. Raises DataError when there is none.
    """
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    by_model: dict[str, list[EvalResultEntry]] = {}
    for track in board.tracks:
        for row in track.rows:
            if "/" not in row.model:
                continue
            for task, cell in row.cells.items():
                source = hub_dataset(store.catalog.task(task))
                if source is None:
                    continue
                first = cell.scores[track.first.name]
                notes = f"{row.label}, {cell.interface}, 95% interval "
                notes += f"{100 * first.low:.1f} to {100 * first.high:.1f}"
                by_model.setdefault(row.model, []).append(
                    EvalResultEntry(
                        dataset_id=source[0],
                        task_id=task,
                        value=round(100 * first.value, 2),
                        dataset_revision=source[1],
                        date=row.submitted[:10],
                        notes=notes,
                    )
                )
    if not by_model:
        raise DataError("no entry has both a Hub model name and a task whose dataset is on the Hub")
    written = []
    for model, entries in by_model.items():
        path = out / model / ".eval_results" / NAME
        text = yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False)
        write_atomic(path, text.encode())
        written.append(path)
    return written


def hub_dataset(task: BoardTask) -> tuple[str, str] | None:
    """Repository and revision that the task's dataset is pinned to; None where it has none."""
    from wordsight.hub import read_pins

    pin = read_pins().get(task.dataset)
    return (pin.repo, pin.revision) if pin else None
