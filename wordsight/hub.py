"""Datasets on the Hugging Face Hub, or beside the user: pinned, pushed, pulled, found by name.

A dataset has a name ("verse"). Which repository and which commit it stands for is written in one
file, ``revisions.json``, by :func:`push`; so what a task reads never changes under its users.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.errors import DataError

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, HfApi

DATA_VARIABLE = "WORDSIGHT_DATA"
REVISIONS_VARIABLE = "WORDSIGHT_REVISIONS"

BUILD_COMMANDS: Mapping[str, str] = {
    "vwsd": "wordsight build vwsd --source DIR",
    "vwsd_fa": "wordsight build vwsd --source DIR --language fa",
    "vwsd_it": "wordsight build vwsd --source DIR --language it",
    "verse": "wordsight build spis --annotations CSV --coco-images DIR --captions JSON",
    "wikidiverse": "wordsight build wikidiverse --source DIR --images DIR",
    "symbalbench_natural": "wordsight build symbalbench --domain natural",
    "symbalbench_medical": "wordsight build symbalbench --domain medical",
}


@dataclass(frozen=True)
class Pin:
    """A commit of a dataset repository."""

    repo: str
    revision: str


def revisions_file() -> Path:
    """The file of pins: WORDSIGHT_REVISIONS, else the one that ships with the package."""
    named = os.environ.get(REVISIONS_VARIABLE)
    return Path(named).expanduser() if named else Path(__file__).with_name("revisions.json")


def read_pins(path: Path | None = None) -> dict[str, Pin]:
    """All pins by dataset name. Raises DataError when the file is damaged."""
    path = path or revisions_file()
    if not path.is_file():
        return {}
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        return {name: Pin(entry["repo"], entry["revision"]) for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: not a file of pinned revisions ({error!r})") from None


def write_pin(name: str, pin: Pin, path: Path | None = None) -> Path:
    """Add or replace the pin of a dataset; returns the file."""
    path = path or revisions_file()
    pins = {**read_pins(path), name: pin}
    text = json.dumps({key: asdict(pins[key]) for key in sorted(pins)}, indent=2) + "\n"
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror}), so {name} stays unpinned; it is "
            f"published as {pin.repo} at {pin.revision}: name another file with --revisions"
        ) from error
    return path


def locate(name: str) -> Path:
    """Folder of the dataset ``name``: under WORDSIGHT_DATA, else the pinned commit on the Hub.

    A commit that was downloaded before is read from the Hub's cache, also offline. Raises
    DataError naming the build command when the dataset is in neither place.
    """
    base = os.environ.get(DATA_VARIABLE)
    if base and (local := Path(base).expanduser() / name).is_dir():
        return local
    pin = read_pins().get(name)
    if pin is not None:
        return download(pin)
    command = BUILD_COMMANDS.get(name, f"wordsight build {name}")
    looked = (
        f"{Path(base).expanduser() / name} is no folder" if base else f"{DATA_VARIABLE} not set"
    )
    raise DataError(
        f"no dataset {name!r}: {looked}, and {revisions_file()} pins no revision of it; build it "
        f"with `{command} --out FOLDER/{name}` and set {DATA_VARIABLE}=FOLDER"
    )


def download(pin: Pin, out: Path | None = None) -> Path:
    """Fetch a commit, into the Hub's cache or into ``out``; what is there already is not fetched.

    Raises DataError when it can be had neither from the Hub nor from the cache.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        folder = snapshot_download(
            repo_id=pin.repo, repo_type="dataset", revision=pin.revision, local_dir=out
        )
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise DataError(
            f"dataset {pin.repo}, revision {pin.revision}: cannot be downloaded "
            f"({type(error).__name__}: {_first_line(error)}); check the network, or HF_TOKEN if "
            "the repository is private"
        ) from error
    return Path(folder)


def push(
    folder: Path,
    repo: str,
    private: bool = False,
    branch: str | None = None,
    queries_only: bool = False,
) -> Pin:
    """Make the repository hold exactly the dataset ``folder``, in one commit; returns its pin.

    Large files are sent before the commit, so after an interruption those that arrived are not
    sent again, and nobody sees half a dataset. Whether the pictures may be passed on is
    :func:`wordsight.hub_rights.check_rights`'s business, not asked here. Raises DataError when
    the folder is no dataset or the Hub refuses.
    """
    from huggingface_hub import CommitOperationDelete, HfApi
    from huggingface_hub.errors import HfHubHTTPError

    if not (folder / "README.md").is_file():
        raise DataError(f"{folder}: no README.md, so not a built dataset; build it first")
    api = HfApi()
    try:
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        if branch:
            api.create_branch(repo, branch=branch, repo_type="dataset", exist_ok=True)
        additions = list(_additions(folder, queries_only))
        kept = {addition.path_in_repo for addition in additions} | {".gitattributes"}
        stale = sorted(set(_remote_files(api, repo, branch)) - kept)
        commit = api.create_commit(
            repo,
            [*additions, *(CommitOperationDelete(path) for path in stale)],
            commit_message="Update the dataset",
            repo_type="dataset",
            revision=branch,
        )
    except (HfHubHTTPError, OSError, RuntimeError, ValueError) as error:
        raise DataError(
            f"{folder}: not pushed to {repo} ({type(error).__name__}: {_first_line(error)}); "
            "run the same command again to go on where it stopped"
        ) from error
    return Pin(repo, commit.oid)


def _additions(folder: Path, queries_only: bool) -> Iterator[CommitOperationAdd]:
    from huggingface_hub import CommitOperationAdd

    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not path.is_file() or hidden or name.endswith(".partial"):
            continue
        if queries_only and name.startswith("images/"):
            continue
        if queries_only and name == "README.md":
            text = _without_pictures(path.read_text(encoding="utf-8"), str(path))
            yield CommitOperationAdd(name, text.encode())
        else:
            yield CommitOperationAdd(name, str(path))


def _without_pictures(card: str, where: str) -> str:
    import yaml

    parts = card.split("---\n", 2)
    if len(parts) != 3 or parts[0]:
        raise DataError(f"{where}: no YAML header between two lines of ---")
    header = yaml.safe_load(parts[1])
    configs = header.get("configs", [])
    header["configs"] = [config for config in configs if config["config_name"] != "images"]
    text = yaml.safe_dump(header, sort_keys=False, allow_unicode=True)
    note = (
        "\n> This repository holds the queries without the pictures, which may not be passed on. "
        "Join your\n> own copy: `wordsight pull --repo REPOSITORY --images DIR --out FOLDER`.\n"
    )
    return f"---\n{text}---\n{note}{parts[2]}"


def _remote_files(api: HfApi, repo: str, branch: str | None) -> list[str]:
    from huggingface_hub.errors import RevisionNotFoundError

    try:
        return list(api.list_repo_files(repo, repo_type="dataset", revision=branch))
    except RevisionNotFoundError:  # a repository that was just made and has no commit
        return []


def _first_line(error: Exception) -> str:
    return (str(error).strip() or "no reason given").splitlines()[0]
