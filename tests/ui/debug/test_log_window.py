"""Help > Log: the program's log as it grows."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from inspector.base.paths import log_folder
from inspector.diagnostics import program_log
from inspector.diagnostics.program_log import LogFile
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.debug.log_window import LogWindow, lines_of
from inspector.ui.look.theme import ThemeController
from tests.ui.find import child

pytestmark = pytest.mark.logs_warnings

_log = logging.getLogger("inspector.tests")


@pytest.fixture
def log() -> Iterator[LogFile]:
    handler = program_log.start_logging(mask_text)
    yield handler
    program_log.stop_logging(handler)


@pytest.fixture
def window(theme_controller: ThemeController, qtbot: QtBot, log: LogFile) -> LogWindow:
    made = LogWindow(theme_controller, log)
    qtbot.addWidget(made)
    made.show()
    return made


def test_it_follows_what_is_logged(window: LogWindow, qtbot: QtBot) -> None:
    assert window.view.placeholderText() == "The log is empty."
    for number in range(100):
        _log.info("line %d", number)
    qtbot.waitUntil(lambda: "line 99" in window.view.toPlainText())
    bar = window.view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    window.follow.click()
    bar.setValue(0)
    _log.info("one more")
    qtbot.waitUntil(lambda: "one more" in window.view.toPlainText())
    assert bar.value() == 0


def test_find_goes_around_and_stops_following(window: LogWindow, qtbot: QtBot) -> None:
    _log.info("needle one")
    _log.info("hay")
    _log.info("needle two")
    qtbot.waitUntil(lambda: "needle two" in window.view.toPlainText())
    qtbot.keyClicks(window.field, "needle")
    assert not window.follow.isChecked()
    first = window.view.textCursor().blockNumber()
    qtbot.keyClick(window.field, Qt.Key.Key_Return)
    assert window.view.textCursor().blockNumber() == 2
    assert first == 0
    qtbot.keyClick(window, Qt.Key.Key_F3)
    assert window.view.textCursor().blockNumber() == 0
    qtbot.keyClick(window, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert window.view.textCursor().blockNumber() == 2
    qtbot.keyClicks(window.field, "zzz")
    assert child(window, QLabel, "logFound").text() == "Not found"


def test_levels_choose_whole_records(window: LogWindow) -> None:
    _log.info("quiet")
    _log.error("loud\nand long")
    window.levels.setCurrentIndex(2)
    shown = window.view.toPlainText().splitlines()
    assert len(shown) == 2
    assert shown[0].endswith("loud")
    assert shown[1] == "    and long"
    assert lines_of(["torn beginning"], ("ERROR",)) == ["torn beginning"]


def test_copy_takes_the_selection_or_everything(window: LogWindow, qtbot: QtBot) -> None:
    _log.info("one")
    _log.info("two")
    qtbot.waitUntil(lambda: "two" in window.view.toPlainText())
    child(window, QPushButton, "logCopy").click()
    assert QApplication.clipboard().text() == window.view.toPlainText()
    window.field.setText("two")
    child(window, QPushButton, "logCopy").click()
    assert QApplication.clipboard().text() == "two"


def test_the_folder_is_opened(window: LogWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: asked.append(url))
    child(window, QPushButton, "logFolder").click()
    assert [url.toLocalFile() for url in asked] == [str(log_folder())]
    assert "No program can open folders" in child(window, QLabel, "logStatus").text()


def test_secrets_are_not_shown(window: LogWindow, qtbot: QtBot) -> None:
    _log.info("Authorization: Bearer abcdefgh12345678")
    qtbot.waitUntil(lambda: "Authorization" in window.view.toPlainText())
    assert "abcdefgh" not in window.view.toPlainText()


def test_without_a_log_it_says_so(theme_controller: ThemeController, qtbot: QtBot) -> None:
    window = LogWindow(theme_controller, None)
    qtbot.addWidget(window)
    assert window.view.placeholderText() == "No log is written in this session."
