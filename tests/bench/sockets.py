"""Frames of a WebSocket, read by our own connection and by the library's `recv()`, by turns.

Run as `python -m tests.bench.sockets FRAMES`. A server in a process of its own sends that many text frames of 400 bytes
over loopback as fast as they are taken. Prints `{"own_us":..,"library_us":..,"frames":..}`: processor time of the
reader a frame, the least of three turns each. `python -m tests.bench.sockets serve FRAMES` is the server.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from inspector.sources.connection import Connection
from inspector.sources.opening import open_websocket
from inspector.sources.timing import Timing

LENGTH = 400
_TURNS = 3
_BLOCK = 1_000
_PATIENCE_S = 120


def _frames(count: int) -> bytes:
    """Unmasked text frames, as a server sends them (RFC 6455, 5.2)."""
    around = len(json.dumps({"id": "m-1", "kind": "chat", "text": ""}))
    text = json.dumps({"id": "m-1", "kind": "chat", "text": "x" * (LENGTH - around)}).encode()
    return (b"\x81\x7e" + len(text).to_bytes(2, "big") + text) * count


async def _serve(count: int) -> None:
    block = _frames(_BLOCK)

    async def send(ws: ServerConnection) -> None:
        for _ in range(count // _BLOCK):
            ws.transport.write(block)
            while ws.transport.get_write_buffer_size() > 1 << 20:  # noqa: ASYNC110 - the transport has no event
                await asyncio.sleep(0)
        await ws.wait_closed()

    async with serve(send, "127.0.0.1", 0, compression=None) as server:
        print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
        await asyncio.sleep(_PATIENCE_S)


async def _own(url: str, count: int) -> float:
    done = asyncio.Event()
    taken = 0

    def take(_frame: str | bytes) -> None:
        nonlocal taken
        taken += 1
        if taken >= count:
            done.set()

    ws = await open_websocket(Connection(url=url, space="bench"), timing=Timing())
    began = time.process_time()
    ws.listen(take)
    await done.wait()
    used = time.process_time() - began
    await ws.close()
    return used


async def _library(url: str, count: int) -> float:
    async with connect(url, compression=None, max_size=None) as ws:
        began = time.process_time()
        for _ in range(count):
            await ws.recv()
        return time.process_time() - began


async def _measure(port: int, count: int) -> dict[str, float]:
    url = f"ws://127.0.0.1:{port}"
    async with asyncio.timeout(_PATIENCE_S):
        turns = [(await _own(url, count), await _library(url, count)) for _ in range(_TURNS)]
    own, library = (min(times) * 1e6 / count for times in zip(*turns, strict=True))
    return {"own_us": own, "library_us": library, "frames": count}


def main() -> None:
    """Serve, or measure both."""
    if sys.argv[1] == "serve":
        asyncio.run(_serve(int(sys.argv[2])))
        return
    count = int(sys.argv[1])
    command = [sys.executable, "-m", "tests.bench.sockets", "serve", str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as server:
        assert server.stdout is not None
        try:
            port = json.loads(server.stdout.readline())["port"]
            print(json.dumps(asyncio.run(_measure(port, count))))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
