"""A gateway that floods: a process which lets one client join and then sends prebuilt frames, paced by time.

It speaks the WebSocket upgrade, the join and the welcome, answers pings, and nothing more. Messages are those of
`live_template`, so the receiver can tell from the count and the first time what every byte must have been.

Run as `python -m tests.bench.sender RATE COUNT [LOG]`. It prints `{"port":..}`, takes one client at a time, sends
from the first line on its standard input, and prints `{"start_ms":..,"sent":..,"seconds":..,"late_s":..}` when the
last byte was taken by the socket. It ends when its standard input does, so it never outlives who started it. LOG gets
a line `{"at":<ns>,"t":<ns>,"sent":<messages>}` whenever something was sent: when it was given to the socket and when
that had taken it, nanoseconds since the epoch, and how many messages were sent by then.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inspector.base.aio import cancel_and_wait, spawn
from tests.bench.frames import CLOSE, PING, PONG, TEXT, frame, take_frame, upgrade_answer
from tests.bench.story import Story, line_of
from tests.bench.template import Template

LIVE_BLOCK = 5_000
TICK_S = 0.002
LENGTH = 0.36
"""Of the story's texts, so that an envelope has about 400 bytes."""


@cache
def live_template(*, framed: bool = True) -> Template:
    """The messages that are sent: as frames, or as the envelopes in them."""
    story = Story(length=LENGTH)
    told = [line_of(envelope) for envelope in islice(story.envelopes(), LIVE_BLOCK)]
    return Template([frame(line) for line in told] if framed else told, story.times_ms)


def live_times(number: int, start_ms: int, rate: float) -> NDArray[np.int64]:
    """Times of the messages of the n-th repetition, sent at a rate from a start, milliseconds since the epoch."""
    return start_ms + ((np.arange(LIVE_BLOCK) + number * LIVE_BLOCK) * (1000 / rate)).astype(np.int64)


class Sender(asyncio.Protocol):
    """One client's connection.

    Attributes:
        open: whether it is connected.
    """

    def __init__(self, joined: asyncio.Queue[Sender]) -> None:
        """Make one; it goes into the queue once its client has joined."""
        self.open = False
        self._queue = joined
        self._joined = False
        self._data = bytearray()
        self._upgraded = False
        self._transport: asyncio.Transport | None = None
        self._drained = asyncio.Event()
        self._drained.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.set_write_buffer_limits(high=0)
        sock: socket.socket | None = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._transport, self.open = transport, True

    def connection_lost(self, exc: Exception | None) -> None:
        self.open = False
        self._drained.set()

    def pause_writing(self) -> None:
        self._drained.clear()

    def resume_writing(self) -> None:
        self._drained.set()

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self._upgraded and b"\r\n\r\n" in self._data:
            end = self._data.index(b"\r\n\r\n") + 4
            self._write(upgrade_answer(bytes(self._data[:end])))
            del self._data[:end]
            self._upgraded = True
        while self._upgraded and (found := take_frame(self._data)) is not None:
            self._on_frame(*found)

    def _on_frame(self, opcode: int, payload: bytes) -> None:
        if opcode == PING:
            self._write(frame(payload, PONG))
        elif opcode == CLOSE and self._transport is not None:
            self._write(frame(payload, CLOSE))
            self._transport.close()
        elif opcode == TEXT and not self._joined:
            self._joined = True
            self._write(frame(welcome(json.loads(payload).get("participantId"))))
            self._queue.put_nowait(self)

    def _write(self, data: bytes | memoryview) -> None:
        if self._transport is not None and self.open:
            self._transport.write(data)

    async def send(self, data: memoryview) -> None:
        """Send bytes; returns when the socket has taken them all."""
        self._write(data)
        await self._drained.wait()

    async def all_taken(self) -> None:
        """Returns when the socket has taken everything."""
        await self._drained.wait()


def welcome(participant: str | None) -> bytes:
    """A MEW v0.4 gateway's greeting."""
    you = {"id": participant, "capabilities": [{"kind": "*"}]}
    said = {
        "protocol": "mew/v0.4", "id": "welcome-1", "ts": "2026-01-05T09:00:00.000Z", "from": "system:gateway",
        "to": [participant], "kind": "system/welcome", "payload": {"you": you, "participants": []},
    }  # fmt: skip
    return json.dumps(said, separators=(",", ":")).encode()


async def flood(client: Sender, rate: float, count: int, log: int | None) -> dict[str, float]:
    """Send `count` messages at `rate` a second; what was due and not yet sent is caught up.

    Returns:
        When the first was sent, how many were, how long it took, and by how much the socket was ever behind.
    """
    template = live_template()
    begun, start_ms = time.perf_counter(), time.time_ns() // 1_000_000
    sent = late = 0
    number, block = -1, memoryview(b"")
    while sent < count and client.open:
        passed = time.perf_counter() - begun
        due = min(count, int(passed * rate) + 1)
        late = max(late, due - sent - round(rate * TICK_S))
        while sent < due and client.open:
            if sent // LIVE_BLOCK != number:
                number = sent // LIVE_BLOCK
                block = template.block(number, live_times(number, start_ms, rate))
            first = sent - number * LIVE_BLOCK
            last = min(first + due - sent, LIVE_BLOCK)
            at_ns = time.time_ns()
            await client.send(block[int(template.ends[first]) : int(template.ends[last])])
            sent += last - first
            if log is not None and client.open:
                os.write(log, b'{"at":%d,"t":%d,"sent":%d}\n' % (at_ns, time.time_ns(), sent))
        await asyncio.sleep(TICK_S)
    await client.all_taken()
    seconds = time.perf_counter() - begun
    return {"start_ms": start_ms, "sent": sent, "seconds": seconds, "late_s": max(0.0, late / rate)}


async def serve(rate: float, count: int, log: Path | None) -> None:
    """Serve one client at a time until standard input ends."""
    live_template()  # made before anybody waits for it
    loop = asyncio.get_running_loop()
    clients: asyncio.Queue[Sender] = asyncio.Queue()
    orders: asyncio.Queue[bytes] = asyncio.Queue()
    server = await loop.create_server(lambda: Sender(clients), "127.0.0.1", 0)
    said = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(said), sys.stdin)
    say({"port": server.sockets[0].getsockname()[1]})
    work = spawn(_work(clients, orders, rate, count, log), name="send")
    while order := await said.readline():
        orders.put_nowait(order)
    await cancel_and_wait({work})
    server.close()


async def _work(
    clients: asyncio.Queue[Sender], orders: asyncio.Queue[bytes], rate: float, count: int, log: Path | None
) -> None:
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) if log is not None else None
    while True:
        await orders.get()
        client = await clients.get()
        while not client.open:  # one that is gone already
            client = await clients.get()
        say(await flood(client, rate, count, file))


def say(found: dict[str, float]) -> None:
    """One line for who started us."""
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None))
