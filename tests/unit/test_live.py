"""A live session and a probe against the demo's gateway, over real loopback sockets; no Qt."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import pytest

from inspector.demo.gateway import DemoGateway
from inspector.document import CaptureDocument
from inspector.live import LiveSession, probe
from inspector.sources.connection import Connection, Secret
from inspector.sources.state import SourceState

States = list[tuple[SourceState, str]]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
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
        found = await probe(Connection(url=gateway.url, space="demo"))
        await until(lambda: not gateway.participants)
    assert found.welcomed
    assert found.capabilities >= 1
    assert found.others == 0
    assert found.millis < 5_000


@pytest.mark.parametrize("connection", [Connection(url="ws://127.0.0.1:9", space="demo", token=Secret("hidden"))])
async def test_a_probe_that_fails_says_why_and_never_shows_the_token(connection: Connection) -> None:
    found = await probe(connection)
    assert not found.welcomed
    assert found.sentence
    assert "hidden" not in f"{found}{connection}"


def test_a_port_nobody_listens_on_is_free_for_these_tests() -> None:
    with socket.socket() as probe_socket:
        assert probe_socket.connect_ex(("127.0.0.1", 9)) != 0
