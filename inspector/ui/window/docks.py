"""The docks of a window: creates, fills, shows, moves and hides them, edge by edge.

Panels of the bottom docks are created when they are first shown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QWidget
from typing_extensions import override

from inspector.base.slices import SlicedWork
from inspector.ui.docview.panel import Area, Panel
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.window.panels import PANELS

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes

LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea
SIDES = {LEFT: "left", RIGHT: "right", BOTTOM: "bottom"}
_AREA_OF = {side: area for area, side in SIDES.items()}
_AREAS = {Area.LEFT: LEFT, Area.RIGHT: RIGHT, Area.BOTTOM: BOTTOM}

DOCKS = tuple((panel, _AREAS[panel.area]) for panel in PANELS if panel.area is not Area.MIDDLE)
"""Panels in docks with their default sides, in the order of their tabs."""

MIDDLE = "Messages"
"""Title of the middle column, which is not a dock."""

READ = (
    *(one.title for one in PANELS if one.area is Area.LEFT), MIDDLE,
    *(one.title for one in PANELS if one.area is Area.BOTTOM),
    *(one.title for one in PANELS if one.area is Area.RIGHT),
)  # fmt: skip
"""Titles of the panes in reading order."""


class _Dock(QDockWidget):
    """A dock that creates its panel when it is first shown."""

    def __init__(self, title: str, window: QMainWindow, fill: Callable[[], object]) -> None:
        super().__init__(title, window)
        self._make_content = fill

    @override
    def setVisible(self, visible: bool) -> None:
        if visible and self.widget() is None:
            self._make_content()
        super().setVisible(visible)


class Docks(QObject):
    """The docks of one window.

    Signals:
        changed(): a dock was shown or hidden, by any means.
        details_wanted(): the details are about to be shown.
        left(): the dock with the keyboard focus was hidden, or left with Esc.

    Attributes:
        by_title: the docks by title; empty while there is no document.
    """

    changed = Signal()
    details_wanted = Signal()
    left = Signal()

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._frame = window
        self.by_title: dict[str, QDockWidget] = {}
        self._hidden_by_area: dict[Qt.DockWidgetArea, list[str]] = {}
        self._unplaced: list[tuple[Panel[Panes], Qt.DockWidgetArea, QDockWidget]] = []
        self._panes: Panes | None = None

    def make(self, panes: Panes) -> SlicedWork[None]:
        """Creates the docks with these panes, one a step. They stay invisible until `place`."""
        while self._unplaced:  # left over from a document that failed to open
            self._unplaced.pop()[-1].deleteLater()
        self._panes = panes
        for one, area in DOCKS:
            dock = _Dock(one.title, self._frame, partial(self._make_panel, one.id))
            dock.setObjectName(f"dock.{one.id}")
            if one.id in panes.made:
                _fill_dock(dock, panes.made[one.id])
            self._unplaced.append((one, area, dock))
            yield

    def place(self) -> SlicedWork[None]:
        """Adds the created docks to the window, with a step for each that is shown."""
        for one, area, dock in self._unplaced:
            self.by_title[one.title] = dock
            self._frame.addDockWidget(area, dock)
            dock.setVisible(not one.on_demand)
            dock.toggleViewAction().toggled.connect(lambda *_on: self.changed.emit())
            for moved in (dock.visibilityChanged, dock.topLevelChanged, dock.dockLocationChanged):
                moved.connect(self._show_titles)
            if not one.on_demand:
                yield
        self._unplaced.clear()

    def _make_panel(self, name: str) -> None:
        if self._panes is not None:
            self._panes.panel(name)

    def replace(self, panes: Panes) -> None:
        """Replaces the panels in the docks by these panes."""
        self._panes = panes
        for one, _area in DOCKS:
            dock = self.by_title[one.title]
            if one.id in panes.made or not dock.isHidden():
                _fill_dock(dock, panes.panel(one.id))
            else:
                _empty_dock(dock)
        self._show_titles()

    def _show_titles(self, *_moved: object) -> None:
        """Hides the title in the head of a dock that has a tab with the same text."""
        for dock in self.by_title.values():
            head = dock.titleBarWidget()
            if isinstance(head, PaneHead):
                head.show_title(dock.isHidden() or dock.isFloating() or not _tab_group(self._frame, dock))

    def attach(self, panes: Panes) -> None:
        """Connects the panes' requests to show the details, hide a bottom panel, or focus the middle."""
        for details_requested in (panes.messages.open_details_requested, panes.contexts.details_requested):
            details_requested.connect(self._show_details)
        panes.messages.view.message_clicked.connect(self.details_wanted)
        for one, _area in DOCKS:
            if one.on_demand:
                panes.when_made(one.id, partial(self._attach_panel, self.by_title[one.title]))

    def _attach_panel(self, dock: QDockWidget, panel: Any) -> None:
        if dock.widget() is not panel:
            _fill_dock(dock, panel)
        panel.close_requested.connect(dock.hide)
        panel.left.connect(self.left)

    def _show_details(self, _message: int = -1) -> None:
        self.details_wanted.emit()
        self.bring_up("Details")

    def shows(self, switch: str) -> bool:
        """Returns True if any dock of this action is shown."""
        return any(not dock.isHidden() for dock in self._docks_of_action(switch))

    def bring_up(self, title: str) -> None:
        """Shows a dock in front of its tab group."""
        self.by_title[title].show()
        self.by_title[title].raise_()

    def offer(self, title: str) -> None:
        """Shows a dock without moving the focus, unless other docks at its side are shown."""
        if all(
            self.by_title[one].isHidden() for one in self._titles_at(self._frame.dockWidgetArea(self.by_title[title]))
        ):
            self.bring_up(title)

    def move(self, title: str, area: Qt.DockWidgetArea) -> None:
        """Moves a dock to another side and focuses it. At the bottom it joins the tab group."""
        window, dock = self._frame, self.by_title[title]
        there = [one for one in self.by_title.values() if one is not dock and window.dockWidgetArea(one) == area]
        dock.setFloating(False)
        window.addDockWidget(area, dock)
        if area is BOTTOM and there:
            window.tabifyDockWidget(there[0], dock)
        self._focus_dock(title)

    def switch(self, switch: str) -> None:
        """Shows or hides the docks of an action.

        Args:
            switch: id of the action.
        """
        hide = self.shows(switch)
        if not hide and switch == "view.details":
            self.details_wanted.emit()
        for dock in self._docks_of_action(switch):
            dock.setVisible(not hide)

    def shows_edge(self, side: str) -> bool:
        """Returns True if any dock at this side is shown: left, right or bottom."""
        return any(not self.by_title[title].isHidden() for title in self._titles_at(_AREA_OF[side]))

    def switch_edge(self, side: str) -> None:
        """Hides every dock at a side, or shows the docks that it hid last; the default ones at first."""
        area = _AREA_OF[side]
        there = self._titles_at(area)
        shown = [title for title in there if not self.by_title[title].isHidden()]
        if shown:
            # docks in front come last, so that showing them again raises them above the others
            in_front = [title for title in shown if is_in_front(self._frame, self.by_title[title])]
            self._hidden_by_area[area] = [*(title for title in shown if title not in in_front), *in_front]
            # checked before hiding, because Qt moves the focus of a hidden dock
            held = any(self.by_title[title].isAncestorOf(QApplication.focusWidget() or self._frame) for title in shown)
            for title in shown:
                self.by_title[title].hide()
            if held:
                self.left.emit()
        else:
            again = [title for title in self._hidden_by_area.get(area, []) if title in there]
            usual = {one.title for one, _area in DOCKS if not one.on_demand}
            for title in again or (there[:1] if area is BOTTOM else [title for title in there if title in usual]):
                self.bring_up(title)
        self.changed.emit()

    def _titles_at(self, area: Qt.DockWidgetArea) -> list[str]:
        """Returns the titles of the docks at a side, hidden ones included."""
        docks = self.by_title.items()
        return [title for title, one in docks if not one.isFloating() and self._frame.dockWidgetArea(one) == area]

    def turn_over(self, title: str) -> None:
        """Shows a tabbed pane in front and focuses it, or hides it if it is in front."""
        window, dock = self._frame, self.by_title[title]
        if not dock.isHidden() and is_in_front(window, dock):
            held = dock.isAncestorOf(QApplication.focusWidget() or window)
            dock.hide()
            if held:
                self.left.emit()
        else:
            self._focus_dock(title)
        self.changed.emit()

    def _focus_dock(self, title: str) -> None:
        self.bring_up(title)
        panel = self.by_title[title].widget()
        if panel is not None:
            panel.setFocus()

    def _docks_of_action(self, switch: str) -> list[QDockWidget]:
        return [self.by_title[one.title] for one, _area in DOCKS if one.action == switch and one.title in self.by_title]


