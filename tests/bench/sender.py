"""A gateway that floods: a process which lets one client join and then sends prebuilt frames, paced by time.

It speaks the WebSocket upgrade, the join and the welcome, answers pings, and nothing more. Messages are those of
`live_template`, so the receiver can tell from the count and the first time what every byte must have been.

Run as `python -m tests.bench.sender RATE COUNT [LOG [MIX]]`; MIX is traffic of `mixes` in place of these. It prints
`{"port":..}`, takes one client at a time, sends from the first line on its standard input, and prints
`{"start_ms":..,"sent":..,"seconds":..,"late_s":..}` when the last byte was taken by the socket. It ends when its
standard input does, so it never outlives who started it. LOG gets a line `{"at":<ns>,"t":<ns>,"sent":<messages>}`
whenever something was sent: when it was given to the socket and when that had taken it, nanoseconds since the epoch,
and how many messages were sent by then.
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
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from inspector.base.async_tasks import cancel_and_wait, start_task
from tests.bench import mixes
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


class Frames(Protocol):
    """What is sent."""

    def between(self, first: int, last: int) -> tuple[memoryview, int]:
        """Frames from a message up to another, or up to one before it; and up to which."""
        ...


class StoryFrames:
    """The story's, whose times are those of sending."""

    def __init__(self, start_ms: int, rate: float) -> None:
        self._template, self._start_ms, self._rate = live_template(), start_ms, rate
        self._number, self._block = -1, memoryview(b"")

    def between(self, first: int, last: int) -> tuple[memoryview, int]:
        number, place = divmod(first, LIVE_BLOCK)
        if number != self._number:
            self._number = number
            self._block = self._template.block(number, live_times(number, self._start_ms, self._rate))
        stop = min(place + last - first, LIVE_BLOCK)
        ends = self._template.ends
        return self._block[int(ends[place]) : int(ends[stop])], first + stop - place


class MixFrames:
    """Those of a mix, all made beforehand."""

    def __init__(self, name: str, count: int) -> None:
        made = [frame(line.rstrip()) for line in mixes.lines(name, count)]
        self._ends = np.concatenate(([0], np.cumsum([len(one) for one in made], dtype=np.int64)))
        self._data = memoryview(b"".join(made))

    def between(self, first: int, last: int) -> tuple[memoryview, int]:
        return self._data[int(self._ends[first]) : int(self._ends[last])], last


async def flood(
    client: Sender, rate: float, count: int, log: int | None, mix: MixFrames | None = None
) -> dict[str, float]:
    """Send `count` messages at `rate` a second; what was due and not yet sent is caught up.

    Returns:
        When the first was sent, how many were, how long it took, and by how much the socket was ever behind.
    """
    begun, start_ms = time.perf_counter(), time.time_ns() // 1_000_000
    frames: Frames = mix or StoryFrames(start_ms, rate)
    sent = late = 0
    while sent < count and client.open:
        passed = time.perf_counter() - begun
        due = min(count, int(passed * rate) + 1)
        late = max(late, due - sent - round(rate * TICK_S))
        while sent < due and client.open:
            part, last = frames.between(sent, due)
            at_ns = time.time_ns()
            await client.send(part)
            sent = last
            if log is not None and client.open:
                os.write(log, b'{"at":%d,"t":%d,"sent":%d}\n' % (at_ns, time.time_ns(), sent))
        await asyncio.sleep(TICK_S)
    await client.all_taken()
    seconds = time.perf_counter() - begun
    return {"start_ms": start_ms, "sent": sent, "seconds": seconds, "late_s": max(0.0, late / rate)}


async def serve(rate: float, count: int, log: Path | None, mix: str | None) -> None:
    """Serve one client at a time until standard input ends."""
    live_template()  # made before anybody waits for it
    frames = None if mix is None else MixFrames(mix, count)
    loop = asyncio.get_running_loop()
    clients: asyncio.Queue[Sender] = asyncio.Queue()
    orders: asyncio.Queue[bytes] = asyncio.Queue()
    server = await loop.create_server(lambda: Sender(clients), "127.0.0.1", 0)
    said = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(said), sys.stdin)
    say({"port": server.sockets[0].getsockname()[1]})
    work = start_task(_work(clients, orders, rate, count, log, frames), name="send")
    while order := await said.readline():
        orders.put_nowait(order)
    await cancel_and_wait({work})
    server.close()


async def _work(
    clients: asyncio.Queue[Sender], orders: asyncio.Queue[bytes], rate: float, count: int, log: Path | None,
    mix: MixFrames | None,
) -> None:  # fmt: skip
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) if log is not None else None
    while True:
        await orders.get()
        client = await clients.get()
        while not client.open:  # one that is gone already
            client = await clients.get()
        say(await flood(client, rate, count, file, mix))


def say(found: dict[str, float]) -> None:
    """One line for who started us."""
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    noted = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    asyncio.run(serve(float(sys.argv[1]), int(sys.argv[2]), noted, sys.argv[4] if len(sys.argv) > 4 else None))
