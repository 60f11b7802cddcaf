"""Starting the service from the command line."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path

from leaderboard.hub_store import Mirror
from leaderboard.store import open_store
from wordsight.errors import WordsightError

TOKENS_VARIABLE = "WORDSIGHT_BOARD_TOKENS"


def run(
    root: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 7860,
    allowed_hosts: Sequence[str] = (),
    approve: bool = False,
    mirror: Mirror | None = None,
) -> None:
    """Serve the board at ``root`` until stopped. Raises DataError when there is no board.

    Tokens that may submit are read from WORDSIGHT_BOARD_TOKENS, separated by commas.
    """
    # before gradio is imported, which would otherwise report its start to its makers
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    import uvicorn

    from leaderboard.server.app import create_app
    from leaderboard.server.service import Service, Settings

    given = os.environ.get(TOKENS_VARIABLE, "").split(",")
    default = Settings()
    settings = Settings(
        tokens=tuple(token.strip() for token in given if token.strip()),
        approve=approve,
        allowed_hosts=(*default.allowed_hosts, *allowed_hosts),
    )
    service = Service(open_store(root), settings, mirror)
    service.board()
    app = create_app(service)
    port = _free(host, port)
    print(f"Serving http://{host}:{port}/ (stop with Ctrl-C)", flush=True)
    uvicorn.run(app, host=host, port=port, log_level="warning", proxy_headers=False)


def _free(host: str, port: int) -> int:
    """The port, or one that is free for 0. Raises WordsightError when it is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, port), family=family) as probe:
            found: int = probe.getsockname()[1]
            return found
    except OSError as error:
        raise WordsightError(
            f"cannot listen on {host}:{port} ({error.strerror}); choose another --port, 0 takes a "
            "free one"
        ) from None
