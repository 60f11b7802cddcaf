"""A board whose folder is mirrored on a dataset repository of the Hub, so a restart loses nothing.

The local folder stays the one that is read. What a submission adds (its file and the ledger) is
committed to the repository before the submitter is told that it is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from leaderboard.catalog import BOARD_FILE
from leaderboard.lines import read_submission
from leaderboard.records import Receipt
from leaderboard.schema import SubmissionError
from leaderboard.store import Store, create_store
from wordsight.errors import DataError, WordsightError

KEPT = ("entries/*.parquet", "ledger.jsonl", BOARD_FILE)


@dataclass(frozen=True)
class Mirror:
    """A dataset repository that holds a board. Reads the token from HF_TOKEN, as every Hub tool."""

    repository: str
    root: Path

    def pull(self) -> Store:
        """Fetch the repository's board into ``root``. Raises WordsightError when it cannot."""
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError

        try:
            snapshot_download(
                self.repository, repo_type="dataset", local_dir=self.root, allow_patterns=list(KEPT)
            )
        except (HfHubHTTPError, OSError) as error:
            raise WordsightError(
                f"hf://datasets/{self.repository}: not fetched ({error})"
            ) from None
        store = create_store(self.root)
        store.verify()
        return store

    def push(self, store: Store, receipts: list[Receipt]) -> None:
        """Commit the files of these submissions and the ledger. Raises WordsightError."""
        from huggingface_hub import CommitOperationAdd, HfApi
        from huggingface_hub.errors import HfHubHTTPError

        paths = [f"entries/{receipt.submission}.parquet" for receipt in receipts]
        # under the lock: a ledger must never be overwritten by a shorter one
        with store.locked():
            operations = [
                CommitOperationAdd(path, (self.root / path).read_bytes())
                for path in (*paths, "ledger.jsonl")
            ]
            try:
                HfApi().create_commit(
                    self.repository,
                    repo_type="dataset",
                    operations=operations,
                    commit_message=f"Submission {', '.join(r.label for r in receipts)}",
                )
            except (HfHubHTTPError, OSError) as error:
                raise WordsightError(
                    f"hf://datasets/{self.repository}: stored here, not on the Hub ({error}); "
                    "submit again"
                ) from None


def take_in(store: Store, folder: Path) -> list[Receipt]:
    """Add the packed submissions of a folder (``incoming/``, where merged pull requests lie).

    One that does not fit is skipped with its reason in the raised DataError, after all others
    were added.
    """
    receipts, refused = [], []
    for path in sorted(folder.glob("*.jsonl")):
        try:
            receipts.append(
                store.add(read_submission(path.read_bytes(), path.name), name=path.name)
            )
        except (SubmissionError, DataError) as error:
            refused.append(str(error))
    if refused:
        raise DataError(f"{folder}: {len(refused)} not added:\n" + "\n".join(refused))
    return receipts
