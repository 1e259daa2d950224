"""The quick way of receiving gives the messages the library gives, however the bytes are cut."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.frames import Frame, Opcode

from inspector.sources import gateway_socket
from inspector.sources.gateway_socket import GatewaySocket

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


async def received(feed: Callable[[GatewaySocket], None]) -> list[str | bytes]:
    """What a connected socket hands over when these bytes arrive."""
    got: list[str | bytes] = []

    async def idle(socket: ServerConnection) -> None:
        await socket.wait_closed()

    def make(*args: Any, **options: Any) -> GatewaySocket:
        return GatewaySocket(*args, max_message_bytes=LIMIT, **options)

    async with serve(idle, "127.0.0.1", 0, close_timeout=0.2) as running:
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
        client.listen(got.append)
        feed(client)
        for _turn in range(20):
            await asyncio.sleep(0)
        await client.close()
    return got


@given(conversations())
@settings(max_examples=40, deadline=None)
def test_messages_cut_anywhere(conversation: tuple[list[str | bytes], bytes, list[int]]) -> None:
    said, wire, cuts = conversation

    def feed(socket: GatewaySocket) -> None:
        for start, stop in zip([0, *cuts], [*cuts, len(wire)], strict=True):
            if start < stop:
                socket.data_received(wire[start:stop])

    assert asyncio.run(received(feed)) == said


@given(st.binary(max_size=200), st.integers(0, 200))
@settings(max_examples=60, deadline=None)
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


async def test_messages_before_anybody_listens_are_kept() -> None:
    got: list[str | bytes] = []

    async def speak(socket: ServerConnection) -> None:
        await socket.send("first")
        await socket.recv()
        await socket.send("second")
        await socket.wait_closed()

    def make(*args: Any, **options: Any) -> GatewaySocket:
        return GatewaySocket(*args, max_message_bytes=LIMIT, **options)

    async with serve(speak, "127.0.0.1", 0, close_timeout=0.2) as running:
        port = next(iter(running.sockets)).getsockname()[1]
        client = await connect(
            f"ws://127.0.0.1:{port}",
            compression=None,
            proxy=None,
            create_connection=make,  # pyright: ignore[reportArgumentType]
        )
        assert isinstance(client, GatewaySocket)
        await asyncio.sleep(0.05)
        client.listen(got.append)
        await client.send("go on")
        async with asyncio.timeout(2):
            while len(got) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await client.close()
    assert got == ["first", "second"]
