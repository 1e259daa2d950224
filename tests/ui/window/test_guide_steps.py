"""What the guide says to press, pressed one after another in one window on the log its pictures show."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest

from inspector.document.document import CaptureDocument
from inspector.ui.app.application import Application
from inspector.ui.window.main_window import MainWindow
from tests.pages import ROOT
from tests.ui.windows import numbers, panes_of, window_on

DEMO = ROOT / "tests/data/captures/demo-round.ctxcap"


@pytest.fixture
def window(application: Application) -> MainWindow:
    document = CaptureDocument()
    document.load(DEMO)
    made = window_on(application, document)
    made.activateWindow()
    return made


def press(window: MainWindow, keys: str) -> None:
    """Press keys where the keyboard is."""
    QTest.keySequence(window.focusWidget() or window, QKeySequence(keys))


def current(window: MainWindow) -> int:
    message = panes_of(window).messages.current_message()
    assert message is not None
    return message + 1


def rows_and_messages(window: MainWindow) -> tuple[int, int]:
    """How many rows there are, and for how many messages they stand: the frames of a stream have one row."""
    panes = panes_of(window)
    return len(panes.rows), panes.counts()[0]


def is_shown(window: MainWindow, dock: str) -> bool:
    return not window.docks[dock].isHidden()


def test_first_steps(window: MainWindow) -> None:
    press(window, "F8")
    assert current(window) == 97
    panes_of(window).go_to(105)
    press(window, "Ctrl+[")
    assert current(window) == 105
    press(window, "Ctrl+]")
    assert current(window) == 106
    press(window, "Ctrl+\\")
    assert numbers(window) == [28, 32, 51, 54, 63, 68, 105, 106, 108, 109]
    press(window, "Ctrl+\\")
    assert rows_and_messages(window) == (141, 161)


def test_why(window: MainWindow) -> None:
    panes_of(window).go_to(105)
    press(window, "Alt+Down")
    assert current(window) == 111
    press(window, "Alt+Up")
    assert current(window) == 106
    press(window, "Alt+Left")
    assert current(window) == 111
    press(window, "Ctrl+Shift+I")
    assert window.center.current == "model_sees"
    press(window, "Ctrl+7")
    assert window.center.current == "timeline"
    press(window, "Ctrl+6")
    assert window.center.current == "messages"
    window.actions_by_id["analyze.pending"].trigger()
    assert "waiting" in panes_of(window).filter_state.filter.text
    assert numbers(window) == []


def test_full_context(window: MainWindow) -> None:
    for keys, dock in (("Ctrl+9", "Tokens"), ("Ctrl+Alt+W", "Waste"), ("Ctrl+4", "Latency"), ("Ctrl+3", "Findings")):
        press(window, keys)
        assert is_shown(window, dock)
    assert not window.actions_by_id["view.hints"].isChecked()


def test_search_and_filter(window: MainWindow) -> None:
    press(window, "Ctrl+/")
    QTest.keyClicks(window.focusWidget(), 'kind like "mcp/*:tools/call" && from == "analyst"')
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Return)
    assert rows_and_messages(window) == (21, 21)
    press(window, "Ctrl+Shift+X")
    assert rows_and_messages(window) == (141, 161)
    press(window, "Ctrl+F")
    assert panes_of(window).find_in_view.bar.isVisible()


def test_scope_by_the_tree(window: MainWindow) -> None:
    view = panes_of(window).contexts.view
    view.setFocus()
    view.setCurrentIndex(view.model().index(2, 0))
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert rows_and_messages(window) == (78, 98)
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert rows_and_messages(window) == (141, 161)


def test_marks(window: MainWindow) -> None:
    panes_of(window).go_to(10)
    press(window, "Ctrl+M")
    panes_of(window).go_to(105)
    press(window, "F7")
    assert current(window) == 11
    press(window, "Ctrl+5")
    assert is_shown(window, "Marks")
    press(window, "Ctrl+Z")
    assert not panes_of(window).client.document.analysis.marks.note(10).marked
