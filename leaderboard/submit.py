"""From a run on disk to a board: a folder, a server, or a dataset repository on the Hub."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from leaderboard.importers import READERS, is_packed, recognise
from leaderboard.lines import Submission, write_submission
from leaderboard.records import Receipt
from leaderboard.runs import read_runs
from leaderboard.store import create_store
from leaderboard.targets import HUB, Target, read_target
from wordsight.errors import WordsightError

TOKEN_VARIABLE = "WORDSIGHT_TOKEN"


@dataclass(frozen=True)
class Wish:
    """What the submitter says beside the run itself.

    partial : take a run that leaves items unanswered; they score 0.
    replace : take its row also where an earlier attempt answered more items; on record.
    other_pictures : take answers on other copies of the same pictures (local boards only).
    """

    partial: bool = False
    replace: bool = False
    other_pictures: bool = False

    @property
    def words(self) -> list[str]:
        """The names of what is wished."""
        return [name for name in ("partial", "replace") if getattr(self, name)]


def submit(
    run: Path,
    to: str,
    *,
    partial: bool = False,
    replace: bool = False,
    other_pictures: bool = False,
    name: str = "",
    cost: float | None = None,
    contact: str = "",
    source: str = "",
) -> list[Receipt]:
    """Submit every model found under ``run``, or the packed submission that it is.

    to : a board folder, ``http(s)://`` address of a running board (token from WORDSIGHT_TOKEN), or
    ``hf://datasets/ORG/REPO`` (opens a pull request), or a name that ends in .jsonl: the packed
    submission is written there, for the page or another tool to send.
    partial, replace, other_pictures : see ``Wish``.
    name : name of the model on the board, instead of the run's.
    source : "every_eval_ever", "inspect" or "packed" where ``run`` is a file of that form; a packed
    file is recognised without.

    Raises DataError or IncompleteRunError for a run that cannot be packed, SubmissionError for one
    that the board refuses, WordsightError for a ``to`` that is none of these.
    """
    target = read_target(to)
    found = _read(run, source or recognise(run), name=name, partial=partial)
    if name and len(found) > 1:
        labels = ", ".join(one.header.label for one in found)
        raise WordsightError(f"{run}: holds several models ({labels}); one name fits one only")
    submissions = [_told(one, name=name, cost=cost, contact=contact) for one in found]
    wish = Wish(partial, replace, other_pictures)
    receipts = _SENDERS[target.kind](submissions, target, wish)
    return [
        receipt.model_copy(update={"notes": [*one.notes, *receipt.notes]})
        for one, receipt in zip(submissions, receipts, strict=True)
    ]


def _read(run: Path, source: str, *, name: str, partial: bool) -> list[Submission]:
    if source:
        return [READERS[source](run, name)]
    return read_runs(run, partial=partial, name=name)


def _told(submission: Submission, *, name: str, cost: float | None, contact: str) -> Submission:
    told = {"model": name, "cost": cost, "contact": contact}
    changed = {
        **submission.header.model_dump(by_alias=True),
        **{key: value for key, value in told.items() if value},
    }
    return Submission(
        type(submission.header).model_validate(changed), submission.items, submission.notes
    )


def _keep(submissions: list[Submission], target: Target, wish: Wish) -> list[Receipt]:
    store = create_store(Path(target.place))
    # all or none: every one is checked before the first is stored
    checks = [
        store.check(
            one,
            name=one.header.label,
            other_pictures=wish.other_pictures,
            partial=wish.partial,
        )
        for one in submissions
    ]
    receipts = [
        store.add(one, checks=found, name=one.header.label, replace=wish.replace)
        for one, found in zip(submissions, checks, strict=True)
    ]
    if target.new:
        notes = [f"a new board begins in {target.place}", *receipts[0].notes]
        receipts[0] = receipts[0].model_copy(update={"notes": notes})
    return receipts


def _pack(submissions: list[Submission], target: Target, wish: Wish) -> list[Receipt]:
    path = Path(target.place)
    if len(submissions) != 1:
        labels = ", ".join(one.header.label for one in submissions)
        raise WordsightError(f"{path}: one file holds one model, the run has {labels}; give one")
    if path.exists() and not is_packed(path):
        raise WordsightError(f"{path}: is there already and no packed submission; left as it is")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(write_submission(submissions[0]))
    return [_unsent(submissions[0], f"written to {path}")]


def _unsent(submission: Submission, state: str) -> Receipt:
    return Receipt(
        submission=submission.id,
        entry=submission.header.entry,
        label=submission.header.label,
        state=state,
    )


def _post(submissions: list[Submission], target: Target, wish: Wish) -> list[Receipt]:
    return [_post_one(one, target.place, wish) for one in submissions]


def _post_one(submission: Submission, url: str, wish: Wish) -> Receipt:
    import httpx
    from pydantic import ValidationError

    target = f"{url.rstrip('/')}/api/v1/submissions"
    token = os.environ.get(TOKEN_VARIABLE, "")
    headers = {"content-type": "application/x-ndjson"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    try:
        answer = httpx.post(
            target,
            params=dict.fromkeys(wish.words, "true"),
            content=write_submission(submission),
            headers=headers,
            timeout=300,
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


def _ask(submissions: list[Submission], target: Target, wish: Wish) -> list[Receipt]:
    return [_pull_request(one, target.place, wish) for one in submissions]


def _pull_request(submission: Submission, repository: str, wish: Wish) -> Receipt:
    from huggingface_hub import CommitOperationAdd, HfApi
    from huggingface_hub.errors import HfHubHTTPError

    path = f"incoming/{submission.id}.jsonl"
    asked = "".join(f" --{word}" for word in wish.words)
    try:
        HfApi().create_commit(
            repo_id=repository,
            repo_type="dataset",
            operations=[CommitOperationAdd(path, write_submission(submission))],
            commit_message=f"Submission: {submission.header.label}{asked}",
            create_pr=True,
        )
    except (HfHubHTTPError, ValueError, OSError) as error:
        raise WordsightError(f"{HUB}{repository}: no pull request opened ({error})") from None
    return _unsent(submission, "pull request opened")


_SENDERS: Mapping[str, Callable[[list[Submission], Target, Wish], list[Receipt]]] = {
    "board": _keep,
    "file": _pack,
    "service": _post,
    "hub": _ask,
}
