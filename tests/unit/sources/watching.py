"""A gateway source under test, what it reported and captured, and servers for it to meet."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from inspector.base.async_tasks import start_task
from inspector.demo.gateway import DemoGateway
from inspector.sources.connection import Connection
from inspector.sources.gateway import GatewaySource
from inspector.sources.state import SourceState
from inspector.sources.timing import Timing
from inspector.store.files.capture_writer import CaptureWriter
from tests.conftest import MS

LONG_S = 50_000 * MS
"""How long a test waits for what is sure to come; a slow machine may take its time."""

QUICK = Timing(
    open_s=LONG_S, welcome_s=LONG_S, disk_check_s=0.02, close_s=LONG_S, attempt_s=LONG_S, first_wait_s=0.02,
    longest_wait_s=0.1,
)  # fmt: skip
"""Loses no time where nobody has to be waited for."""

IMPATIENT = replace(QUICK, open_s=1_000 * MS, welcome_s=300 * MS, close_s=0.1)
"""For servers that never answer; all that comes before is to be done in that time."""

WELCOME = {
    "from": "system:gateway",
    "kind": "system/welcome",
    "payload": {"you": {"id": "watcher"}, "participants": []},
}


class Watch:
    """A running source and what it reported and captured."""

    def __init__(
        self,
        path: Path,
        connection: Connection,
        timing: Timing,
        *,
        ssl_context: ssl.SSLContext | None = None,
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
        """What is in the file by now; a writer of the program's own writes in the background."""
        self.writer.flush()
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
    task = start_task(watch.source.run(), name="source under test")
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
    async with serve(handler, "127.0.0.1", port, close_timeout=LONG_S, ssl=tls) as running:
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


_held: list[socket.socket] = []


def free_port() -> int:
    """A port on which nobody listens but whom a test tells to: no other test is given it meanwhile."""
    probe = socket.socket()
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # so that a server may have it all the same
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
    if sys.platform == "linux":
        _held.append(probe)
    else:  # there a port has one owner
        probe.close()
    return port


def no_such_name(*_: object, **_options: object) -> NoReturn:
    """In place of `socket.getaddrinfo`: what a name server says, of which a machine without a network has none."""
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


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
