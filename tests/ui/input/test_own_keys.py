"""Keys that belong to what has the keyboard: Space and Enter press buttons, also while Space pauses the view."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget
from pytestqt.qtbot import QtBot

from inspector.ui.window.main_window import MainWindow
from tests.ui.windows import panes_of

KEYS = Qt.Key


@pytest.fixture
def window(window: MainWindow, qtbot: QtBot) -> MainWindow:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


@pytest.fixture
def pause(window: MainWindow) -> QAction:
    """The action, as while traffic is live."""
    action = window.actions_by_id["capture.pause"]
    action.setEnabled(True)
    return action


def space_on(widget: QWidget, key: Qt.Key = KEYS.Key_Space) -> None:
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    assert widget.hasFocus()
    QTest.keyClick(widget, key)


def test_space_in_the_table_pauses(window: MainWindow, pause: QAction) -> None:
    space_on(panes_of(window).messages.view)
    assert pause.isChecked()


def test_space_presses_the_buttons_of_the_find_bar(window: MainWindow, pause: QAction) -> None:
    bar = panes_of(window).messages.find_bar
    panes_of(window).find_in_view.open()
    for button in (bar.match_case, bar.is_pattern):
        space_on(button)
        assert button.isChecked()
        space_on(button, KEYS.Key_Return)
        assert not button.isChecked()
    space_on(bar.close_button)
    assert bar.isHidden()
    assert not pause.isChecked()


def test_space_belongs_to_boxes_and_lists_too(window: MainWindow, pause: QAction) -> None:
    panes = panes_of(window)
    box, choice = QCheckBox("Box", panes.messages), QComboBox(panes.messages)
    choice.addItems(["one", "two"])
    for widget in (box, choice):
        widget.setGeometry(0, 0, 80, 24)
        widget.show()
    space_on(box)
    assert box.isChecked()
    space_on(choice)
    choice.hidePopup()
    space_on(panes.contexts.view)
    assert not pause.isChecked()


def test_find_is_switched_by_key_and_says_how_it_stands(window: MainWindow) -> None:
    panes = panes_of(window)
    panes.messages.setFocus()
    for name, key, switch in (("edit.find_case", "Ctrl+Alt+A", "match_case"),
                              ("edit.find_pattern", "Ctrl+Alt+R", "is_pattern")):  # fmt: skip
        button = getattr(panes.messages.find_bar, switch)
        assert window.keys.words(name) == key
        QTest.keySequence(panes.messages.view, QKeySequence(key))
        assert panes.messages.find_bar.isVisible()
        assert button.isChecked()
        button.setChecked(False)
        assert not window.actions_by_id[name].isChecked()
        panes.find_in_view.close()


def test_enter_follows_the_link_of_a_notice(window: MainWindow) -> None:
    done: list[int] = []
    window.notices.show_sentence("Something happened.", link=("Do it", lambda: done.append(1)))
    notice = window.notices.notice("message")
    assert notice is not None
    link = next(one for one in notice.findChildren(QWidget, "notice_messageLink0"))
    space_on(link, KEYS.Key_Return)
    assert done == [1]
