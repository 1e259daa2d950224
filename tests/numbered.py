"""A gateway that greets whoever joins and then says numbered messages, in this process or in one of its own.

`python -m tests.numbered RATE SIZE` prints its address and says RATE messages a second of SIZE bytes until it is ended.
Each says its number, from 1, and when it was sent.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.server import Server, ServerConnection, broadcast, serve

from inspector.base.async_tasks import start_task


class NumberedGateway:
    """`async with NumberedGateway() as gateway:` then `await gateway.say(3)` to all who joined.

    Attributes:
        said: number of the last message.
        joins: the messages of those who joined.
    """

    def __init__(self, port: int = 0) -> None:
        self.said = 0
        self.joins: list[dict[str, Any]] = []
        self._port = port
        self._sockets: set[ServerConnection] = set()
        self._server: Server | None = None

    @property
    def url(self) -> str:
        assert self._server is not None
        host, port = next(iter(self._server.sockets)).getsockname()[:2]
        return f"ws://{host}:{port}"

    async def __aenter__(self) -> Self:
        self._server = await serve(self._greet, "127.0.0.1", self._port, compression=None, ping_interval=None)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def _greet(self, socket: ServerConnection) -> None:
        self.joins.append(json.loads(await socket.recv()))
        await socket.send(welcome(self.joins[-1]["participantId"]))
        self._sockets.add(socket)
        try:
            await socket.wait_closed()
        finally:
            self._sockets.discard(socket)

    async def joined(self) -> None:
        """Wait until somebody has."""
        async with asyncio.timeout(100):
            while not self._sockets:  # noqa: ASYNC110  several may come
                await asyncio.sleep(0.005)

    async def say(self, count: int, size: int = 0) -> None:
        """Say so many messages of so many bytes at least."""
        for _ in range(count):
            self.said += 1
            # Many are due at once on a busy machine, and whoever joined may be killed meanwhile.
            joined = [one for one in self._sockets if not one.transport.is_closing()]
            broadcast(joined, numbered(self.said, size))
        await asyncio.sleep(0)

    async def say_at(self, rate: int, size: int) -> None:
        """Say so many a second, for ever."""
        await self.joined()
        started, said = time.perf_counter(), 0
        while True:
            due = int((time.perf_counter() - started) * rate) - said
            await self.say(due, size)
            said += due
            await asyncio.sleep(0.002)


def welcome(participant: str) -> str:
    """The greeting of one who joined."""
    payload = {"you": {"id": participant, "capabilities": []}, "participants": []}
    envelope = {
        "protocol": "mew/v0.4", "id": "welcome-1", "from": "system:gateway", "to": [participant],
        "kind": "system/welcome", "payload": payload,
    }  # fmt: skip
    return json.dumps(envelope)


def numbered(number: int, size: int = 0) -> str:
    """A message with its number and the time."""
    payload = {"n": number, "sent_ns": time.time_ns(), "text": ""}
    envelope = {
        "protocol": "mew/v0.4", "id": f"m-{number}", "ts": "2026-01-05T09:00:00.000Z", "from": "counter",
        "kind": "chat", "payload": payload,
    }  # fmt: skip
    payload["text"] = "x" * (size - len(json.dumps(envelope)))
    return json.dumps(envelope)


async def _main(rate: int, size: int) -> None:
    async with NumberedGateway() as gateway:
        print(gateway.url, flush=True)
        owner: set[asyncio.Task[None]] = set()
        await start_task(gateway.say_at(rate, size), name="say", owner=owner)


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), int(sys.argv[2])))
