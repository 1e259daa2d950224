"""When the memory for messages is used up, the window says so, and a click reads on."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QSpinBox, QWidget

from inspector.base import memory_budget
from inspector.demo.gateway import DemoGateway
from inspector.settings import Settings
from inspector.sources.connection import Connection
from inspector.ui.app.application import Application
from inspector.ui.dialogs.memory_page import MemoryPage
from inspector.ui.features import opening
from inspector.ui.look.theme import ThemeController
from tests.builders import envelope, lines_of, log_file
from tests.ui.budgeting import set_budgets
from tests.ui.features.test_capture_saving import click_link
from tests.ui.features.test_reconnecting import say
from tests.ui.find import child
from tests.ui.windows import run_in_window, texts, until

COUNT = 2_000


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log that takes many steps to read, for a process that seems to take 5 MB more with each."""
    held = count(0, 5_000_000)
    monkeypatch.setattr(memory_budget, "resident_bytes", lambda: next(held))
    monkeypatch.setattr(opening, "LIVE_BLOCK_BYTES", 4_096)
    set_budgets(monkeypatch, slice_s=0.0)
    return log_file(lines_of(*(envelope("chat", {"text": f"line {n}"}) for n in range(COUNT))))


def test_reading_stops_with_a_notice_whose_link_reads_on(qapp: QApplication, log: Path) -> None:
    async def steps(application: Application) -> None:
        application.settings.memory.limit_mb = 100
        window = application.new_window()
        window.show()
        window.opening.open_path(log)
        await until(lambda: window.notices.notice("memory-full") is not None, "the notice")
        await until(lambda: not window.opening.reading, "the end of reading")
        read = len(window.document.capture)
        assert 0 < read < COUNT
        notice = window.notices.notice("memory-full")
        assert notice is not None
        assert "The file keeps the rest" in notice.accessibleName()
        assert not [word for word in window.status.words() if word == "watching the file"]
        application.settings.memory.limit_mb = 1_000_000
        window.document.memory.limit_to(1_000_000)
        click_link(notice, "Continue")
        await until(lambda: len(window.document.capture) == COUNT, "all messages")
        await until(lambda: not window.opening.reading, "the end of reading")
        assert window.notices.notice("memory-full") is None

    run_in_window(qapp, steps)


def test_what_came_live_while_it_was_used_up_is_read_when_the_capture_has_ended(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = 0
    monkeypatch.setattr(memory_budget, "resident_bytes", lambda: held)

    async def steps(application: Application) -> None:
        nonlocal held
        application.settings.memory.limit_mb = 100
        gateway = DemoGateway()
        await gateway.start()
        window = application.new_window()
        window.show()
        assert window.gateway.watch(Connection(url=gateway.url, space="demo"))
        await until(lambda: "system/welcome" in window.document.kind_counts(), "the welcome")
        held = 200_000_000
        await say(gateway, "the last that is read")
        await until(lambda: window.notices.notice("memory-full") is not None, "the notice")
        read = len(window.document.capture)
        for number in range(3):
            await say(gateway, f"after {number}")
        await until(lambda: window.document.sources.unread_bytes, "more in the file")
        await window.gateway.end_session()
        await gateway.stop()
        assert len(window.document.capture) == read
        notice = window.notices.notice("memory-full")
        assert notice is not None
        held = 0
        click_link(notice, "Continue")
        await until(lambda: any("after 2" in text for text in texts(window)), "the last message")
        await until(lambda: not window.opening.reading, "the end of reading")
        assert window.notices.notice("memory-full") is None
        assert not window.document.sources.unread_bytes
        assert str(window.document.path) in child(window, QWidget, "statusSource").toolTip()

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
