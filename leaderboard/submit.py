"""From a run on disk to a board: a folder, a server, or a dataset repository on the Hub."""

from __future__ import annotations

import os
from pathlib import Path

from leaderboard.importers import READERS
from leaderboard.lines import Submission, write_submission
from leaderboard.records import Receipt
from leaderboard.runs import read_runs
from leaderboard.store import create_store
from wordsight.errors import WordsightError

TOKEN_VARIABLE = "WORDSIGHT_TOKEN"
HUB = "hf://datasets/"


def submit(
    run_dir: Path,
    to: str,
    *,
    partial: bool = False,
    other_pictures: bool = False,
    cost: float | None = None,
    contact: str = "",
    source: str = "",
) -> list[Receipt]:
    """Submit every model found under ``run_dir``.

    to : a board folder, ``http(s)://`` address of a running board (token from WORDSIGHT_TOKEN), or
    ``hf://datasets/ORG/REPO`` (opens a pull request), or a name that ends in .jsonl: the packed
    submission is written there, for the page or another tool to send.
    partial : accept runs with failed requests; their items count as missing.
    other_pictures : accept answers on other copies of the same pictures (local boards only).
    source : "every_eval_ever", "inspect" or "packed" where ``run_dir`` is a file of that form.

    Raises DataError or IncompleteRunError for a run that cannot be packed, SubmissionError for one
    that the board refuses.
    """
    found = [READERS[source](run_dir)] if source else read_runs(run_dir, partial=partial)
    submissions = [_with(one, cost=cost, contact=contact) for one in found]
    if to.startswith(("http://", "https://")):
        return [_post(one, to) for one in submissions]
    if to.startswith(HUB):
        return [_pull_request(one, to.removeprefix(HUB)) for one in submissions]
    if to.endswith(".jsonl"):
        return [_pack(submissions, Path(to))]
    store = create_store(Path(to))
    for one in submissions:  # all or none: check every one before the first is stored
        store.check(one, name=one.header.label, other_pictures=other_pictures)
    return [
        store.add(one, name=one.header.label, other_pictures=other_pictures) for one in submissions
    ]


def _with(submission: Submission, *, cost: float | None, contact: str) -> Submission:
    told = {"cost": cost, "contact": contact}
    header = submission.header.model_copy(update={k: v for k, v in told.items() if v})
    return Submission(
        type(header).model_validate(header.model_dump(by_alias=True)), submission.items
    )


def _pack(submissions: list[Submission], path: Path) -> Receipt:
    if len(submissions) != 1:
        labels = ", ".join(one.header.label for one in submissions)
        raise WordsightError(f"{path}: one file holds one model, the run has {labels}; give one")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(write_submission(submissions[0]))
    return _unsent(submissions[0], f"written to {path}")


def _unsent(submission: Submission, state: str) -> Receipt:
    return Receipt(
        submission=submission.id,
        entry=submission.header.entry,
        label=submission.header.label,
        state=state,
    )


def _post(submission: Submission, url: str) -> Receipt:
    import httpx
    from pydantic import ValidationError

    target = f"{url.rstrip('/')}/api/v1/submissions"
    token = os.environ.get(TOKEN_VARIABLE, "")
    headers = {"content-type": "application/x-ndjson"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    try:
        answer = httpx.post(
            target, content=write_submission(submission), headers=headers, timeout=300
        )
    except httpx.HTTPError as error:
        raise WordsightError(f"{target}: cannot be reached ({error})") from None
    if answer.status_code >= 400:
        raise WordsightError(f"{target}: refused ({answer.status_code}): {_detail(answer.text)}")
    try:
        return Receipt.model_validate_json(answer.content)
    except ValidationError:
        raise WordsightError(f"{target}: answered something else than a receipt") from None


def _detail(text: str) -> str:
    import json

    try:
        return str(json.loads(text)["detail"])[:1000]
    except (ValueError, KeyError, TypeError):
        return text[:300]


def _pull_request(submission: Submission, repository: str) -> Receipt:
    from huggingface_hub import CommitOperationAdd, HfApi
    from huggingface_hub.errors import HfHubHTTPError

    path = f"incoming/{submission.id}.jsonl"
    try:
        HfApi().create_commit(
            repo_id=repository,
            repo_type="dataset",
            operations=[CommitOperationAdd(path, write_submission(submission))],
            commit_message=f"Submission: {submission.header.label}",
            create_pr=True,
        )
    except (HfHubHTTPError, ValueError, OSError) as error:
        raise WordsightError(f"{HUB}{repository}: no pull request opened ({error})") from None
    return _unsent(submission, "pull request opened")
