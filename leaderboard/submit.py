"""From a run on disk to a board: a folder, a server, or a dataset repository on the Hub."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from leaderboard.importers import READERS, is_packed, recognise
from leaderboard.lines import Submission, write_submission
from leaderboard.records import Receipt
from leaderboard.runs import read_runs
from leaderboard.schema import Amount, ModelName, Short
from leaderboard.store import create_store
from leaderboard.targets import HUB, Target, read_target
from wordsight.errors import WordsightError

TOKEN_VARIABLE = "WORDSIGHT_TOKEN"

# seconds to wait for the Hub's first answer, before its client tries again and again
HUB_PATIENCE = 10.0


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


class _Told(BaseModel):
    """What the submitter says for the header; each field has the rule of the header's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ModelName | None
    cost: Amount | None
    contact: Short | None

    @property
    def header(self) -> dict[str, Any]:
        """Fields of the header that it changes."""
        told = {"model": self.name, "cost": self.cost, "contact": self.contact}
        return {key: value for key, value in told.items() if value is not None}


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
    that the board refuses, WordsightError for a ``to`` that is none of these, and for a name, cost
    or contact that a header cannot have.
    """
    target = read_target(to)
    told = _told(name=name or None, cost=cost, contact=contact or None)
    found = _read(run, source or recognise(run), name=told.name or "", partial=partial)
    if name and len(found) > 1:
        labels = ", ".join(one.header.label for one in found)
        raise WordsightError(f"{run}: holds several models ({labels}); one name fits one only")
    submissions = [_with(told, one, run) for one in found]
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


def _told(**options: Any) -> _Told:
    try:
        return _Told.model_validate(options)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        message = first["msg"].removeprefix("Value error, ")
        if first["type"] == "too_long":  # its own message counts "items"
            message = f"has {len(first['input'])} characters; at most {first['ctx']['max_length']}"
        raise WordsightError(
            f"--{first['loc'][0]} {str(first['input'])[:60]!r}: {message}"
        ) from None


def _with(told: _Told, submission: Submission, run: Path) -> Submission:
    header = submission.header.model_copy(update=told.header)
    return replace(submission, header=header, origin=submission.origin or str(run))


def _keep(submissions: list[Submission], target: Target, wish: Wish) -> list[Receipt]:
    store = create_store(Path(target.place))
    # all or none: every one is checked before the first is stored
    checks = [
        store.check(
            one,
            name=one.name,
            other_pictures=wish.other_pictures,
            partial=wish.partial,
        )
        for one in submissions
    ]
    receipts = [
        store.add(one, checks=found, name=one.name, replace=wish.replace)
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
        raise WordsightError(
            f"{submission.name}: {target}: refused ({answer.status_code}): {_detail(answer.text)}"
        )
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

    from leaderboard.hub_store import hub_errors

    path = f"incoming/{submission.id}.jsonl"
    asked = "".join(f" --{word}" for word in wish.words)
    try:
        # a commit is tried again for half a minute where nothing answers; a question is not
        HfApi().dataset_info(repository, timeout=HUB_PATIENCE)
        HfApi().create_commit(
            repo_id=repository,
            repo_type="dataset",
            operations=[CommitOperationAdd(path, write_submission(submission))],
            commit_message=f"Submission: {submission.header.label}{asked}",
            create_pr=True,
        )
    except (*hub_errors(), ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise WordsightError(
            f"{HUB}{repository}: no pull request opened for {submission.name} ({reason}); look at "
            "the network, the repository's name and HF_TOKEN, or pack into a file: --to run.jsonl"
        ) from None
    return _unsent(submission, "pull request opened")


_SENDERS: Mapping[str, Callable[[list[Submission], Target, Wish], list[Receipt]]] = {
    "board": _keep,
    "file": _pack,
    "service": _post,
    "hub": _ask,
}
