"""A live session and a probe against the demo's gateway, over real loopback sockets; no Qt."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

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

States = list[tuple[SourceState, str]]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(LONG_S):
        while not condition():  # noqa: ASYNC110  several things may become true
            await asyncio.sleep(0.01)


async def test_what_a_session_receives_reaches_the_document_through_the_file() -> None:
    states: States = []
    async with DemoGateway(space="demo") as gateway:
        document = CaptureDocument()
        session = LiveSession(
            Connection(url=gateway.url, space="demo"), document, on_state=lambda *state: states.append(state)
        )
        session.start()
        await until(lambda: "system/welcome" in document.kind_counts())
        assert document.live
        await session.close()
    assert not document.live
    assert states[-1][0] is SourceState.CLOSED
    assert document.analysis.now_ns is None
    again = CaptureDocument()
    assert document.path is not None
    again.load(document.path)
    assert again.kind_counts() == document.kind_counts()
    again.close()
    document.close()


async def test_at_the_end_what_was_not_taken_in_yet_lets_the_window_have_its_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "POLL_S", 3_600)  # a window that never came to it
    monkeypatch.setattr(live, "SLICE_S", 0.0)  # however fast the machine is, it is done in slices
    async with NumberedGateway() as gateway:
        document = CaptureDocument()
        session = LiveSession(Connection(url=gateway.url, space="demo"), document, on_state=lambda *_: None)
        session.start()
        await gateway.joined()
        await gateway.say(5_000, 1_000)
        await until(lambda: session.source.recorder.recorded >= 5_002)  # what we say and the greeting too
        closing = start_task(session.close(), name="close")
        found: set[int] = set()
        while not closing.done():
            await asyncio.sleep(0)
            found.add(len(document.capture))
    assert document.kind_counts()["chat"] == 5_000
    assert len(found) > 3
    assert session.complete
    assert not document.live
    document.close()


@pytest.mark.real
async def test_a_long_line_that_is_being_read_at_the_end_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async with NumberedGateway() as gateway:
        document = CaptureDocument()
        session = LiveSession(Connection(url=gateway.url, space="demo"), document, on_state=lambda *_: None)
        session.start()
        await gateway.joined()
        monkeypatch.setattr(BlockReader, "read_lines", not_on_the_loop(BlockReader.read_lines))
        await gateway.say(1, LONG_LINE_BYTES + 1)
        await until(lambda: document.sources.is_waiting)
        await session.close()
    assert document.kind_counts()["chat"] == 1
    document.close()


def not_on_the_loop(read: Callable[[BlockReader, bytes, int], Block]) -> Callable[[BlockReader, bytes, int], Block]:
    def checked(reader: BlockReader, data: bytes, offset: int) -> Block:
        assert len(data) < LONG_LINE_BYTES
        return read(reader, data, offset)

    return checked


async def test_a_refused_session_ends_with_a_sentence_and_an_empty_document() -> None:
    states: States = []
    document = CaptureDocument()
    session = LiveSession(
        Connection(url="ws://127.0.0.1:9", space="demo"), document, on_state=lambda *state: states.append(state)
    )
    session.start()
    await until(lambda: states and states[-1][0] is SourceState.FAILED)
    await session.close()
    assert "127.0.0.1:9" in states[-1][1]
    document.close()


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
