"""One lmms-eval run in this process: model, tasks, answers, files on disk."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import IncompleteRunError, WordsightError
from wordsight.run.journal import Journal, keep_answers
from wordsight.run.lazy import put_off
from wordsight.run.spec import RunSpec
from wordsight.shard import SHARD_VARIABLE

if TYPE_CHECKING:
    from lmms_eval.api.model import lmms
    from tqdm import tqdm

JOURNAL_FOLDER = "journal"


@dataclass(frozen=True)
class RunResult:
    """What a run left: lmms-eval's result table and the files it wrote."""

    results: dict[str, Any]
    results_file: Path
    sample_files: tuple[Path, ...]
    failed: int
    invalid: int
    seconds_before: float = 0.0
    """How long interrupted legs of the same run had taken."""

    def raise_if_incomplete(self) -> None:
        """Raises IncompleteRunError when a request failed."""
        if self.failed:
            raise IncompleteRunError(
                f"{self.failed} item(s) have a failed request and no score, so the run is "
                "incomplete; run the same command with --resume to ask them again"
            )


def load_model(spec: RunSpec) -> lmms:
    """The lmms-eval model that the run names. Raises WordsightError for an unknown name and for
    arguments that the model does not take."""
    from lmms_eval.models import MODEL_REGISTRY_V2, get_model
    from safetensors import SafetensorError

    if spec.model not in MODEL_REGISTRY_V2.list_model_names():
        raise WordsightError(f"unknown model {spec.model!r}; `lmms-eval models` lists them")
    options = {"batch_size": spec.batch_size, "device": spec.device}
    kind = get_model(spec.model, spec.force_simple)
    try:
        return kind.create_from_arg_string(spec.model_args, options)
    except SafetensorError as error:
        raise WordsightError(
            f"the weights of --model_args {spec.model_args!r} are cut or damaged ({error}); fetch "
            "the checkpoint again"
        ) from error
    except (TypeError, ValueError, OSError, RuntimeError, AssertionError) as error:
        # a wrong name in --model_args, a checkpoint that is not there, no such device
        raise WordsightError(
            f"{spec.model} cannot be made from --model_args {spec.model_args!r}: {error}\n"
            f"It takes {', '.join(_options_of(kind))}; write them as name=value,name=value"
        ) from error


def _options_of(kind: type) -> list[str]:
    """Names that a model class and its parents take."""
    import inspect

    names: dict[str, None] = {}
    for parent in kind.__mro__:
        if "__init__" in vars(parent) and parent is not object:
            named = inspect.signature(vars(parent)["__init__"]).parameters.values()
            names.update(dict.fromkeys(p.name for p in named if p.kind is p.POSITIONAL_OR_KEYWORD))
    return [name for name in names if name not in ("self", "max_batch_size")]


def run(
    spec: RunSpec,
    output: Path,
    *,
    resume: bool = False,
    restart: bool = False,
    model: lmms | None = None,
    quiet: bool = False,
) -> RunResult | None:
    """Run the tasks and write lmms-eval's result and samples files into ``output``.

    ``resume`` goes on from the answers that an earlier run of the same model left there,
    ``restart`` throws them away; with neither, such answers are an error. ``model`` may be given
    where it is at hand already. Returns None in processes other than the first.

    Raises WordsightError for unknown models or tasks, bad data and a full disk.
    """
    # lmms-eval imports it for metrics of other tasks; that takes as long as all else together
    put_off("evaluate")
    rank = int(os.environ.get("RANK", "0"))
    with (
        _alone(spec, output, rank),
        _set_variable(SHARD_VARIABLE, spec.shard),
        contextlib.redirect_stdout(sys.stderr),
    ):
        journal = _open_journal(spec, output, rank, resume=resume, restart=restart)
        lm = model if model is not None else load_model(spec)
        try:
            with _progress(quiet or rank > 0) as bar:
                arrange = getattr(lm, "arrange", None)
                answers = keep_answers(
                    lm.generate_until,
                    lm.task_dict,
                    journal,
                    bar,
                    arrange,
                    lambda: bool(getattr(lm, "settled", True)),
                )
                lm.generate_until = answers
                results = _evaluate(spec, lm, quiet=quiet)
        finally:
            journal.close()
        if results is None:
            return None
        return replace(_write(spec, output, results), seconds_before=journal.seconds_before)


