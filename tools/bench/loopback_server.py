"""A chat server on the loopback interface that answers after a fixed time, as lean as can be."""

from __future__ import annotations

import asyncio
import json
import sys

_TOP = [{"token": "Yes", "logprob": -0.1}, {"token": "No", "logprob": -2.5}]
_REPLY = {
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Yes"},
            "logprobs": {"content": [{"token": "Yes", "logprob": -0.1, "top_logprobs": _TOP}]},
        }
    ],
    "usage": {"prompt_tokens": 300, "completion_tokens": 1},
}


async def serve(port: int, latency: float) -> None:
    """Answer every request ``latency`` seconds after its last byte came."""
    body = json.dumps(_REPLY).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    reply = head.encode() + b"\r\n\r\n" + body

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                header = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(header.split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                await asyncio.sleep(latency)
                writer.write(reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port, limit=2**22)
    print("ready", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2])))
