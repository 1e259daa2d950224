"""Moves the keyboard focus between panes, in reading order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QWidget

from inspector.ui.widgets.filter_bar import FilterBar
from inspector.ui.window.docks import MIDDLE, READ, is_seen

if TYPE_CHECKING:
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.window_content import Shown


class PaneFocus:
    """Focuses the panes of one window."""

    def __init__(self, shown: Shown, filter_bar: FilterBar, center: Center, docks: Mapping[str, QDockWidget]) -> None:
        """Stores its collaborators.

        Args:
            shown: the panes, if any.
            filter_bar: the first stop.
            center: the middle column.
            docks: the docks by title.
        """
        self._shown = shown
        self._filter_bar = filter_bar
        self._center = center
        self._docks = docks

    def stops(self) -> list[tuple[QWidget, QWidget]]:
        """Returns the focus stops as pairs of an area and the widget in it that takes the focus.

        A tab group counts only with its visible dock.
        """
        panes, runs = self._shown.panes, self._shown.runs
        if runs is not None:
            return [(area, area) for area in runs.areas]
        if panes is None:
            return []
        found: list[tuple[QWidget, QWidget]] = [(self._filter_bar, self._filter_bar)]
        for title in READ:
            if title == MIDDLE:
                found.append((self._center, self._center.currentWidget() or panes.messages))
                continue
            dock = self._docks[title]
            content = dock.widget()
            if content is not None and dock.isVisible() and is_seen(content):
                found.append((dock, _focus_target(content)))
        return found

    def panes(self) -> list[tuple[str, QWidget]]:
        """Returns each pane's title and the widget in it that takes the focus. The messages come first."""
        if self._shown.panes is None:
            return []
        shown = {id(area): taker for area, taker in self.stops()}
        docks = ((title, self._docks.get(title)) for title in READ)
        found = [(title, shown[id(dock)]) for title, dock in docks if dock is not None and id(dock) in shown]
        return [(MIDDLE, self._shown.panes.messages), *found]

    def enter(self, title: str) -> None:
        content = self._docks[title].widget()
        if content is not None:
            _focus_target(content).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def step(self, by: int) -> None:
        """Focuses the next (1) or previous (-1) pane and wraps around."""
        places = self.stops()
        if not places:
            return
        focus = QApplication.focusWidget()
        here = next((n for n, (area, _) in enumerate(places) if focus is not None and _contains(area, focus)), None)
        target = 0 if here is None else (here + by) % len(places)
        area, taker = places[target]
        if isinstance(area, FilterBar):
            area.focus_editor()
        else:
            taker.setFocus(Qt.FocusReason.TabFocusReason)


def _focus_target(content: QWidget) -> QWidget:
    """Returns the widget that takes the focus in a pane: its focus proxy, else its first focusable child."""
    if content.focusProxy() is not None:
        return content
    for widget in content.findChildren(QWidget):  # not along `nextInFocusChain`: see input/tab_order.py
        usable = widget.isVisible() and widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        if usable and widget.focusProxy() is None:
            return widget
    return content


def _contains(area: QWidget, focus: QWidget) -> bool:
    return area is focus or area.isAncestorOf(focus)