def is_in_front(window: QMainWindow, dock: QDockWidget) -> bool:
    """Returns True if a shown dock is visible. Only one dock of a tab group is."""
    content = dock.widget()
    return not _tab_group(window, dock) or not window.isVisible() or (content is not None and is_seen(content))


def _tab_group(window: QMainWindow, dock: QDockWidget) -> list[QDockWidget]:
    """Returns the other shown docks of its tab group."""
    return [one for one in window.tabifiedDockWidgets(dock) if not one.isHidden() and not one.isFloating()]


def is_seen(content: QWidget) -> bool:
    """Returns True if any part of the content is visible.

    Qt reports an empty visible region for a widget that its children cover.
    """
    if not content.isVisible():
        return False
    inner = (child for child in content.children() if isinstance(child, QWidget))
    return not content.visibleRegion().isEmpty() or any(map(is_seen, inner))


def _empty_dock(dock: QDockWidget) -> None:
    """Empties a dock. It is filled again when it is shown."""
    panel, head = dock.widget(), dock.titleBarWidget()
    if panel is not None:
        # Out of the dock at once; `deleteLater` waits for the event loop.
        panel.setParent(None)
        panel.deleteLater()
    if head is not None:
        dock.setTitleBarWidget(None)  # pyright: ignore[reportArgumentType] - Qt takes none for its own
        head.deleteLater()


def _fill_dock(dock: QDockWidget, panel: QWidget) -> None:
    """Puts a panel in a dock in place of the old one."""
    before = dock.widget(), dock.titleBarWidget()
    dock.setWidget(panel)
    head = getattr(panel, "head", None)
    if isinstance(head, QWidget):  # the pane's own head, by which it can be dragged
        dock.setTitleBarWidget(head)
    for one in before:
        if one is not None:
            one.deleteLater()
