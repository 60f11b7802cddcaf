"""wordsight_openai against the bound that latency and concurrency set.

    python tools/bench/bench_openai.py --concurrency 8

A server process of its own answers each request after 50 ms; the bound is
requests x latency / concurrency.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import aiohttp
from data import SLOTS_PER_PICTURE, JpegPictures, verse_like

from wordsight.models.base import Ask
from wordsight.models.openai_server import OpenAIServer

SERVER = Path(__file__).with_name("loopback_server.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--pictures", type=int, default=120)
    parser.add_argument("--side", type=int, default=640)
    arguments = parser.parse_args()
    pictures = JpegPictures(arguments.pictures, arguments.side)
    asks = verse_like(pictures, SLOTS_PER_PICTURE)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(SERVER), str(port), str(arguments.latency)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as server,
        contextlib.ExitStack() as last,
    ):
        last.callback(server.terminate)
        assert server.stdout is not None
        server.stdout.readline()
        model = OpenAIServer(
            model="m", base_url=f"http://127.0.0.1:{port}/v1", concurrency=arguments.concurrency
        )
        list(model.answer(asks[:1]))  # meets the server, and imports the client
        wall, cpu = time.perf_counter(), time.process_time()
        answers = list(model.answer(asks))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        bare = asyncio.run(bare_client(model, asks, port, arguments.concurrency))
    bound = len(asks) * arguments.latency / arguments.concurrency
    size = sum(map(len, pictures.files.values())) / len(pictures.files) / 1024
    print(
        f"{len(answers)} requests, pictures of {size:.0f} KiB, {arguments.latency * 1000:.0f} ms, "
        f"{arguments.concurrency} at a time:\n"
        f"  {wall:.2f} s, bound {bound:.2f} s: {bound / wall:.0%} of the bound "
        f"({cpu / len(answers) * 1000:.1f} ms CPU per request)\n"
        f"  {bare:.2f} s for a bare client sending the same bytes: {bare / wall:.0%} of its speed"
    )


async def bare_client(
    model: OpenAIServer, asks: Sequence[Ask], port: int, concurrency: int
) -> float:
    """Seconds that ready-made requests take, with nothing read and nothing retried."""
    bodies = []
    for ask in asks:
        messages = [{"role": "user", "content": model._content(ask)}]
        payload = {"model": "m", **model.dialect.payload(messages, 1, likelihood=True)}
        bodies.append(json.dumps(payload).encode())
    waiting = iter(bodies)
    async with aiohttp.ClientSession() as session:

        async def work() -> None:
            for body in waiting:
                url = f"http://127.0.0.1:{port}/v1/chat/completions"
                async with session.post(url, data=body) as reply:
                    await reply.read()

        started = time.perf_counter()
        await asyncio.gather(*[work() for _ in range(concurrency)])
        return time.perf_counter() - started


if __name__ == "__main__":
    main()
