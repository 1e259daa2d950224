"""A gateway that goes away and comes back, as the window shows it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from websockets.asyncio.client import connect

from inspector.analysis.views.gaps import GapRows
from inspector.demo.gateway import DemoGateway
from inspector.sources.connection import Connection, Secret
from inspector.ui.app.application import Application
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.status_button import StatusButton
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope
from tests.ui import windows
from tests.ui.find import child
from tests.ui.windows import panes_of, run_in_window, texts
from tests.unit.sources.watching import LONG_S, free_port, kill


async def until(condition: Callable[[], object], what: str) -> None:
    await windows.until(condition, what, LONG_S)


async def say(gateway: DemoGateway, text: str) -> None:
    async with connect(gateway.url, compression=None, proxy=None) as client:
        await client.send(json.dumps({"type": "join", "participantId": "amy", "space": "demo"}))
        await client.recv()
        await client.send(json.dumps({"kind": "chat", "payload": {"text": text}}))
        await client.recv()


async def lost(application: Application, gateway: DemoGateway) -> MainWindow:
    """A window whose gateway was killed."""
    window = application.new_window()
    assert window.gateway.watch(Connection(url=gateway.url, space="demo"))
    await until(lambda: "system/welcome" in window.document.kind_counts(), "the welcome")
    await say(gateway, "before")
    await until(lambda: any("before" in text for text in texts(window)), "the message")
    await kill(gateway)
    await until(lambda: window.notices.notice("connection") is not None, "the notice")
    return window


def click_link(window: MainWindow, words: str) -> None:
    notice = window.notices.notice("connection")
    assert notice is not None
    link = next(one for one in notice.findChildren(LinkButton) if one.label == words)
    QTest.mouseClick(link, Qt.MouseButton.LeftButton)


def test_it_comes_back_by_itself_with_one_gap_row(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        port = free_port()
        gateway = DemoGateway(port=port)
        await gateway.start()
        window = await lost(application, gateway)
        first_id = child(window, StatusButton, "statusParticipant").accessibleName()
        assert any(words.startswith("reconnecting to ws://") for words in window.status.words())
        assert any(words.startswith("attempt ") for words in window.status.words())
        # The list is renewed at intervals.
        await until(lambda: panes_of(window).participants.head.count().endswith(" last seen"), "the participants")
        await until(lambda: "refused the connection (TCP)" in said(window), "the failing step")
        assert "broke off: no close was sent. Reconnecting until you stop it. Last attempt: refused" in said(window)
        gateway = DemoGateway(port=port)
        await gateway.start()
        if window.notices.notice("connection") is not None:  # it may have tried by itself just now
            click_link(window, "Connect now")
        await until(lambda: window.notices.notice("connection") is None, "the connection")
        await say(gateway, "after")
        await until(lambda: any("after" in text for text in texts(window)), "the message after")
        window.document_status.refresh_clock()
        assert "1 gap" in window.status.words()
        assert child(window, StatusButton, "statusParticipant").accessibleName() != first_id
        shown = texts(window)
        assert sum("Messages may be missing" in text for text in shown) == 1
        QTest.mouseClick(child(window, StatusButton, "statusGaps"), Qt.MouseButton.LeftButton)
        gap = panes_of(window).messages.current_message()
        assert gap is not None
        assert "Messages may be missing: the connection was lost for" in (
            window.document.capture.records.reason(gap) or ""
        )
        await window.gateway.end_session()
        await gateway.stop()

    run_in_window(qapp, steps)


def test_it_can_be_stopped(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        gateway = DemoGateway()
        await gateway.start()
        window = await lost(application, gateway)
        click_link(window, "Stop")
        await until(lambda: not window.shown.state.is_live, "the end")
        assert window.notices.notice("connection") is None
        assert any(words.startswith("disconnected from") for words in window.status.words())
        await asyncio.sleep(0)
        window.document_status.refresh_clock()
        assert "1 gap" in window.status.words()

    run_in_window(qapp, steps)


def test_no_value_of_an_address_is_shown_or_kept(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        port = free_port()
        gateway = DemoGateway(port=port)
        await gateway.start()
        address = f"ws://ann:hush1@127.0.0.1:{port}/ws?X-Amz-Signature=hush2&apiKey=hush3&hush4"
        window = application.new_window()
        assert window.gateway.watch(Connection(url=address, space="demo", token=Secret("hush5")), remember=True)
        await until(lambda: application.settings.recent_connections, "the welcome")
        capture = window.shown.state.unsaved
        assert capture is not None
        shown = everything_said(window)
        await kill(gateway)
        await until(lambda: "refused the connection" in said(window), "the failing step")
        shown += everything_said(window)
        await window.gateway.end_session()
        await until(lambda: not window.shown.state.is_live, "the end")
        shown += everything_said(window)
        assert f"ws://127.0.0.1:{port}/ws" in shown
        assert "hush" not in shown
        assert "hush" not in application.settings.model_dump_json()
        assert b"hush" not in capture.read_bytes()

    run_in_window(qapp, steps)


def everything_said(window: MainWindow) -> str:
    """Every word and tooltip of the window."""
    widgets = [window, *window.findChildren(QWidget)]
    told = [word for one in widgets for word in (one.toolTip(), one.accessibleName(), one.accessibleDescription())]
    labels = [one.text() for one in window.findChildren(QLabel)]
    return "\n".join([window.windowTitle(), said(window), *window.status.words(), *texts(window), *told, *labels])


def said(window: MainWindow) -> str:
    notice = window.notices.notice("connection")
    return notice.text if notice is not None else ""


def test_gaps_are_gone_through_in_turn() -> None:
    gap = {"t": 1, "src": 0, "mark": "gap"}
    document = document_of({"t": 1, "dir": "in", "frame": envelope("chat")}, gap, gap)
    gaps = GapRows(document.capture)
    assert gaps.next_after(None) is None
    assert gaps.update() == 2
    assert gaps.update() == 2
    assert [gaps.next_after(message) for message in (None, 0, 1, 2)] == [1, 1, 2, 1]
