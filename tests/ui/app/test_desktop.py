"""On somebody's desktop: its theme and contrast as they change, small screens, its own file dialogs, any scale."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from inspector.settings import Settings
from inspector.ui.dialogs.connect import ConnectDialog
from inspector.ui.look import theme as theme_module
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.scrolled_part import ScrolledPart

SOURCES = Path(__file__).parents[3] / "inspector"


def test_the_systems_theme_is_followed_as_it_changes(
    qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller = ThemeController(qapp, setting="system", bundled_fonts=True)
    try:
        for dark in (True, False):
            monkeypatch.setattr(theme_module, "system_is_dark", lambda dark=dark: dark)
            with qtbot.waitSignal(controller.changed):
                scheme = Qt.ColorScheme.Dark if dark else Qt.ColorScheme.Light
                QGuiApplication.styleHints().colorSchemeChanged.emit(scheme)
            assert controller.theme.dark is dark
            assert (qapp.palette().window().color().lightness() < 128) is dark
        controller.set_setting("light")
        monkeypatch.setattr(theme_module, "system_is_dark", lambda: True)
        QGuiApplication.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
        assert not controller.theme.dark
    finally:
        controller.dispose()


@pytest.mark.parametrize("setting", ["system", "dark"])
def test_more_contrast_is_followed_whatever_the_theme(
    qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, setting: theme_module.ThemeSetting
) -> None:
    hints = QGuiApplication.styleHints()
    if not hasattr(hints, "accessibility"):
        pytest.skip("needs Qt 6.10")
    accessibility = hints.accessibility()
    controller = ThemeController(qapp, setting=setting, bundled_fonts=True)
    try:
        for wanted in (True, False):
            monkeypatch.setattr(theme_module, "_system_wants_contrast", lambda wanted=wanted: wanted)
            with qtbot.waitSignal(controller.changed):
                accessibility.contrastPreferenceChanged.emit(Qt.ContrastPreference.HighContrast)
            assert controller.theme.high_contrast is wanted
    finally:
        controller.dispose()


@pytest.mark.parametrize("percent", [80, 100, 150, 200])
def test_the_connect_dialog_stands_whole_on_the_screen(
    theme_controller: ThemeController, qtbot: QtBot, percent: int
) -> None:
    theme_controller.set_zoom(percent / 100)
    dialog = ConnectDialog(theme_controller, Settings())
    qtbot.addWidget(dialog)
    dialog.show()
    screen = dialog.screen().availableSize()
    qtbot.waitUntil(lambda: dialog.height() <= screen.height() and dialog.width() <= screen.width())
    fields = dialog.findChild(ScrolledPart)
    assert fields is not None
    scrolls = fields.verticalScrollBar().maximum() > 0
    assert scrolls is (percent == 200)
    button = dialog.findChild(QPushButton, "connectConnect")
    assert button is not None
    assert dialog.rect().contains(button.geometry())


def test_every_field_of_a_scrolled_dialog_is_reached_by_tab(theme_controller: ThemeController, qtbot: QtBot) -> None:
    theme_controller.set_zoom(2)
    dialog = ConnectDialog(theme_controller, Settings())
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is not None)
    fields = dialog.findChild(ScrolledPart)
    assert fields is not None
    seen: list[str] = []
    for _ in range(14):
        focus = QApplication.focusWidget()
        if focus is not None and fields.isAncestorOf(focus):
            seen.append(focus.objectName())
            middle = focus.mapTo(fields.viewport(), focus.rect().center())
            assert fields.viewport().rect().contains(middle), focus.objectName()
        qtbot.keyClick(focus or dialog, Qt.Key.Key_Tab)
    assert {"connectAddress", "connectSpace", "connectToken", "connectParticipant", "connectAnswer"} <= set(seen)


def test_file_dialogs_are_the_systems_own() -> None:
    for path in SOURCES.rglob("*.py"):
        assert not re.search("DontUseNative|AA_DontUseNativeDialogs", path.read_text()), path


SCALED = """
import sys
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from inspector.ui.app.application import make_qt
from inspector.ui.window.actions import ACTIONS
from inspector.ui.window.main_window import MainWindow
from inspector.ui.app.application import Application
from inspector.document.document import CaptureDocument
qt = make_qt()
assert QGuiApplication.highDpiScaleFactorRoundingPolicy() is Qt.HighDpiScaleFactorRoundingPolicy.PassThrough
application = Application(qt, theme="light", remembers=False, bundled_fonts=True)
window = MainWindow(application, ACTIONS)
window.resize(900, 600)
picture = window.grab()
print(window.devicePixelRatio(), picture.width(), picture.height())
"""


@pytest.mark.parametrize(("factor", "width", "height"), [("1.5", 1350, 900), ("2", 1800, 1200), ("1.25", 1125, 750)])
@pytest.mark.real
def test_fractional_scales_are_passed_through(factor: str, width: int, height: int) -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": factor}
    done = subprocess.run([sys.executable, "-c", SCALED], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(float(factor)), str(width), str(height)]


_HANDED_OVER = """
import asyncio, sys
from PySide6.QtCore import QTimer
from PySide6.QtGui import QFileOpenEvent
from inspector.ui.app import application
from inspector.ui.app.application import Application, make_qt, run_windows

qt, seen = make_qt(), []
first, second = sys.argv[1:]
qt.sendEvent(qt, QFileOpenEvent(first))  # before there is a window

class Watched(Application):
    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.steps = QTimer(interval=20)
        self.steps.timeout.connect(self.look)
        self.steps.start()

    def look(self):
        names = [window.shown.state.name for window in self.windows if window.panes]
        if len(names) > len(seen):
            seen[:] = names
            if len(seen) == 1:
                qt.sendEvent(qt, QFileOpenEvent(second))
            else:
                self.steps.stop()
                print(*seen)
                self.spawn(self.quit(), "end")

application.Application = Watched
sys.exit(run_windows([], standalone=True))
"""


@pytest.mark.real
def test_files_that_the_desktop_hands_over_are_opened(tmp_path: Path) -> None:
    """On macOS a file that is double-clicked comes as an event: before the first window, or while the program runs."""
    names = ["first.jsonl", "second.jsonl"]
    for name in names:
        (tmp_path / name).write_text('{"protocol": "mew/v0.4", "kind": "chat", "id": "1", "from": "a"}\n', "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", _HANDED_OVER, *(str(tmp_path / name) for name in names)],
        capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "CONTEXT_INSPECTOR_HOME": str(tmp_path / "home")},
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, names), done.stderr
