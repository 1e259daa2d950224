"""When the memory for messages is used up, the window says so, and a click reads on."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QSpinBox

from inspector.base import memory
from inspector.settings import Settings
from inspector.ui.app.application import Application
from inspector.ui.dialogs.memory_page import MemoryPage
from inspector.ui.features import opening
from inspector.ui.look.theme import ThemeController
from tests.builders import envelope, lines_of, log_file
from tests.ui.budgeting import set_budgets
from tests.ui.test_capture_saving import click_link
from tests.ui.windows import run_in_window, until

COUNT = 2_000


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log that takes many steps to read, for a process that seems to take 5 MB more with each."""
    held = count(0, 5_000_000)
    monkeypatch.setattr(memory, "resident_bytes", lambda: next(held))
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
        assert "Nothing is lost" in notice.accessibleName()
        assert not [word for word in window.status.words() if word == "watching the file"]
        application.settings.memory.limit_mb = 1_000_000
        window.document.memory.limit_to(1_000_000)
        click_link(notice, "Go on")
        await until(lambda: len(window.document.capture) == COUNT, "all messages")
        await until(lambda: not window.opening.reading, "the end of reading")
        assert window.notices.notice("memory-full") is None

    run_in_window(qapp, steps)


def test_the_page_edits_the_limit_and_restores_it(qapp: QApplication) -> None:
    settings = Settings()
    page = MemoryPage(ThemeController(qapp), settings)
    limit = page.findChild(QSpinBox, "settingsMemoryLimit")
    assert limit is not None
    assert limit.text() == "Half of what is free"
    limit.setValue(500)
    assert settings.memory.limit_mb == 500
    page.restore()
    assert (settings.memory.limit_mb, limit.value()) == (0, 0)
    page.deleteLater()
