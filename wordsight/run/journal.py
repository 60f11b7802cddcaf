"""Answers kept on disk as they arrive, so that an interrupted run goes on where it stopped.

lmms-eval's own response cache keeps failed requests as if they were answers and, for models that
return a list, loses everything in a crash. This journal is written line by line, holds no failed
request, and knows a request by its content instead of its place.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from wordsight.answers import FAILED_PREFIX
from wordsight.errors import WordsightError

if TYPE_CHECKING:
    from tqdm import tqdm

# A model that returns lists is asked in portions, so that a kill loses one portion at most: by the
# letters of their prompts, since long prompts take long, and by number.
PORTION_LETTERS = 65_536
LEAST_PORTION, MOST_PORTION = 8, 256


class Journal:
    """Answers of one run: a JSON Lines file per process, ``<folder>/<run key>.<rank>.jsonl``.

    On opening, the answers of all ranks are read: a run may go on with another number of
    processes. A last line cut by a kill is dropped.

    seconds_before : how long earlier, interrupted legs of the run took until their last answer.
    """

    def __init__(self, folder: Path, run_key: str, rank: int = 0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"{run_key}.{rank}.jsonl"
        self._answers: dict[str, str] = {}
        self.seconds_before = 0.0
        for path in sorted(folder.glob(f"{run_key}.*.jsonl")):
            answers, seconds = _read(path)
            self._answers.update(answers)
            self.seconds_before = max(self.seconds_before, seconds)
        self._started = time.monotonic()
        self._file: IO[str] | None = None
        self._unwritten: list[str] = []

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: str) -> str | None:
        """The answer to a request, if it was answered."""
        return self._answers.get(key)

    def put(self, key: str, response: str, *, settled: bool = True) -> None:
        """Keep an answer. A failed request is not kept: it will be asked again.

        settled : False holds it back until one comes that is: answers that were computed together
        reach the disk together, so that a kill never leaves a part of them.

        Raises WordsightError when the disk takes no more.
        """
        if not response.lstrip().startswith(FAILED_PREFIX):
            self._answers[key] = response
            seconds = round(time.monotonic() - self._started, 3)
            line = {"key": key, "response": response, "seconds": seconds}
            self._unwritten.append(json.dumps(line) + "\n")
        if settled:
            self._write()

    def _write(self) -> None:
        if not self._unwritten:
            return
        try:
            if self._file is None:
                self._file = _open_for_append(self._path)
            self._file.write("".join(self._unwritten))
            self._file.flush()
            self._unwritten.clear()
        except OSError as error:
            raise WordsightError(
                f"{self._path}: cannot write ({error}); what was answered before is kept: make "
                "room and run the same command with --resume"
            ) from error

    def close(self) -> None:
        """Flush to the disk and close. Part of a lot that was held back is asked again."""
        self._unwritten.clear()
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    def discard(self) -> None:
        """Forget all answers of this run, of every rank."""
        self.close()
        prefix = self._path.name.split(".")[0]
        for path in self._path.parent.glob(f"{prefix}.*.jsonl"):
            path.unlink()
        self._answers.clear()
        self.seconds_before = 0.0


def keep_answers(
    ask: Callable[[list[Any]], Iterable[Any]],
    task_dict: dict[str, Any],
    journal: Journal,
    bar: tqdm[Any],
    arrange: Callable[[Sequence[Any]], list[int]] | None = None,
    settled: Callable[[], bool] = lambda: True,
) -> Callable[[Sequence[Any]], Iterator[str]]:
    """Wrap a model's ``generate_until``: answered requests come from the journal, the rest is
    asked and kept as it arrives. ``bar`` shows how many answers have come.

    A model with ``arrange`` streams, so it gets all its requests at once, in the order it likes;
    ``settled`` tells whether all that it computed together has come.
    """

    def generate_until(requests: Sequence[Any]) -> Iterator[str]:
        keys = [request_key(request, task_dict) for request in requests]
        # The same request may stand several times (padding between processes): ask it once.
        open_requests = {
            key: request
            for key, request in zip(keys, requests, strict=True)
            if journal.get(key) is None
        }
        bar.reset(total=len(requests))
        bar.update(len(requests) - len(open_requests))
        failures: dict[str, str] = {}
        arranged = list(open_requests.items())
        if arrange is not None:
            arranged = [arranged[i] for i in arrange([request for _, request in arranged])]
        for portion in [arranged] if arrange is not None else _portions(arranged):
            if not portion:
                break
            answers = ask([request for _, request in portion])
            for (key, _), answer in zip(portion, answers, strict=True):
                text = _text(answer)
                journal.put(key, text, settled=settled())
                if journal.get(key) is None:
                    failures[key] = text
                bar.update()
        for key in keys:
            answer = journal.get(key)
            yield failures[key] if answer is None else answer

    return generate_until


def _portions(pending: Sequence[tuple[str, Any]]) -> Iterator[list[tuple[str, Any]]]:
    """Requests in lots that a model which returns lists is asked at once."""
    portion: list[tuple[str, Any]] = []
    letters = 0
    for key, request in pending:
        portion.append((key, request))
        letters += len(str(request.args[0]))
        full = letters >= PORTION_LETTERS and len(portion) >= LEAST_PORTION
        if full or len(portion) == MOST_PORTION:
            yield portion
            portion, letters = [], 0
    if portion:
        yield portion


def request_key(request: Any, task_dict: dict[str, Any]) -> str:
    """Identity of a request by content: task, question, item, picture, generation arguments.

    Tasks of other packages, whose documents may hold pictures, are known by document number.
    """
    doc_id, task, split = request.args[-3:]
    view = task_dict[task][split]
    content = view[doc_id] if hasattr(view, "picture") else [doc_id, request.idx]
    options = next((arg for arg in request.args if isinstance(arg, dict)), {})
    payload = [task, split, request.args[0], content, options]
    text = json.dumps(payload, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _text(answer: Any) -> str:
    return str(getattr(answer, "text", answer))


def _read(path: Path) -> tuple[dict[str, str], float]:
    """The answers of one process, and how long its legs took together."""
    answers: dict[str, str] = {}
    ended, last = 0.0, 0.0
    for line in path.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
            answers[record["key"]] = record["response"]
            seconds = float(record.get("seconds", 0.0))
        except (ValueError, KeyError, TypeError):
            continue  # empty, or cut by a kill: the request is asked again
        if seconds < last:  # the clock began anew: another leg
            ended += last
        last = seconds
    return answers, ended + last


def _open_for_append(path: Path) -> IO[str]:
    """Open for appending, after ending a last line that a kill has cut."""
    cut = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    file = path.open("a", encoding="utf-8")
    if cut:
        file.write("\n")
    return file
