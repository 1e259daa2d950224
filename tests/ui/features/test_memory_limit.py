"""When the memory for messages is used up, the window says so, and a click reads on."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QSpinBox, QWidget

from inspector.base import memory_budget
from inspector.demo.gateway import DemoGateway
from inspector.engine import opening, served_document
from inspector.settings import Settings
from inspector.sources.connection import Connection
from inspector.ui.app.application import Application
from inspector.ui.dialogs.memory_page import MemoryPage
from inspector.ui.look.theme import ThemeController
from inspector.ui.window.main_window import MainWindow
from tests.builders import envelope, lines_of, log_file
from tests.ui.engines import patch_engine
from tests.ui.features.test_capture_saving import click_link
from tests.ui.features.test_reconnecting import say
from tests.ui.find import child
from tests.ui.windows import ask_engine, run_in_window, state_of, texts, until

COUNT = 2_000


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log that takes many steps to read, for a process that seems to take 5 MB more with each."""
    held = count(0, 5_000_000)
    patch_engine(monkeypatch, memory_budget, "resident_bytes", lambda: next(held))
    for module in (opening, served_document):
        patch_engine(monkeypatch, module, "LIVE_BLOCK_BYTES", 4_096)
    return log_file(lines_of(*(envelope("chat", {"text": f"line {n}"}) for n in range(COUNT))))


def test_reading_stops_with_a_notice_whose_link_reads_on(qapp: QApplication, log: Path) -> None:
    async def steps(application: Application) -> None:
        application.settings.memory.limit_mb = 100
        window = application.new_window()
        window.show()
        window.opening.open_path(log)
        await until(lambda: window.notices.notice("memory-full") is not None, "the notice")
        await until(lambda: not window.opening.reading, "the end of reading")
        read = state_of(window).messages
        assert 0 < read < COUNT
        notice = window.notices.notice("memory-full")
        assert notice is not None
        assert "The file keeps the rest" in notice.accessibleName()
        assert not [word for word in window.status.words() if word == "watching the file"]
        application.settings.memory.limit_mb = 1_000_000
        ask_engine(window, lambda document: document.memory.limit_to(1_000_000))
        click_link(notice, "Continue")
        await until(lambda: state_of(window).messages == COUNT, "all messages")
        await until(lambda: not window.opening.reading, "the end of reading")
        assert window.notices.notice("memory-full") is None

    run_in_window(qapp, steps)


def test_what_came_live_while_it_was_used_up_is_read_when_the_capture_has_ended(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hold(window: MainWindow, resident: int) -> None:
        patch_engine(monkeypatch, memory_budget, "resident_bytes", lambda: resident)
        ask_engine(window, lambda _document: None)  # with the next message it applies

    patch_engine(monkeypatch, memory_budget, "resident_bytes", lambda: 0)

    async def steps(application: Application) -> None:
        application.settings.memory.limit_mb = 100
        gateway = DemoGateway()
        await gateway.start()
        window = application.new_window()
        window.show()
        assert window.gateway.watch(Connection(url=gateway.url, space="demo"))
        await until(lambda: "system/welcome" in window.document.kind_counts(), "the welcome")
        hold(window, 200_000_000)
        await say(gateway, "the last that is read")
        await until(lambda: window.notices.notice("memory-full") is not None, "the notice")
        read = state_of(window).messages
        for number in range(3):
            await say(gateway, f"after {number}")
        await until(lambda: state_of(window).unread_bytes, "more in the file")
        await window.gateway.end_session()
        await gateway.stop()
        assert state_of(window).messages == read
        notice = window.notices.notice("memory-full")
        assert notice is not None
        hold(window, 0)
        click_link(notice, "Continue")
        await until(lambda: any("after 2" in text for text in texts(window)), "the last message")
        await until(lambda: not window.opening.reading, "the end of reading")
        assert window.notices.notice("memory-full") is None
        assert not state_of(window).unread_bytes
        assert str(state_of(window).path) in child(window, QWidget, "statusSource").toolTip()

    run_in_window(qapp, steps)


def test_the_page_edits_the_limit_and_restores_it(qapp: QApplication) -> None:
    settings = Settings()
    page = MemoryPage(ThemeController(qapp), settings)
    limit = page.findChild(QSpinBox, "settingsMemoryLimit")
    assert limit is not None
    assert limit.text() == "Half of the free memory"
    limit.setValue(500)
    assert settings.memory.limit_mb == 500
    page.restore()
    assert (settings.memory.limit_mb, limit.value()) == (0, 0)
    page.deleteLater()
