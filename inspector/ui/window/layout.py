"""Window geometry and pane widths: defaults, zoom, and storage in layout.ini.

Geometry and layout only. All other settings are in settings/.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QByteArray, QObject, QPoint, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDockWidget, QMainWindow, QStyle, QTabWidget, QWidget

from inspector.base.paths import config_folder
from inspector.ui.window.docks import BOTTOM, DOCKS

if TYPE_CHECKING:
    from inspector.settings.window_state import SavedWindow
    from inspector.ui.look.theme import ThemeController

SMALL, WIDE = 1280, 1700
"""Default window width, and the width from which its panes are wider (docs/design.md 14); pixels at 100 %."""

HEIGHT = 800
_LAYOUT_VERSION = 1  # Qt rejects a saved state of another version
_SIDES = {False: (212, 312), True: (288, 484)}
"""Widths of the left and right panes in windows below WIDE, and from WIDE on.

Titles of contexts stay distinguishable, and the column Message gets a good share of the table.
"""
_MIN_MIDDLE = 640
"""Minimum width of the messages: all default columns, and 240 for the text. Side panes shrink first. At 100 %."""
_MIN_LEFT, _MIN_RIGHT = 150, 220
"""Minimum useful widths of the left panes and the details; pixels at 100 %."""
_HIDE_ORDER = (("Details",), ("Contexts", "Participants"))
"""Panes to hide for lack of room, in this order."""
_DRAG_TOLERANCE = 8
"""Smaller changes of a width do not count as a drag; pixels."""
_CASCADE_OFFSET = 28
_TITLE_BAR, _FRAME_EDGE = 36, 4
"""Room for the desktop's window frame, which is unknown before the window is shown; logical pixels."""
_DETAILS_SHARE_BELOW = 0.4
"""Share of the window's height for details below the messages."""
_BOTTOM_HEIGHT = 196
"""Head, hairline and six rows; pixels at 100 %."""


def fitting(size: QSize, screen: QSize) -> QSize:
    """Returns the window size that fits the screen, desktop frame included."""
    return size.boundedTo(QSize(screen.width() - 2 * _FRAME_EDGE, screen.height() - _TITLE_BAR - _FRAME_EDGE))


class _Sides(NamedTuple):
    """Widths of the side panes and minimum width of the messages; pixels at 100 %."""

    left: float
    right: float
    middle: float


