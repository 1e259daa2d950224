"""From pane to pane with the keyboard: the filter bar, then the panes that are shown, in the order they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from inspector.ui.window.docks import MIDDLE, READ, is_seen

if TYPE_CHECKING:
    from inspector.ui.window.main_window import MainWindow


def stops(window: MainWindow) -> list[tuple[QWidget, QWidget]]:
    """What can have the keyboard as a whole: an area, and the widget in it that takes it.

    Of docks that lie on one another only the one that is seen counts.
    """
    panes = window.panes
    if panes is None:
        return []
    found: list[tuple[QWidget, QWidget]] = [(window.filter_bar, window.filter_bar)]
    for title in READ:
        if title == MIDDLE:
            found.append((window.center, window.center.currentWidget() or panes.messages))
            continue
        dock = window.docks[title]
        content = dock.widget()
        if content is not None and dock.isVisible() and is_seen(content):
            found.append((dock, _taker(content)))
    return found


def _taker(content: QWidget) -> QWidget:
    """What takes the keyboard of a pane: the pane's own choice, else the first thing in it that can."""
    if content.focusProxy() is not None:
        return content
    for widget in content.findChildren(QWidget):  # not along `nextInFocusChain`: see tab_round
        usable = widget.isVisible() and widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        if usable and widget.focusProxy() is None:
            return widget
    return content


def enter(window: MainWindow, title: str) -> None:
    """Give the keyboard to what is in a dock."""
    content = window.docks[title].widget()
    if content is not None:
        _taker(content).setFocus(Qt.FocusReason.ShortcutFocusReason)


def step(window: MainWindow, by: int) -> None:
    """Give the keyboard to the next (1) or previous (-1) pane, around the end."""
    places = stops(window)
    if not places:
        return
    focus = QApplication.focusWidget()
    here = next((n for n, (area, _) in enumerate(places) if focus is not None and _holds(area, focus)), None)
    target = 0 if here is None else (here + by) % len(places)
    area, taker = places[target]
    if area is window.filter_bar:
        window.filter_bar.focus_editor()
    else:
        taker.setFocus(Qt.FocusReason.TabFocusReason)


def _holds(area: QWidget, focus: QWidget) -> bool:
    return area is focus or area.isAncestorOf(focus)
