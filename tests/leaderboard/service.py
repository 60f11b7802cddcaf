"""Starting the service in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

TOKEN = "a-long-secret"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(
    folder: Path,
    port: int,
    *,
    command: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Serve the board in ``folder``, or run another Python command there; wait until it answers."""
    serve = ["-c", "from leaderboard.cli import app; app()", "serve"]
    serve += ["--store", ".", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, *(command or serve)],
        cwd=folder,
        env={**(environment or os.environ), "WORDSIGHT_BOARD_TOKENS": f"another,{TOKEN}"},
    )
    for _ in range(600):
        try:
            if httpx.get(f"http://127.0.0.1:{port}/api/v1/tasks").is_success:
                return process
        except httpx.HTTPError:
            time.sleep(0.1)
        if process.poll() is not None:
            break
    process.kill()
    raise RuntimeError("the service did not start")
