"""The quick way of receiving gives the messages the library gives, however the bytes are cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.frames import Frame, Opcode

from inspector.sources import gateway_socket
from inspector.sources.gateway_socket import GatewaySocket, ReadTimes
from tests.unit.sources.watching import LONG_S

Handler = Callable[[ServerConnection], Awaitable[None]]

LIMIT = 70_000

texts = st.one_of(st.text(max_size=300), st.sampled_from(["x" * 125, "x" * 126, "y" * 65_535, "z" * 65_536]))
messages = st.one_of(texts, st.binary(max_size=300))


def frames_of(message: str | bytes, cuts: Sequence[int]) -> list[Frame]:
    """One message in one frame, or in several."""
    raw = message.encode() if isinstance(message, str) else message
    kind = Opcode.TEXT if isinstance(message, str) else Opcode.BINARY
    places = [0, *sorted(cut % (len(raw) + 1) for cut in cuts), len(raw)]
    return [
        Frame(kind if number == 0 else Opcode.CONT, raw[a:b], fin=number == len(places) - 2)
        for number, (a, b) in enumerate(pairwise(places))
    ]


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[str | bytes], bytes, list[int]]:
    """Messages, the bytes that carry them (pings among them), and places to cut these at."""
    said = draw(st.lists(messages, max_size=12))
    wire = b""
    for message in said:
        for frame in frames_of(message, draw(st.lists(st.integers(0, 400), max_size=3))):
            wire += frame.serialize(mask=False)
            if draw(st.booleans()):
                wire += Frame(Opcode.PING, b"?").serialize(mask=False)
    return said, wire, sorted(draw(st.lists(st.integers(0, max(1, len(wire))), max_size=8)))


class Chopped(GatewaySocket):
    """Gets what arrives in pieces that end at these places, counted from the first byte of all."""

    cuts: Sequence[int] = ()

    @override
    def data_received(self, data: bytes) -> None:
        before = self.bytes_in
        inside = [cut - before for cut in self.cuts if before < cut < before + len(data)]
        for start, stop in pairwise([0, *inside, len(data)]):
            super().data_received(data[start:stop])


@asynccontextmanager
async def connected(handler: Handler, cuts: Sequence[int] = ()) -> AsyncGenerator[GatewaySocket]:
    """A socket connected to a server of this machine."""

    def make(*args: Any, **options: Any) -> GatewaySocket:
        client = Chopped(*args, max_message_bytes=LIMIT, **options)
        client.cuts = cuts
        return client

    async with serve(handler, "127.0.0.1", 0, close_timeout=0.2) as running:
        port = next(iter(running.sockets)).getsockname()[1]
        client = await connect(
            f"ws://127.0.0.1:{port}",
            compression=None,
            proxy=None,
            ping_interval=None,
            close_timeout=0.2,
            create_connection=make,  # pyright: ignore[reportArgumentType]
        )
        assert isinstance(client, GatewaySocket)
        try:
            yield client
        finally:
            await client.close()


async def idle(socket: ServerConnection) -> None:
    await socket.wait_closed()


async def received(feed: Callable[[GatewaySocket], None]) -> list[str | bytes]:
    """What a connected socket hands over when these bytes arrive."""
    got: list[str | bytes] = []
    async with connected(idle) as client:
        client.listen(got.append)
        feed(client)
        for _turn in range(20):
            await asyncio.sleep(0)
    return got


async def received_from_a_server(wire: bytes, cuts: Sequence[int], count: int) -> list[str | bytes]:
    """The first messages that a socket hands over when these bytes follow the answer to its upgrade at once."""
    got: list[str | bytes] = []

    async def speak(socket: ServerConnection) -> None:
        socket.transport.write(wire)
        await socket.wait_closed()

    async with connected(speak, cuts) as client, asyncio.timeout(LONG_S):
        client.listen(got.append)
        while len(got) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    return got


@given(conversations(), st.lists(st.integers(1, 300), max_size=6), st.sampled_from([1000, 1 << 20]))
def test_messages_and_the_answer_to_the_upgrade_cut_anywhere(
    conversation: tuple[list[str | bytes], bytes, list[int]], early: list[int], big_bytes: int
) -> None:
    said, wire, late = conversation
    cuts = sorted({*early, *(cut + 150 for cut in late)})  # the answer has some 150 bytes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gateway_socket, "BIG_BYTES", big_bytes)
        assert asyncio.run(received_from_a_server(wire, cuts, len(said))) == said


async def test_an_answer_to_the_upgrade_comes_byte_by_byte() -> None:
    wire = Frame(Opcode.TEXT, b"hello").serialize(mask=False)
    assert await received_from_a_server(wire, range(1, 400), 1) == ["hello"]


async def test_a_big_message_in_parts_has_a_turn_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_socket, "BIG_BYTES", 1000)
    big, small = "x" * 5000, Frame(Opcode.TEXT, b"small").serialize(mask=False)
    parts = b"".join(frame.serialize(mask=False) for frame in frames_of(big, [1000, 3000]))
    turns: list[int] = []

    def feed(socket: GatewaySocket) -> None:
        socket.data_received(small + parts + small)
        turns.append(socket.messages_in)

    assert await received(feed) == ["small", big, "small"]
    assert turns == [1]


async def test_a_big_message_in_parts_is_handed_over_when_the_connection_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gateway_socket, "BIG_BYTES", 1000)
    wire = b"".join(frame.serialize(mask=False) for frame in frames_of("x" * 5000, [1000, 3000]))

    def feed(socket: GatewaySocket) -> None:
        socket.data_received(wire + wire)
        socket.transport.abort()

    assert await received(feed) == ["x" * 5000] * 2


async def test_nothing_overtakes_a_big_message_that_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_socket, "BIG_BYTES", 1000)
    wire = Frame(Opcode.TEXT, b"x" * 5000).serialize(mask=False)

    def feed(socket: GatewaySocket) -> None:
        for piece in (wire[:100], wire[100:], Frame(Opcode.TEXT, b"later").serialize(mask=False)):
            socket.data_received(piece)
        assert socket.messages_in == 0

    assert await received(feed) == ["x" * 5000, "later"]


@given(st.binary(max_size=200), st.integers(0, 200))
def test_any_bytes_raise_nothing(noise: bytes, cut: int) -> None:
    def feed(socket: GatewaySocket) -> None:
        for part in (noise[:cut], noise[cut:]):
            if part:
                socket.data_received(part)

    assert isinstance(asyncio.run(received(feed)), list)


async def test_others_get_their_turn_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_socket, "SLICE_S", 0.0)
    wire = b"".join(Frame(Opcode.TEXT, b"%d" % number).serialize(mask=False) for number in range(200))
    turns: list[int] = []

    def feed(socket: GatewaySocket) -> None:
        socket.data_received(wire)
        turns.append(socket.messages_in)

    assert await received(feed) == [str(number) for number in range(200)]
    assert turns[0] < 200


async def test_what_a_pause_left_is_handed_over_when_the_connection_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_socket, "SLICE_S", 0.0)
    wire = b"".join(Frame(Opcode.TEXT, b"%d" % number).serialize(mask=False) for number in range(200))

    def feed(socket: GatewaySocket) -> None:
        socket.data_received(wire)
        socket.transport.abort()

    assert await received(feed) == [str(number) for number in range(200)]


async def test_nothing_is_read_while_there_is_no_room() -> None:
    got: list[str | bytes] = []
    said = [f"{n} " + "x" * (n % 3 * 30_000) for n in range(400)]
    sent = 0

    async def speak(socket: ServerConnection) -> None:
        nonlocal sent
        for message in said:
            await socket.send(message)
            sent += 1
        await socket.wait_closed()

    async with connected(speak) as client, asyncio.timeout(LONG_S):
        full = True
        client.listen(got.append, lambda: full and len(got) >= 100)
        await asyncio.sleep(0.3)
        assert 100 <= len(got) < 200
        assert sent < len(said)  # the sender waits
        full = False
        while len(got) < len(said):  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    assert got == said


async def test_messages_before_anybody_listens_are_kept() -> None:
    got: list[str | bytes] = []

    async def speak(socket: ServerConnection) -> None:
        await socket.send("first")
        await socket.recv()
        await socket.send("second")
        await socket.wait_closed()

    async with connected(speak) as client, asyncio.timeout(LONG_S):
        while not client.messages_in:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        client.listen(got.append)
        await client.send("go on")
        while len(got) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    assert got == ["first", "second"]


async def test_a_message_arrives_with_its_last_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_socket, "BIG_BYTES", 1000)
    monkeypatch.setattr(gateway_socket, "SLICE_S", 0.0)
    small, big = (Frame(Opcode.TEXT, text).serialize(mask=False) for text in (b"small", b"x" * 5000))
    parts = b"".join(frame.serialize(mask=False) for frame in frames_of("y" * 2000, [700]))
    wire = small + small + big + parts + small
    at = [len(small) + 3, 2 * len(small) + 2000, 2 * len(small) + len(big) + 800, len(wire)]
    got: list[tuple[str, int]] = []
    async with connected(idle) as client:
        reads = count(101)
        client._times = ReadTimes(lambda: next(reads))
        client.listen(lambda message: got.append((str(message)[0], client.arrived_ns)))
        for start, stop in pairwise([0, *at]):
            client.data_received(wire[start:stop])
        for _turn in range(20):
            await asyncio.sleep(0)
    assert got == [("s", 101), ("s", 102), ("x", 103), ("y", 104), ("s", 104)]


async def test_a_message_that_comes_before_anybody_listens_has_its_own_time() -> None:
    got: list[int] = []
    async with connected(idle) as client:
        reads = count(101)
        client._times = ReadTimes(lambda: next(reads))
        wire = Frame(Opcode.TEXT, b"early").serialize(mask=False)
        client.data_received(wire)
        client.data_received(wire)
        client.listen(lambda _message: got.append(client.arrived_ns))
    assert got == [101, 102]