@contextlib.contextmanager
def _alone(spec: RunSpec, output: Path, rank: int) -> Iterator[None]:
    """Keep a second run of the same model out of the folder: both would write the same files."""
    from filelock import FileLock, Timeout

    folder = output / JOURNAL_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"{spec.key}.{rank}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise WordsightError(
            f"another run of this model is writing to {output}; wait for it or take another folder"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _open_journal(
    spec: RunSpec, output: Path, rank: int, *, resume: bool, restart: bool
) -> Journal:
    journal = Journal(output / JOURNAL_FOLDER, spec.key, rank)
    if restart:
        journal.discard()
    elif len(journal) and not resume:
        raise WordsightError(
            f"{output} already holds {len(journal)} answers of this model: --resume uses them, "
            "--restart throws them away, another --output_path leaves them alone"
        )
    return journal


def _evaluate(spec: RunSpec, lm: lmms, *, quiet: bool) -> dict[str, Any] | None:
    from lmms_eval.evaluator import simple_evaluate
    from loguru import logger

    from wordsight.run.tasks import task_manager

    logger.remove()
    logger.add(sys.stderr, level="WARNING" if quiet else "INFO", format="{level}: {message}")
    distributed = int(os.environ.get("WORLD_SIZE", "1")) > 1
    results: dict[str, Any] | None = simple_evaluate(
        model=lm,
        model_args=spec.model_args,
        tasks=list(spec.tasks),
        task_manager=task_manager(spec),
        batch_size=spec.batch_size,
        device=spec.device,
        limit=spec.limit,
        gen_kwargs=spec.gen_kwargs,
        log_samples=True,
        bootstrap_iters=0,  # intervals are the board's work, from the items
        random_seed=spec.seed,
        numpy_random_seed=spec.seed,
        torch_random_seed=spec.seed,
        fewshot_random_seed=spec.seed,
        distributed_executor_backend="torchrun" if distributed else "accelerate",
    )
    return results


def _write(spec: RunSpec, output: Path, results: dict[str, Any]) -> RunResult:
    from lmms_eval.loggers import EvaluationTracker
    from lmms_eval.utils import get_datetime_str

    samples = results.pop("samples")
    # lmms-eval saw a model object; the files name the model as the user did.
    results["config"]["model"] = spec.model
    tracker = EvaluationTracker(output_path=str(output))
    tracker.general_config_tracker.log_experiment_args(
        model_source=spec.model,
        model_args=spec.model_args,
        system_instruction=None,
        chat_template=None,
        fewshot_as_multiturn=False,
    )
    for task_samples in samples.values():
        # Several processes hand their samples over in the order of their ranks.
        task_samples.sort(key=lambda sample: sample["doc_id"])
    stamp = get_datetime_str().replace(":", "-")
    folder = output / tracker.general_config_tracker.model_name_sanitized
    results_file = folder / f"{stamp}_results.json"
    tracker.save_results_aggregated(results, samples, stamp)
    for task, task_samples in samples.items():
        tracker.save_results_samples(task, task_samples)
    files = tuple(folder / f"{stamp}_samples_{task}.jsonl" for task in samples)
    missing = [str(path) for path in (results_file, *files) if not path.is_file()]
    if missing:
        raise WordsightError(f"could not write {', '.join(missing)}: is the disk full?")
    return RunResult(
        results=results,
        results_file=results_file,
        sample_files=files,
        failed=_count(results, "failed"),
        invalid=_count(results, "invalid"),
    )


def _count(results: dict[str, Any], metric: str) -> int:
    return int(sum(task.get(f"{metric},none", 0) for task in results["results"].values()))


def _progress(hidden: bool) -> tqdm[Any]:
    from tqdm import tqdm

    # a second between updates keeps logs of batch jobs readable
    return tqdm(unit="answer", disable=hidden, file=sys.stderr, mininterval=1.0)


@contextlib.contextmanager
def _set_variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
