"""A gateway source under test, what it reported and captured, and servers for it to meet."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from inspector.aio import spawn
from inspector.capture.writer import CaptureWriter
from inspector.demo.gateway import DemoGateway
from inspector.sources.connection import Connection
from inspector.sources.gateway import GatewaySource
from inspector.sources.state import SourceState, Timing
from tests.conftest import MS

LONG_S = 20_000 * MS
"""How long a test waits for what is sure to come; a slow machine may take its time."""

QUICK = Timing(
    open_s=LONG_S, welcome_s=LONG_S, flush_s=0.02, close_s=0.3, attempt_s=LONG_S, first_wait_s=0.02, longest_wait_s=0.1
)
"""Loses no time where nobody has to be waited for."""

IMPATIENT = replace(QUICK, open_s=400 * MS, welcome_s=300 * MS, attempt_s=300 * MS)
"""For servers that never answer."""

WELCOME = {
    "from": "system:gateway",
    "kind": "system/welcome",
    "payload": {"you": {"id": "watcher"}, "participants": []},
}


class Watch:
    """A running source and what it reported and captured."""

    def __init__(
        self, path: Path, connection: Connection, timing: Timing, *, ssl_context: ssl.SSLContext | None = None
    ) -> None:
        self.path = path
        self.states: list[tuple[SourceState, str]] = []
        self.changed = asyncio.Event()
        self.writer = CaptureWriter(path, origin=connection.origin())
        self.source = GatewaySource(
            connection, self.writer, on_state=self._on_state, timing=timing, ssl_context=ssl_context
        )

    def _on_state(self, state: SourceState, sentence: str) -> None:
        self.states.append((state, sentence))
        self.changed.set()

    async def until(self, *wanted: SourceState) -> str:
        async with asyncio.timeout(LONG_S):
            while not self.states or self.states[-1][0] not in wanted:
                self.changed.clear()
                await self.changed.wait()
        return self.states[-1][1]

    async def captured(self, enough: Callable[[list[dict[str, Any]]], object]) -> list[dict[str, Any]]:
        async with asyncio.timeout(LONG_S):
            while not enough(self.lines()):  # noqa: ASYNC110 - a file on disk has no event
                await asyncio.sleep(0.01)
        return self.lines()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_bytes().splitlines()]

    def frames(self) -> list[Any]:
        return [line["frame"] for line in self.lines() if "frame" in line]

    def marks(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.lines() if line.get("mark") == name]


@asynccontextmanager
async def watching(
    tmp_path: Path, url: str, *, timing: Timing = QUICK, ssl_context: ssl.SSLContext | None = None, **facts: Any
) -> AsyncGenerator[Watch]:
    connection = Connection(url=url, space="demo", participant="watcher", **facts)
    watch = Watch(tmp_path / "live.ctxcap", connection, timing, ssl_context=ssl_context)
    task = spawn(watch.source.run(), name="source under test")
    try:
        yield watch
    finally:
        await watch.source.close()
        await task
        watch.writer.close()


async def failure(tmp_path: Path, url: str, **facts: Any) -> str:
    """What is said of a gateway that cannot be joined."""
    async with watching(tmp_path, url, **facts) as watch:
        return await watch.until(SourceState.FAILED)


async def loss(tmp_path: Path, url: str, **facts: Any) -> tuple[str, dict[str, Any]]:
    """What is said of a gateway that is lost after its welcome, and the gap written when one gives up."""
    async with watching(tmp_path, url, **facts) as watch:
        sentence = await watch.until(SourceState.RECONNECTING)
        await watch.source.close()
        (gap,) = watch.marks("gap")
        return sentence, gap


@asynccontextmanager
async def server(
    handler: Callable[[ServerConnection], Awaitable[None]], *, port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncGenerator[str]:
    async with serve(handler, "127.0.0.1", port, close_timeout=0.3, ssl=tls) as running:
        yield f"ws://127.0.0.1:{next(iter(running.sockets)).getsockname()[1]}"


@asynccontextmanager
async def tcp(answer: bytes | None, *, hang_up: bool = True) -> AsyncGenerator[str]:
    """A server that is no gateway: answers anything with ``answer``, or never."""
    writers: list[asyncio.StreamWriter] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await reader.read(100)
        if answer is not None:
            writer.write(answer)
        if answer is None or not hang_up:
            await reader.read()
        writer.close()

    running = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with running:
        yield f"ws://127.0.0.1:{running.sockets[0].getsockname()[1]}"
    for writer in writers:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def kill(gateway: DemoGateway) -> None:
    """End a gateway as a killed process ends: connections break off without a close."""
    server = gateway._server
    assert server is not None
    for connection in list(server.connections):
        connection.transport.abort()
    await gateway.stop()


async def talk(gateway: DemoGateway, name: str, *messages: str | bytes) -> None:
    async with connect(gateway.url, compression=None, proxy=None) as client:
        await client.send(json.dumps({"type": "join", "participantId": name, "space": "demo"}))
        await client.recv()
        for message in messages:
            await client.send(message)
            await client.recv()
