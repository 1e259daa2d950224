"""A live session from a real socket to the document, through the capture file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect

from inspector import document as document_module
from inspector.capture.writer import CaptureWriter
from inspector.demo.gateway import DemoGateway
from inspector.document import CaptureDocument
from inspector.fields import FIELD_BY_NAME
from inspector.live import LiveSession, capture_path
from inspector.sources.connection import Connection
from inspector.sources.state import SourceState
from tests.conftest import MS


@asynccontextmanager
async def session(url: str, space: str) -> AsyncGenerator[tuple[LiveSession, list[tuple[SourceState, str]]]]:
    states: list[tuple[SourceState, str]] = []
    document = CaptureDocument()
    live = LiveSession(
        Connection(url=url, space=space), document, on_state=lambda state, sentence: states.append((state, sentence))
    )
    live.start()
    try:
        yield live, states
    finally:
        await live.close()
        document.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5_000 * MS):
        while not condition():  # noqa: ASYNC110  a file on disk has no event
            await asyncio.sleep(5 * MS)


def column(document: CaptureDocument, name: str) -> list[Any]:
    field = FIELD_BY_NAME[name]
    return [field.value(document.analysis, message) for message in range(len(document.capture))]


async def test_what_is_said_arrives_in_the_document() -> None:
    async with DemoGateway(space="demo") as gateway, session(gateway.url, gateway.space) as (live, states):
        document = live.document
        await until(lambda: "system/welcome" in column(document, "kind"))
        assert document.live
        assert document.analysis.now_ns is not None
        async with connect(gateway.url) as amy:
            await amy.send('{"type":"join","space":"demo","participantId":"amy","capabilities":[]}')
            await amy.recv()
            await amy.send('{"kind":"chat","payload":{"text":"hi"},"context":"a/b"}')
            await until(lambda: "chat" in column(document, "kind"))
        chat = column(document, "kind").index("chat")
        assert [column(document, name)[chat] for name in ("from", "space", "context", "text", "dir")] == [
            "amy", "demo", "a/b", "hi", "in",
        ]  # fmt: skip
        us = [p for p in document.analysis.participants.all.values() if p.is_us]
        assert [p.name for p in us] == [live.connection.participant]
        assert SourceState.CONNECTED in [state for state, _ in states]
    assert not document.live
    assert document.analysis.now_ns is None
    assert states[-1][0] is SourceState.CLOSED
    again = CaptureDocument()
    assert document.path is not None
    again.load(document.path)
    assert column(again, "text") == column(document, "text")
    again.close()


async def test_a_refused_connection_is_a_sentence_and_the_document_stays() -> None:
    async with session("ws://127.0.0.1:9", "demo") as (live, states):
        await until(lambda: bool(states) and states[-1][0] is SourceState.FAILED)
        assert live.sentence == states[-1][1] != ""
        await until(lambda: not live.document.live)
        assert len(live.document.capture) == 0


async def test_a_full_disk_ends_the_session_in_a_sentence_and_keeps_what_was_received(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(self: CaptureWriter) -> None:
        raise OSError("no space left")

    async with DemoGateway(space="demo") as gateway, session(gateway.url, "demo") as (live, states):
        await until(lambda: len(live.document.capture) > 0)
        received = len(live.document.capture)
        with monkeypatch.context() as patched:
            patched.setattr(CaptureWriter, "flush", fail)
            await until(lambda: not live.document.live)
        assert (live.state, len(live.document.capture)) == (SourceState.FAILED, received)
        assert "no space left" in live.sentence
        assert states[-1] == (live.state, live.sentence)


async def test_a_backlog_is_read_block_after_block(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (document_module, __import__("inspector.live", fromlist=["live"])):
        monkeypatch.setattr(module, "LIVE_BLOCK_BYTES", 400)
    async with DemoGateway(space="demo") as gateway, session(gateway.url, "demo") as (live, _):
        await until(lambda: len(live.document.capture) > 0)
        for number in range(2_000):
            live._writer.frame(f'{{"kind":"chat","id":"m{number}"}}', direction="in", time_ns=number)
        await until(lambda: column(live.document, "id")[-1] == "m1999")
        assert live.document.behind == 0


def test_captures_have_names_of_their_own(user_folders: Path) -> None:
    first = capture_path("a/b ü")
    assert first.parent == user_folders / "data" / "captures" or first.parent.name == "captures"
    assert first.name.startswith("a-b-ü ")
    first.touch()
    second = capture_path("a/b ü")
    assert second != first
    assert second.name.endswith(" (2).ctxcap")
    assert capture_path("").name.startswith("capture ")
