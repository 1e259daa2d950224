"""Tests of `inspector.ui.widgets.notice`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.notice import NoticeStack
from tests.ui.find import child

HIDDEN = "2 requests and 1 proposal are hidden by this view; agents must act on those."
LONG = "The connection to ws://127.0.0.1:8080 broke off: no close was sent. Is the gateway still running? " * 3


@pytest.fixture
def stack(theme_controller: ThemeController, qtbot: QtBot) -> Iterator[NoticeStack]:
    """An empty stack in a window 800 wide."""
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    column.setContentsMargins(0, 0, 0, 0)
    stack = NoticeStack(theme_controller, window)
    column.addWidget(stack)
    column.addStretch(1)
    window.resize(800, 300)
    window.show()
    yield stack
    window.close()


def test_empty_takes_no_room(stack: NoticeStack) -> None:
    assert not stack.isVisible()


def test_a_link_does_what_it_says(stack: NoticeStack, qtbot: QtBot) -> None:
    done: list[str] = []
    stack.show_notice("hidden", "hidden", HIDDEN, [("Show them", lambda: done.append("shown"))])
    notice = stack.notice("hidden")
    assert notice is not None
    assert (notice.text, notice.links) == (HIDDEN, ["Show them"])
    assert notice.height() == 26
    qtbot.mouseClick(child(notice, QPushButton), Qt.MouseButton.LeftButton)
    assert done == ["shown"]


def test_notices_stack_and_go_one_by_one(stack: NoticeStack) -> None:
    stack.show_notice("a", "note", "one")
    stack.show_notice("b", "error", "two", token="severity.error")
    stack.show_notice("a", "note", "one again")
    assert stack.keys() == ["a", "b"]
    first = stack.notice("a")
    assert first is not None
    assert first.text == "one again"
    stack.dismiss("a")
    stack.dismiss("never there")
    assert stack.keys() == ["b"]
    stack.dismiss_all()
    assert not stack.isVisible()


def test_the_user_closes_one(stack: NoticeStack, qtbot: QtBot) -> None:
    stack.show_notice("open", "note", "stays")
    stack.show_notice("m", "warning", "can go", closable=True)
    notice = stack.notice("m")
    assert notice is not None
    with qtbot.waitSignal(stack.closed) as closed:
        qtbot.mouseClick(child(notice, QToolButton, "notice_mClose"), Qt.MouseButton.LeftButton)
    assert closed.args == ["m"]
    assert stack.keys() == ["open"]


def test_a_long_sentence_takes_more_lines_and_is_never_cut(stack: NoticeStack, qtbot: QtBot) -> None:
    stack.show_notice("m", "error", LONG, [("Connect again", lambda: None)], closable=True)
    notice = stack.notice("m")
    assert notice is not None
    qtbot.waitUntil(lambda: notice.height() > 40)
    label = child(notice, QLabel, "notice_mText")
    qtbot.waitUntil(lambda: label.height() >= label.heightForWidth(label.width()))


def test_text_is_never_markup(stack: NoticeStack) -> None:
    stack.show_notice("m", "note", "<b>bold</b>")
    notice = stack.notice("m")
    assert notice is not None
    assert child(notice, QLabel, "notice_mText").textFormat() == Qt.TextFormat.PlainText
