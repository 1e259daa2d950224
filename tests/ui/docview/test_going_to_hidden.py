"""Going to a message the view hides: all is shown, it is said, and what was in force can be put back."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from inspector.ui.dialogs.go_to import GoToDialog
from inspector.ui.widgets.notice import Notice
from inspector.ui.window.main_window import MainWindow
from tests.ui.windows import numbers, panes_of


def go_to(window: MainWindow, number: int) -> None:
    """As a user: Ctrl+G, the number, Enter."""
    window.actions_by_id["go.to"].trigger()
    dialog = next(one for one in window.findChildren(GoToDialog) if one.isVisible())
    QTest.keyClicks(dialog.field, str(number))
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)


def said(window: MainWindow) -> Notice | None:
    return window.notices.notice("message")


def press_link(window: MainWindow) -> None:
    notice = said(window)
    assert notice is not None
    button = next(one for one in notice.findChildren(QAbstractButton) if one.accessibleName() == notice.links[0])
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_it_is_said_that_the_filter_went_and_it_can_be_put_back(window: MainWindow) -> None:
    panes = panes_of(window)
    panes.filter_state.apply_filter('kind == "chat"')
    go_to(window, 9)
    assert said(window) is None, "it is shown"
    go_to(window, 4)
    assert len(numbers(window)) == 9
    notice = said(window)
    assert notice is not None
    assert notice.text == "No. 4 was hidden by the filter, so all messages are shown."
    assert notice.links == ["Restore the filter"]
    press_link(window)
    assert numbers(window) == [1, 2, 9]
    assert panes.messages.current_message() == 8
    assert said(window) is None


def test_back_leads_to_the_view_that_was_left_whenever_it_was_chosen(window: MainWindow) -> None:
    panes = panes_of(window)
    go_to(window, 9)
    panes.filter_state.apply_filter('kind == "chat"')
    go_to(window, 4)
    window.actions_by_id["go.back"].trigger()
    assert numbers(window) == [1, 2, 9]
    assert panes.messages.current_message() == 8


def test_the_scope_and_the_chain_are_named_too(window: MainWindow) -> None:
    panes = panes_of(window)
    panes.messages.go_to(3)
    window.actions_by_id["go.chain_alone"].trigger()
    alone = numbers(window)
    go_to(window, 1)
    notice = said(window)
    assert notice is not None
    assert notice.text == "No. 1 was hidden by the chain, so all messages are shown."
    press_link(window)
    assert numbers(window) == alone
    panes.chain.leave()
    panes.details.links.scope_requested.emit(4)
    panes.filter_state.apply_own_text("no > 4")
    go_to(window, 1)
    notice = said(window)
    assert notice is not None
    assert notice.links == ["Restore filter and scope"]


def test_another_filter_takes_the_words_away(window: MainWindow) -> None:
    panes_of(window).filter_state.apply_filter('kind == "chat"')
    go_to(window, 4)
    panes_of(window).filter_state.apply_filter("no > 4")
    assert said(window) is None
