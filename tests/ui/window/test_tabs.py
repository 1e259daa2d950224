"""Documents as tabs of one window: opening, switching, moving out and back, closing, restoring."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton

from inspector.base.slices import run_to_end
from inspector.settings.window_state import SavedWindow
from inspector.ui.app.application import Application
from inspector.ui.input import tab_order
from inspector.ui.window import tabbed_windows
from inspector.ui.window.main_window import MainWindow
from inspector.ui.window.tabbed_window import DocumentTabBar, TabbedWindow, document_title
from tests.builders import document_of, envelope
from tests.ui.engines import client_of
from tests.ui.windows import numbers, panes_of, run_in_window, story, until, window_on


@pytest.fixture
def tabs(application: Application, monkeypatch: pytest.MonkeyPatch) -> Iterator[TabbedWindow]:
    """A window with two tabs: a story in the back, and three messages of a second each in front."""
    monkeypatch.setattr(tabbed_windows, "opens_tabs", lambda settings: settings.start.open_in == "tabs")
    first = window_on(application, story())
    second = application.new_window(beside=first)
    run_to_end(second.showing(client_of(document_of(*(envelope("chat", {"text": "Hello"}) for _ in range(3))), second)))
    [tabbed] = application.tabs.windows
    yield tabbed
    for one in list(application.windows):
        one.close()


def trigger(window: MainWindow, name: str) -> None:
    action = window.actions_by_id[name]
    assert action.isEnabled()
    action.trigger()


def test_documents_open_as_tabs_and_keys_act_on_the_one_in_front(application: Application, tabs: TabbedWindow) -> None:
    first, second = application.windows
    assert tabs.documents == [first, second]
    assert (first.isVisible(), second.isVisible()) == (False, True)
    assert tabs.bar.isVisible()
    assert application.front is second or application.front is first
    QTest.keyClick(second, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    assert tabs.current is first
    assert (first.isVisible(), second.isVisible()) == (True, False)
    QTest.keyClick(first, Qt.Key.Key_PageUp, Qt.KeyboardModifier.ControlModifier)
    assert tabs.current is second
    first.filtering.apply("no > 8")
    assert (numbers(first), numbers(second)) == ([9], [1, 2, 3])


def test_a_tab_shows_title_path_and_state(application: Application, tabs: TabbedWindow) -> None:
    first, _ = application.windows
    first.setWindowTitle("run & check.jsonl[*] — Context Inspector")
    first.setWindowModified(True)
    assert tabs.bar.tabText(0) == "run && check.jsonl*"
    assert "run &amp; check.jsonl" in tabs.bar.tabToolTip(0)
    assert tabs.bar.accessibleTabName(0) == "run & check.jsonl, unsaved"
    tabs.bring_up(first)
    assert (tabs.windowTitle(), tabs.isWindowModified()) == (first.windowTitle(), True)
    assert tabs.bar.accessibleName() == "Documents"
    close = tabs.bar.tabButton(0, tabs.bar.ButtonPosition.RightSide)
    assert isinstance(close, QToolButton)
    assert close.accessibleName() == "Close tab"


def test_a_tab_moves_to_a_window_and_back(application: Application, tabs: TabbedWindow) -> None:
    first, second = application.windows
    trigger(second, "window.move_out")
    own, other = application.tabs.window_of(first), application.tabs.window_of(second)
    assert own is tabs
    assert other is not None
    assert other is not own
    assert second.window() is other
    assert second.isVisible()
    assert not second.actions_by_id["window.move_out"].isEnabled()
    assert not tabs.bar.isVisible()
    trigger(first, "window.gather")
    assert tabs.documents == [first, second]
    assert tabs.current is first
    assert application.tabs.windows == [tabs]


def test_a_window_in_the_back_gives_new_documents_to_the_one_in_front(
    application: Application, tabs: TabbedWindow
) -> None:
    third = application.new_window()
    assert tabs.documents[2:] == [third]
    alone = application.new_window(alone=True)
    assert application.tabs.window_of(alone) is not tabs


def drag_away(bar: DocumentTabBar, start: QPoint) -> None:
    QTest.mousePress(bar, Qt.MouseButton.LeftButton, pos=start)
    away = start + QPoint(0, 300)
    release = QMouseEvent(
        QEvent.Type.MouseButtonRelease, QPointF(away), QPointF(bar.mapToGlobal(away)), Qt.MouseButton.LeftButton,
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(bar, release)
    QTest.qWait(1)


def test_a_dropped_tab_becomes_a_window(application: Application, tabs: TabbedWindow) -> None:
    second, bar = application.windows[1], tabs.bar
    drag_away(bar, QPoint(bar.width() - 3, bar.height() // 2))
    assert application.tabs.windows == [tabs]
    drag_away(bar, bar.tabRect(1).center())
    assert application.tabs.window_of(second) is not tabs
    assert len(application.tabs.windows) == 2


def test_middle_click_and_keys_close_a_tab_and_then_the_window(application: Application, tabs: TabbedWindow) -> None:
    first, second = application.windows
    QTest.mouseClick(tabs.bar, Qt.MouseButton.MiddleButton, pos=tabs.bar.tabRect(0).center())
    assert application.windows == [second]
    assert tabs.current is second
    assert not tabs.bar.isVisible()
    trigger(second, "file.close")
    assert application.windows == []
    assert application.tabs.windows == []
    assert not tabs.isVisible()
    assert not first.isVisible()


def test_the_menu_lists_all_documents(application: Application, tabs: TabbedWindow) -> None:
    first, second = application.windows
    first.setWindowTitle("a.jsonl — Context Inspector")
    second.window_menu.refresh()
    entries = second.menus["&Window"].actions()[-2:]
    assert [(entry.text(), entry.isChecked()) for entry in entries] == [
        ("a.jsonl", False),
        (document_title(second), True),
    ]
    entries[0].trigger()
    assert tabs.current is first


def test_tabs_come_back_in_their_windows(application: Application, tabs: TabbedWindow) -> None:
    saved = [SavedWindow(path="a"), SavedWindow(path="b")]
    tabs.bring_up(application.windows[0])
    for one, into in zip(application.windows, saved, strict=True):
        application.tabs.note(one, into)
    assert [(one.window, one.in_front) for one in saved] == [(1, True), (1, False)]
    again = [application.new_window(saved=one) for one in saved]
    restored = application.tabs.window_of(again[0])
    assert restored is not None
    assert restored is not tabs
    assert restored.documents == again
    assert restored.current is again[0]


def test_two_documents_side_by_side_share_a_clock(application: Application, tabs: TabbedWindow) -> None:
    first, second = application.windows
    trigger(second, "window.compare")
    assert tabs.beside is first
    assert first.isVisible()
    assert second.isVisible()
    assert second.actions_by_id["window.compare"].isChecked()
    assert tabs.clock is not None
    tabs.clock.mode = "start"
    panes_of(first).messages.view.setFocus()
    panes_of(first).messages.go_to(1)
    assert panes_of(second).messages.current_message() == 1
    panes_of(second).messages.view.setFocus()
    panes_of(second).messages.go_to(0)
    assert panes_of(first).messages.current_message() == 0
    trigger(second, "window.clock_start")
    assert tabs.clock.mode == "none"
    panes_of(second).messages.go_to(2)
    assert panes_of(first).messages.current_message() == 0
    trigger(second, "window.clock_time")
    panes_of(second).messages.go_to(1)
    assert panes_of(first).messages.current_message() == 8  # the last one is nearest
    trigger(second, "window.compare")
    assert tabs.beside is None
    assert not first.isVisible()
    assert second.isVisible()
    QTest.keyClick(second, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    assert tabs.current is first


def test_a_clock_that_was_switched_off_stays_off_for_another_document(
    application: Application, tabs: TabbedWindow
) -> None:
    first, second = application.windows
    third = application.new_window()
    application.tabs.compare(second, first)
    assert tabs.clock is not None
    application.tabs.set_clock(second, tabs.clock.mode)
    tabs.bring_up(third)
    assert tabs.left is third
    assert tabs.clock.mode == "none"


def test_a_document_that_was_compared_and_listed_is_freed(application: Application, tabs: TabbedWindow) -> None:
    first, third = application.windows[0], application.new_window()
    application.tabs.compare(first, third)
    application.tabs.end_comparison(first)
    first.window_menu.refresh()
    closed = weakref.ref(third)
    third.close()
    del third
    QTest.qWait(1)
    gc.unfreeze()
    gc.collect()
    assert closed() is None


def test_keys_act_on_the_focused_one_of_two_documents(application: Application, tabs: TabbedWindow) -> None:
    first, second = application.windows
    trigger(first, "window.compare")
    marked = {}
    for window in (first, second):
        panes_of(window).messages.go_to(0)
        view = panes_of(window).messages.view
        view.setFocus()
        QTest.keyClick(view, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
        marked[window] = window.shown.state.marks
    assert all(marked.values())
    second.close()
    assert tabs.beside is None
    assert tabs.current is first


def test_the_only_document_cannot_be_compared(application: Application, tabs: TabbedWindow) -> None:
    first, second = application.windows
    second.close()
    trigger(first, "window.compare")
    notice = first.notices.notice("message")
    assert notice is not None
    assert notice.text.startswith("Open a second document")


def test_tab_order_stays_within_the_document_in_front(application: Application, tabs: TabbedWindow) -> None:
    second = application.windows[1]
    second.focus_center()
    assert tab_order.step(second, (), True)
    focus = QApplication.focusWidget()
    assert focus is None or second.isAncestorOf(focus)


def test_a_window_closes_with_all_its_tabs(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    async def whole(application: Application) -> None:
        monkeypatch.setattr(tabbed_windows, "opens_tabs", lambda _settings: True)
        first = application.new_window()
        application.new_window(beside=first)
        third = application.new_window(alone=True)
        tabbed = application.tabs.window_of(first)
        assert tabbed is not None
        assert not tabbed.close()
        await until(lambda: application.windows == [third], "the tabs to close")
        assert application.tabs.windows == [application.tabs.window_of(third)]
        assert third.isVisible()

    run_in_window(qapp, whole)
