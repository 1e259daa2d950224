"""A live session and a probe against the demo's gateway, over real loopback sockets; no Qt."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from inspector.base.async_tasks import start_task
from inspector.demo.gateway import DemoGateway
from inspector.document import live
from inspector.document.document import CaptureDocument
from inspector.document.live import LiveSession, probe_gateway
from inspector.reading.decoder.block_reader import BlockReader
from inspector.reading.workers.offload import LONG_LINE_BYTES
from inspector.sources.connection import Connection, Secret
from inspector.sources.state import SourceState
from inspector.store.columns.block import Block
from tests.numbered import NumberedGateway
from tests.unit.sources.watching import LONG_S


@dataclass
class Joined:
    """A session, its document, and the states it has reported."""

    session: LiveSession
    document: CaptureDocument
    states: list[tuple[str, str]]


@contextlib.asynccontextmanager
async def joined(url: str, **options: Any) -> AsyncGenerator[Joined]:
    """A session that has begun to join; both are closed at the end."""
    document, states = CaptureDocument(), list[tuple[str, str]]()

    def noted() -> None:
        states.append((session.recorder.connection.state, session.recorder.connection.sentence))

    session, own = LiveSession.join(Connection(url=url, space="demo"), document, on_state=noted, **options)
    session.start()
    yield Joined(session, document, states)
    await session.close()
    session.recorder.close()
    document.close()
    own.release()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(LONG_S):
        while not condition():  # noqa: ASYNC110  several things may become true
            await asyncio.sleep(0.01)


async def test_what_a_session_receives_reaches_the_document_through_the_file() -> None:
    async with DemoGateway(space="demo") as gateway, joined(gateway.url) as live:
        document = live.document
        await until(lambda: "system/welcome" in document.kind_counts())
        assert document.live
        await live.session.close()
        assert not document.live
        assert live.states[-1][0] == SourceState.CLOSED.value
        assert document.analysis.now_ns is None
        again = CaptureDocument()
        assert document.path is not None
        again.load(document.path)
        assert again.kind_counts() == document.kind_counts()
        again.close()


async def test_at_the_end_what_was_not_taken_in_yet_lets_the_window_have_its_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "POLL_S", 3_600)  # a window that never came to it
    monkeypatch.setattr(live, "SLICE_S", 0.0)  # however fast the machine is, it is done in slices
    async with NumberedGateway() as gateway, joined(gateway.url) as one:
        document, session = one.document, one.session
        await gateway.joined()
        await gateway.say(5_000, 1_000)
        await until(lambda: session.recorder.connection.received >= 5_002)  # what we say and the greeting too
        closing = start_task(session.close(), name="close")
        found: set[int] = set()
        while not closing.done():
            await asyncio.sleep(0)
            found.add(len(document.capture))
        assert document.kind_counts()["chat"] == 5_000
        assert len(found) > 3
        assert session.complete
        assert not document.live


@pytest.mark.real
async def test_a_long_line_that_is_being_read_at_the_end_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async with NumberedGateway() as gateway, joined(gateway.url) as live:
        await gateway.joined()
        monkeypatch.setattr(BlockReader, "read_lines", not_on_the_loop(BlockReader.read_lines))
        await gateway.say(1, LONG_LINE_BYTES + 1)
        await until(lambda: live.document.sources.is_waiting)
        await live.session.close()
        assert live.document.kind_counts()["chat"] == 1


def not_on_the_loop(read: Callable[[BlockReader, bytes, int], Block]) -> Callable[[BlockReader, bytes, int], Block]:
    def checked(reader: BlockReader, data: bytes, offset: int) -> Block:
        assert len(data) < LONG_LINE_BYTES
        return read(reader, data, offset)

    return checked


async def test_a_refused_session_ends_with_a_sentence_and_an_empty_document() -> None:
    async with joined("ws://127.0.0.1:9") as live:
        await until(lambda: live.states and live.states[-1][0] == SourceState.FAILED.value)
        assert "127.0.0.1:9" in live.states[-1][1]


async def test_a_probe_joins_and_leaves() -> None:
    async with DemoGateway(space="demo") as gateway:
        found = await probe_gateway(Connection(url=gateway.url, space="demo"))
        await until(lambda: not gateway.participants)
    assert found.welcomed
    assert found.capabilities >= 1
    assert found.others == 0
    assert 0 < found.millis < 1_000 * LONG_S


@pytest.mark.parametrize("connection", [Connection(url="ws://127.0.0.1:9", space="demo", token=Secret("hidden"))])
async def test_a_probe_that_fails_says_why_and_never_shows_the_token(connection: Connection) -> None:
    found = await probe_gateway(connection)
    assert not found.welcomed
    assert found.sentence
    assert "hidden" not in f"{found}{connection}"


def test_a_port_nobody_listens_on_is_free_for_these_tests() -> None:
    with socket.socket() as probe_socket:
        assert probe_socket.connect_ex(("127.0.0.1", 9)) != 0
