"""A submission against the board's gold: what does not belong is named, nothing is guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.gold import Gold
from leaderboard.lines import Submission
from leaderboard.records import TaskReport
from leaderboard.schema import SubmissionError, TaskRun
from leaderboard.scoring import ItemScore, score_task


@dataclass(frozen=True)
class TaskCheck:
    """What a check found in one task of an accepted submission.

    ``missing`` lists items that do not stand in it, ``other_pictures`` items answered on other
    copies of the same pictures; ``scores`` are the board's, one per item of the gold.
    """

    task: str
    items: int
    missing: tuple[str, ...]
    other_pictures: tuple[str, ...]
    scores: Sequence[ItemScore]

    @property
    def report(self) -> TaskReport:
        """The same as counts; a request that failed leaves its item unanswered too."""
        states = [score.status for score in self.scores]
        return TaskReport(
            task=self.task,
            items=self.items,
            total=len(states),
            missing=states.count("missing"),
            invalid=states.count("invalid"),
            other_pictures=len(self.other_pictures),
        )


def check(
    submission: Submission,
    golds: Mapping[str, Gold],
    *,
    name: str = "submission",
    other_pictures: bool = False,
    partial: bool = False,
) -> list[TaskCheck]:
    """Match a submission with the gold of its tasks, and score it.

    golds : task name -> gold, for at least the submission's tasks.
    other_pictures : accept answers given on other copies (resized) of the same pictures.
    partial : accept a run that leaves more than a few items unanswered.

    Raises SubmissionError naming line and item for a task that was not announced, another task
    version, an unknown or repeated item, other pictures, and for too many unanswered items.
    """
    runs = {run.name: run for run in submission.header.tasks}
    for run in runs.values():
        _check_version(run, golds[run.name], name)
    seen: dict[str, dict[str, int]] = {task: {} for task in runs}
    others: dict[str, list[str]] = {task: [] for task in runs}
    # the header is line 1
    for number, item in enumerate(submission.items, 2):
        where = f"{name}: line {number}: item {item.item}"
        if item.task not in runs:
            raise SubmissionError(f"{where}: task {item.task} is not named in the header")
        gold, before = golds[item.task], seen[item.task]
        if item.item not in gold.row:
            raise SubmissionError(f"{where}: {_unknown(item.task, runs[item.task], gold)}")
        if item.item in before:
            raise SubmissionError(
                f"{where}: stood on line {before[item.item]} already; an item is answered once"
            )
        before[item.item] = number
        if not item.images:
            if runs[item.task].dataset != gold.fingerprint:
                raise SubmissionError(
                    f"{where}: nothing says what it was answered on; "
                    f"{_builds(runs[item.task], gold)}"
                )
        elif not gold.same_inputs(item.item, item.images):
            if not other_pictures:
                raise SubmissionError(
                    f"{where}: answered on other picture files (fingerprint {item.images}) than "
                    f"the board's; {_builds(runs[item.task], gold)}. Accepted only where the board "
                    "allows other copies, and then marked"
                )
            others[item.task].append(item.item)
    for task, items in seen.items():
        if not items:
            raise SubmissionError(f"{name}: task {task} is named in the header but has no item")
        _check_dataset(runs[task], golds[task], name, differs=bool(others[task]))
    found = [
        _scored(submission, golds[task], set(items), tuple(others[task]))
        for task, items in seen.items()
    ]
    if not partial:
        _check_answered([one.report for one in found], name)
    return found


def _scored(
    submission: Submission, gold: Gold, items: set[str], others: tuple[str, ...]
) -> TaskCheck:
    task = gold.task.name
    responses = {i.item: i.responses for i in submission.items if i.task == task}
    return TaskCheck(
        task=task,
        items=len(items),
        missing=tuple(q.id for q in gold.summaries if q.id not in items),
        other_pictures=others,
        scores=score_task(gold, responses),
    )


def few(items: int) -> int:
    """How many of a task's items a run may leave unanswered without saying so.

    One in a hundred, at least three, but never more than the one in twenty beyond which a
    comparison says nothing about the models.
    """
    return min(max(3, items // 100), items // 20)


def _check_answered(reports: Sequence[TaskReport], name: str) -> None:
    for report in reports:
        if report.missing > few(report.total):
            raise SubmissionError(
                f"{name}: task {report.task}: {report.missing} of {report.total} items are not "
                f"answered, more than {few(report.total)}. Was this a run with --limit, one shard, "
                "or one with failed requests? Complete it and submit that; or send it as it is "
                "with --partial (in the API ?partial=true): unanswered items score 0"
            )


def _check_version(run: TaskRun, gold: Gold, name: str) -> None:
    if run.version != gold.task.version:
        raise SubmissionError(
            f"{name}: line 1 (header): task {run.name} was run in version {run.version}; the board "
            f"scores version {gold.task.version}: run it again with the current task"
        )


def _check_dataset(run: TaskRun, gold: Gold, name: str, *, differs: bool) -> None:
    if run.dataset and run.dataset != gold.fingerprint and not differs:
        raise SubmissionError(
            f"{name}: line 1 (header): task {run.name}: {_builds(run, gold)}, although the items "
            "named are the board's: another dataset version, run again with the current one"
        )


def _unknown(task: str, run: TaskRun, gold: Gold) -> str:
    if run.dataset and run.dataset != gold.fingerprint:
        return f"unknown to task {task}; {_builds(run, gold)}: run again with the current dataset"
    return f"unknown to task {task}"


def _builds(run: TaskRun, gold: Gold) -> str:
    build = f"dataset version {run.dataset}" if run.dataset else "an unnamed dataset version"
    return f"the run used {build}, the board scores {gold.fingerprint}"