class WindowLayout(QObject):
    """Places one window and its docks.

    Signals:
        room_changed(): the room for details beside the messages is lost or regained.
        reserved(int, int): widths at the left and right that other views give to side panes, in pixels.

    Side panes have the default widths for the window's width until the user drags them. This also holds for a window
    stored on one screen and shown on another.
    """

    room_changed = Signal()
    reserved = Signal(int, int)

    def __init__(
        self, window: QMainWindow, theme: ThemeController, docks: Mapping[str, QDockWidget], *, remembers: bool
    ) -> None:
        """Watches the window for drags of pane edges.

        Args:
            window: the window to place.
            theme: gives the zoom.
            docks: the docks by title; empty while there is no document.
            remembers: True to read layouts from disk and write them.
        """
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._docks = docks
        self._remembers = remembers
        self._zoom = theme.theme.zoom
        self._dragged: _Sides | None = None
        self._widths_at_press: tuple[int, int] | None = None  # widths at mouse press
        self._is_details_below = False  # True while details are below the messages for lack of room
        self._hidden_steps = 0  # number of entries of `_HIDE_ORDER` without room
        self._hidden_for_room: set[str] = set()  # titles of the panes hidden for lack of room
        self._freed: frozenset[Qt.DockWidgetArea] = frozenset()  # sides whose place the view takes
        self._hidden_for_view: set[str] = set()  # titles of the side panes hidden meanwhile
        self._shown_for_view: set[str] = set()  # titles of the side panes that only this view shows
        self._view = ""
        self._asked_for: set[tuple[str, str]] = set()  # views and titles of panes that the user has shown there
        self._settle_timer = QTimer(self)
        self._settle_timer.setSingleShot(True)
        self._settle_timer.setInterval(0)  # after the docks are laid out
        self._settle_timer.timeout.connect(self._fit_sides)

    def _layout_file(self) -> QSettings:
        return QSettings(str(config_folder() / "layout.ini"), QSettings.Format.IniFormat)

    def place_window(self, others: Iterable[QWidget]) -> None:
        """Gives a new window the last closed window's geometry, moved away from other windows."""
        window = self._window
        window.resize(SMALL, HEIGHT)
        if QGuiApplication.platformName() != "offscreen":  # the offscreen screen is smaller than the requested size
            window.resize(fitting(window.size(), window.screen().availableSize()))
        if not self._remembers:
            return
        geometry = self._layout_file().value("geometry")
        if isinstance(geometry, QByteArray):
            window.restoreGeometry(geometry)
        # compares exact positions: a window moved by hand does not count as covered
        taken = {other.pos().toTuple() for other in others}
        while window.pos().toTuple() in taken:
            window.move(window.pos() + QPoint(_CASCADE_OFFSET, _CASCADE_OFFSET))

    def default_docks(self) -> None:
        """Applies the widths and heights of docs/design.md 14 for the window's width."""
        docks = self._docks
        self._dragged = None
        self._is_details_below = False
        self._window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self._hidden_steps = 0
        self._hidden_for_room.clear()
        self._hide_panes_without_room()
        self._fit_sides()
        # As a ratio: Qt adjusts the heights to the room.
        self._window.resizeDocks([docks["Contexts"], docks["Participants"]], [620, 380], Qt.Orientation.Vertical)
        self._window.tabifyDockWidget(docks["Contexts"], docks["Facets"])
        bottom = [docks[one.title] for one, area in DOCKS if area is BOTTOM]
        for dock in bottom[1:]:
            self._window.tabifyDockWidget(bottom[0], dock)
        height = round(_BOTTOM_HEIGHT * self._theme.theme.zoom)
        self._window.resizeDocks(bottom, [height] * len(bottom), Qt.Orientation.Vertical)

    def free_sides(self, sides: Iterable[Qt.DockWidgetArea], view: str) -> None:
        """Hides the panes of sides whose place a view takes, and shows the panes of other sides again.

        Panes that the user shows meanwhile stay, and are shown whenever that view returns.
        """
        freed = frozenset(sides)
        if (freed, view) == (self._freed, self._view):
            return
        if view != self._view:
            self._remember_asked()
        self._freed, self._view = freed, view
        for title, dock in self._docks.items():
            if not self._stands_at_side(title):
                continue
            if self._is_freed(title):
                if (view, title) in self._asked_for:
                    if dock.isHidden() and title not in self._hidden_for_view:
                        self._shown_for_view.add(title)
                    dock.show()
                elif not dock.isHidden():
                    dock.hide()
                    self._hidden_for_view.add(title)
            elif title in self._hidden_for_view:
                self._hidden_for_view.discard(title)
                dock.show()
        self._hidden_steps = 0  # the window may have lost the room for them meanwhile
        self._hide_panes_without_room()
        self._fit_sides()
        self._settle_timer.start()

    def _remember_asked(self) -> None:
        """Remembers the panes that the user has shown although the view takes their place."""
        for title, dock in self._docks.items():
            if self._is_freed(title) and self._stands_at_side(title):
                asked = self._view, title
                if dock.isHidden():
                    self._asked_for.discard(asked)
                else:
                    self._asked_for.add(asked)
                    if title in self._shown_for_view:
                        dock.hide()  # as it was before this view
        self._shown_for_view.clear()

    def _reserved_widths(self) -> tuple[int, int]:
        """Returns the widths of the side panes that are hidden for the view, and would have room."""
        without_room = {title for titles in _HIDE_ORDER[: self._hidden_steps] for title in titles}
        hidden = {title for title in self._hidden_for_view - without_room if self._docks[title].isHidden()}
        widths = self._side_widths(self._window.width())
        separator = self._window.style().pixelMetric(
            QStyle.PixelMetric.PM_DockWidgetSeparatorExtent, None, self._window
        )
        areas = {self._window.dockWidgetArea(self._docks[title]) for title in hidden}
        sides = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        shown = {self._window.dockWidgetArea(dock) for dock in self._docks.values()
                 if not dock.isHidden() and not dock.isFloating()}  # fmt: skip
        left, right = (
            width + separator if side in areas and side not in shown else 0
            for side, width in zip(sides, widths, strict=True)
        )
        return left, right

    def _is_freed(self, title: str) -> bool:
        return self._window.dockWidgetArea(self._docks[title]) in self._freed

    def reset(self) -> None:
        """Puts every dock back to its side. Side docks are shown and bottom docks are hidden."""
        window = self._window
        for one, area in DOCKS:
            dock = self._docks[one.title]
            dock.setFloating(False)
            window.removeDockWidget(dock)
            window.addDockWidget(area, dock)
            dock.setVisible(not one.on_demand)
        self.default_docks()

    def restore_docks(self, saved: SavedWindow | None, show_view: Callable[[str], object]) -> None:
        """Restores this window's docks, or the docks of the last closed window.

        Only a reopened window gets its view and its bottom docks back. A newly opened log begins with its messages.

        Args:
            saved: the saved state of this window; None if unknown.
            show_view: shows a view of the middle column by its id.
        """
        if saved is not None and saved.docks:
            state = QByteArray.fromBase64(saved.docks.encode())
            self._take(state, dragged=saved.dragged, gave_way=saved.gave_way)
            show_view(saved.view)
            return
        if not self._remembers:
            return
        store = self._layout_file()
        state = store.value("state")
        if isinstance(state, QByteArray):
            gave_way = str(store.value("gave_way", ""))
            self._take(state, dragged=store.value("dragged", "true") == "true", gave_way=gave_way)
            for one, area in DOCKS:  # bottom docks were chosen for another log
                if area is BOTTOM:
                    self._docks[one.title].hide()

    def _take(self, state: QByteArray, *, dragged: bool, gave_way: str) -> None:
        self._window.restoreState(state, _LAYOUT_VERSION)
        self._is_details_below = False
        for title in gave_way.split(","):  # this window may have room
            if title in self._docks:
                if not self._stands_at_side(title):
                    self._window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self._docks[title])
                self._docks[title].show()
        self._hidden_steps = 0
        self._hidden_for_room.clear()
        self._dragged = None
        if dragged:
            self._save_dragged_widths()
        self._hide_panes_without_room()
        self._fit_sides()  # the stored widths may be defaults of another window width

    def docks_now(self) -> tuple[str, bool, str]:
        """Returns the docks (base64), True if the user dragged the sides, and the titles hidden for lack of room."""
        state = self._window.saveState(_LAYOUT_VERSION).toBase64().data()
        return bytes(state).decode(), self._dragged is not None, self._titles_without_room

    @property
    def _titles_without_room(self) -> str:
        hidden = {title for title in self._hidden_for_room | self._hidden_for_view if self._docks[title].isHidden()}
        return ",".join(sorted(hidden | ({"Details"} if self._is_details_below else set[str]())))

    def store(self) -> None:
        """Saves geometry and docks for the next window."""
        window = self._window
        if self._remembers and self._docks:
            store = self._layout_file()
            store.setValue("geometry", window.window().saveGeometry())
            store.setValue("state", window.saveState(_LAYOUT_VERSION))
            store.setValue("dragged", "false" if self._dragged is None else "true")
            store.setValue("gave_way", self._titles_without_room)
            store.sync()
            with contextlib.suppress(OSError):  # readable by the user alone, as everything in that folder
                Path(store.fileName()).chmod(0o600)

    def window_resized(self, before: int, now: int) -> None:
        """Fits the side panes to the new window width."""
        complete = {"Contexts", "Details"} <= self._docks.keys()  # the first docks may widen a narrow window
        if complete:
            self._hide_panes_without_room()
        if complete and before != now:
            self._set_sides(*self._side_widths(now))

    def _hide_panes_without_room(self) -> None:
        """Hides panes that leave the messages too little room, and shows them when there is room again.

        Keeps panes that the user shows or hides meanwhile. Details move below the messages on request.
        """
        room = self._window.width() / self._theme.theme.zoom - _MIN_MIDDLE
        narrow = (room < _MIN_LEFT + _MIN_RIGHT) + (room < _MIN_LEFT)
        before, self._hidden_steps = self._hidden_steps, narrow
        for titles in _HIDE_ORDER[before:narrow]:
            for title in titles:
                if self._stands_at_side(title) and not self._docks[title].isHidden():
                    self._docks[title].hide()
                    self._hidden_for_room.add(title)
        for titles in _HIDE_ORDER[narrow:before]:
            for title in self._hidden_for_room.intersection(titles):
                if self._is_freed(title):
                    self._hidden_for_view.add(title)
                else:
                    self._docks[title].show()
            self._hidden_for_room.difference_update(titles)
        if self._is_details_below and not narrow:
            self._put_details_back()
        if bool(before) != bool(narrow):
            self.room_changed.emit()

    @property
    def lacks_room_for_details(self) -> bool:
        """True if details have no room beside the messages."""
        return self._hidden_steps > 0 and (self._is_details_below or "Details" in self._hidden_for_room)

    def make_room_for_details(self) -> None:
        """Puts details without room below the messages until there is room."""
        dock = self._docks.get("Details")
        if dock is None or "Details" not in self._hidden_for_room or not dock.isHidden():
            return
        self._hidden_for_room.discard("Details")
        self._is_details_below = True
        bottom = [self._docks[one.title] for one, area in DOCKS if area is BOTTOM]
        self._window.addDockWidget(BOTTOM, dock)
        self._window.tabifyDockWidget(bottom[0], dock)
        dock.show()
        dock.raise_()
        height = round(max(_BOTTOM_HEIGHT * self._theme.theme.zoom, _DETAILS_SHARE_BELOW * self._window.height()))
        self._window.resizeDocks([dock], [height], Qt.Orientation.Vertical)

    def _put_details_back(self) -> None:
        dock = self._docks["Details"]
        hidden = dock.isHidden()
        self._is_details_below = False
        self._window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        dock.setVisible(not hidden)
        self._settle_timer.start()

    def _stands_at_side(self, title: str) -> bool:
        dock = self._docks[title]
        sides = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        return not dock.isFloating() and self._window.dockWidgetArea(dock) in sides

    def on_mouse(self, *, pressed: bool) -> None:
        """Detects drags of pane edges. Qt sends mouse events to the window itself only there."""
        if pressed and {"Contexts", "Details"} <= self._docks.keys():
            self._widths_at_press = self._sides()
        elif not pressed and self._widths_at_press is not None:
            # After Qt itself has handled the release and resized the docks.
            QTimer.singleShot(0, self, self._detect_drag)

    def _detect_drag(self) -> None:
        before, self._widths_at_press = self._widths_at_press, None
        now = self._sides()
        if before is not None and any(
            abs(width - was) > _DRAG_TOLERANCE for width, was in zip(now, before, strict=True)
        ):
            self._save_dragged_widths()

    def _save_dragged_widths(self) -> None:
        """Saves the dragged widths independently of the zoom."""
        zoom, defaults = self._theme.theme.zoom, _SIDES[self._window.width() >= WIDE]
        docks = [self._docks[title] for title in ("Contexts", "Details")]
        left, right = (
            default if dock.isHidden() or not self._stands_at_side(title) else dock.width() / zoom
            for title, dock, default in zip(("Contexts", "Details"), docks, defaults, strict=True)
        )
        shown = sum(width for width, dock in zip((left, right), docks, strict=True) if not dock.isHidden())
        self._dragged = _Sides(left, right, min(_MIN_MIDDLE, self._window.width() / zoom - shown))

    def zoom_docks(self) -> None:
        """Scales the side panes with the zoom as far as the messages keep their room."""
        zoom, before = self._theme.theme.zoom, self._zoom
        self._zoom = zoom
        if zoom == before or not self._docks:
            return
        self._hide_panes_without_room()
        self._fit_sides()
        self._settle_timer.start()  # panes zoomed after this one get new minimum widths

    def _fit_sides(self) -> None:
        if {"Contexts", "Details"} <= self._docks.keys():
            self._set_sides(*self._side_widths(self._window.width()))

    def report_reserved(self) -> None:
        """Emits `reserved`."""
        if {"Contexts", "Details"} <= self._docks.keys():
            self.reserved.emit(*self._reserved_widths())

    def _side_widths(self, width: int) -> tuple[int, int]:
        """Returns the widths of the left panes and the details for a window width, in pixels."""
        zoom, docks = self._theme.theme.zoom, self._docks
        sides = self._dragged or _Sides(*_SIDES[width >= WIDE], _MIN_MIDDLE)
        room = max(1.0, width - sides.middle * zoom)
        wanted = sides.left + (
            sides.right if self._stands_at_side("Details") and not docks["Details"].isHidden() else 0
        )
        share = min(zoom, room / wanted)
        least = min(sides.left, _MIN_LEFT) * zoom
        return max(round(sides.left * share), round(least)), round(sides.right * share)

    def _sides(self) -> tuple[int, int]:
        docks = self._docks
        return docks["Contexts"].width(), docks["Details"].width()

    def _set_sides(self, left: int, right: int) -> None:
        wanted = {"Contexts": left, "Details": right}
        shown = {
            self._docks[title]: width for title, width in wanted.items()
            if not self._docks[title].isHidden() and self._stands_at_side(title) and width > 0
        }  # fmt: skip
        self._window.resizeDocks(list(shown), list(shown.values()), Qt.Orientation.Horizontal)
        self.report_reserved()
