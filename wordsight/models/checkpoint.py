"""Whether a checkpoint can be had, before libraries try the Hub again and again for minutes."""

from __future__ import annotations

from pathlib import Path

from loguru import logger

from wordsight.errors import WordsightError

# Seconds for the one question that the Hub is asked.
_PATIENCE = 10.0


def find_checkpoint(name: str, revision: str | None = None) -> str:
    """What ``from_pretrained`` is to be given for a folder or a repository of the Hub.

    Asks the Hub once. Where it cannot be reached, that is the copy in the Hub's cache. Raises
    WordsightError in one line where there is no such folder, no such repository, or neither a Hub
    nor a cached copy.
    """
    folder = Path(name)
    if folder.is_dir():
        if not any((folder / file).is_file() for file in ("config.json", "adapter_config.json")):
            raise WordsightError(f"{name}: holds no config.json, so it is no checkpoint's folder")
        return name
    if name.count("/") > 1 or name.startswith((".", "/", "~")) or name.endswith("/"):
        raise WordsightError(
            f"{name}: no such folder; give a folder with a config.json, or ORG/NAME of the Hub"
        )
    return find_repository(name, revision)


def find_repository(name: str, revision: str | None = None) -> str:
    """As :func:`find_checkpoint`, for what can be no folder."""
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        HfApi().model_info(name, revision=revision, timeout=_PATIENCE)
    except RevisionNotFoundError:
        raise WordsightError(f"{name}: the Hub has no revision {revision!r} of it") from None
    except RepositoryNotFoundError:
        raise WordsightError(
            f"{name}: no such folder here and no such model at {constants.ENDPOINT}; if it is a "
            "private one, set HF_TOKEN"
        ) from None
    except HFValidationError as error:
        raise WordsightError(f"{name}: no such folder, and no name of the Hub: {error}") from None
    except OfflineModeIsEnabled:
        why = "HF_HUB_OFFLINE is set"
    except HfHubHTTPError:
        return name  # a busy Hub: from_pretrained tries again, which may help
    except Exception as error:
        # Whatever a network does: no name server, no route, a proxy, a certificate, silence.
        first = (str(error).splitlines() or [type(error).__name__])[0]
        why = f"{constants.ENDPOINT} cannot be reached ({first})"
    else:
        return name
    try:
        copy: str = snapshot_download(name, revision=revision, local_files_only=True)
    except LocalEntryNotFoundError:
        raise WordsightError(
            f"{name}: no such folder here, not in the Hub's cache ({constants.HF_HUB_CACHE}), and "
            f"{why}. Give pretrained=FOLDER of a local copy, or fill the cache where there is a "
            "network; HF_HUB_OFFLINE=1 reads the cache without asking"
        ) from None
    logger.warning(f"{name} is read from {copy}, since {why}")
    return copy
