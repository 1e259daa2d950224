"""Top-level window that holds document windows as tabs, and two of them side by side.

A document window is a `QMainWindow`, so its menus, bars and docks come along as a page.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QContextMenuEvent,
    QDragEnterEvent,
    QDropEvent,
    QIcon,
    QMouseEvent,
    QPainter,
    QPixmap,
)
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QSplitter, QStackedWidget, QTabBar, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.present.wire_text import safe_line, tool_tip
from inspector.ui.widgets.buttons import IconButton

if TYPE_CHECKING:
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.window.main_window import MainWindow
    from inspector.ui.window.shared_clock import SharedClock

_TITLE_END = " — Context Inspector"
_MAX_TITLE = 40
_LEAST_TAB = 150
"""Width to which tabs shrink, in pixels at 100 %."""
_DRAG_OUT = 40
"""Distance from the tab bar from which a dropped tab becomes a window, in pixels at 100 %."""
_DOT = 7.5
"""Diameter of the dot of a live document, in pixels at 100 %."""
_MENU = ("window.move_out", "window.compare", "file.compare", "file.close")
"""Actions in the context menu of a tab."""


def document_title(window: MainWindow) -> str:
    """Returns the title of a document for its tab: the name without the program's, or "Start"."""
    title = window.windowTitle().replace("[*]", "")
    return title.removesuffix(_TITLE_END) if title.endswith(_TITLE_END) else "Start"


def _tab_text(window: MainWindow) -> str:
    title = safe_line(document_title(window), _MAX_TITLE).replace("&", "&&")
    return f"{title}*" if window.isWindowModified() else title


def _path_words(window: MainWindow) -> str:
    path, live = _path(window), "Live" if _is_live(window) else ""
    return tool_tip("\n".join(filter(None, (document_title(window), path, live))))


def _path(window: MainWindow) -> str:
    client = window.shown.client
    if client is None:
        return ""
    path = client.state.path or window.shown.location.opened
    return "" if path == Path() else str(path)


def _is_live(window: MainWindow) -> bool:
    # Not by `shown.state`, which imports the engine for a start page.
    client = window.shown.client
    return client is not None and client.state.is_live


class DocumentTabBar(QTabBar):
    """One tab for each document.

    Signals:
        close_requested(int): a tab was clicked with the middle button.
        dropped(int, QPoint): a tab was dropped away from the bar, at a screen position.
        menu_requested(int, QPoint): open the context menu of a tab, at a screen position.
    """

    close_requested = Signal(int)
    dropped = Signal(int, QPoint)
    menu_requested = Signal(int, QPoint)

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self._is_tab_held = False
        self.setObjectName("documentTabs")
        self.setAccessibleName("Documents")
        # The keys of the Window menu switch tabs, so that Tab stays within a document.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMovable(True)
        self.setExpanding(False)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.setDrawBase(False)

    @override
    def minimumTabSizeHint(self, index: int) -> QSize:
        """Keeps titles readable; more tabs than fit are scrolled."""
        hint = self.tabSizeHint(index)
        return QSize(min(hint.width(), round(_LEAST_TAB * self._themes.theme.zoom)), hint.height())

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._is_tab_held = event.button() is Qt.MouseButton.LeftButton and self.tabAt(event.position().toPoint()) >= 0
        super().mousePressEvent(event)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index, position = self.currentIndex(), event.globalPosition().toPoint()
        super().mouseReleaseEvent(event)
        if event.button() is Qt.MouseButton.MiddleButton:
            index = self.tabAt(event.position().toPoint())
            if index >= 0:
                self.close_requested.emit(index)
            return
        edge = round(_DRAG_OUT * self._themes.theme.zoom)
        around = self.rect().adjusted(-edge, -edge, edge, edge)
        left = event.button() is Qt.MouseButton.LeftButton and self._is_tab_held
        if left and index >= 0 and not around.contains(event.position().toPoint()):
            self.dropped.emit(index, position)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = self.tabAt(event.pos())
        if index >= 0:
            self.menu_requested.emit(index, event.globalPos())


class TabbedWindow(QMainWindow):
    """Window with tabs; a single document has no tab bar. Screen readers find main windows as frames.

    Signals:
        close_requested(): the user closes the window.
        dropped(object, QPoint): a document's tab was dropped away from the tab bar, at a screen position.
        tabs_changed(): documents came, went, or another one is in front.

    Attributes:
        bar: the tab bar; its tabs are in the order of `documents`.
        beside: the document on the right while two are compared, or None.
        clock: links the selections of the two, or None.
    """

    close_requested = Signal()
    dropped = Signal(object, QPoint)
    tabs_changed = Signal()

    def __init__(self, theme_controller: ThemeController) -> None:
        self._painted = False
        self.documents: list[MainWindow] = []
        super().__init__()
        self._themes = theme_controller
        self.setObjectName("tabbedWindow")
        self.setAccessibleName("Context Inspector")
        self.setAcceptDrops(True)
        self.beside: MainWindow | None = None
        self.clock: SharedClock | None = None
        self.bar = DocumentTabBar(theme_controller, self)
        self._stack = QStackedWidget(self)
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self._stack)
        holder = QWidget(self)
        self.setCentralWidget(holder)
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(self._split, 1)
        self.bar.hide()
        self.bar.currentChanged.connect(self._on_tab_chosen)
        self.bar.tabMoved.connect(self._on_tab_moved)
        self.bar.close_requested.connect(lambda index: self.documents[index].close())
        # After Qt has ended the drag, since the drop may remove the tab.
        self.bar.dropped.connect(lambda index, at: QTimer.singleShot(0, self, lambda: self._on_dropped(index, at)))
        self.bar.menu_requested.connect(self._show_menu)
        theme_controller.changed.connect(self._on_theme_changed)

    # Documents

    @property
    def current(self) -> MainWindow:
        """The document whose tab is in front; of two side by side the one with the focus."""
        focus = QApplication.focusWidget()
        if self.beside is not None and focus is not None:
            return self.beside if self.beside.isAncestorOf(focus) else self.left
        return self.documents[max(0, self.bar.currentIndex())]

    @property
    def left(self) -> MainWindow:
        """The document that is shown, on the left of two."""
        shown = self._stack.currentWidget()
        return next(one for one in self.documents if one is shown)

    def add(self, window: MainWindow, *, shown: bool = True) -> None:
        """Takes a document window as a tab.

        Args:
            window: the document; it may have been a window of its own.
            shown: brings its tab to the front.
        """
        first = not self.documents
        self.documents.append(window)
        self._stack.addWidget(window)
        for changed in (window.windowTitleChanged, window.modified_changed, window.requests.actions_changed):
            changed.connect(self._show_tabs)
        index = self.bar.addTab(_tab_text(window))
        close = IconButton(
            self._themes, "clear", "Close tab", name="closeTab", variant="status", size=14, parent=self.bar
        )
        close.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        close.clicked.connect(window.close)
        self.bar.setTabButton(index, QTabBar.ButtonPosition.RightSide, close)
        if shown or first:
            self.bring_up(window)
        self._count_changed()

    def remove(self, window: MainWindow) -> None:
        """Releases a document window, which is hidden then. The neighbour's tab comes to the front."""
        if self.beside is not None and window in (self.beside, self.left):
            self.end_comparison()
        index = self.documents.index(window)
        for changed in (window.windowTitleChanged, window.modified_changed, window.requests.actions_changed):
            changed.disconnect(self._show_tabs)
        self.documents.remove(window)
        self.bar.blockSignals(True)
        self.bar.removeTab(index)
        self.bar.blockSignals(False)
        self._stack.removeWidget(window)
        window.hide()
        window.setParent(None)
        if self.documents:
            self._on_tab_chosen(self.bar.currentIndex())
        self._count_changed()

    def bring_up(self, window: MainWindow) -> None:
        """Shows a document's tab in front."""
        index = self.documents.index(window)
        if self.bar.currentIndex() != index:
            self.bar.setCurrentIndex(index)
        else:
            self._on_tab_chosen(index)

    def step(self, by: int) -> None:
        """Shows the next or previous tab, around the ends."""
        self.bar.setCurrentIndex((self.bar.currentIndex() + by) % self.bar.count())

    def _on_tab_chosen(self, index: int) -> None:
        if not 0 <= index < len(self.documents):
            return
        window = self.documents[index]
        if window is not self.beside and window is not self._stack.currentWidget():
            self._stack.setCurrentWidget(window)
            self._pair_anew(window)
        for one in self.documents:
            in_front = one is window
            # Menu bars of the system show the one that is native last.
            if one.menuBar().isNativeMenuBar() != in_front:
                one.menuBar().setNativeMenuBar(in_front)
            self._show_floating(one, shown=one.isVisibleTo(self))
        window.focus_center()
        self._show_title()
        if self._painted:
            window.after_first_paint()
        self.tabs_changed.emit()

    def _show_floating(self, window: MainWindow, *, shown: bool) -> None:
        """Hides floating panes of documents in the background, and shows them again."""
        for dock in window.docks.values():
            if dock.isFloating() and shown is not dock.isVisible() and (not shown or dock.property("inBackground")):
                dock.setProperty("inBackground", not shown)
                dock.setVisible(shown)

    def _on_tab_moved(self, before: int, now: int) -> None:
        self.documents.insert(now, self.documents.pop(before))

    def _on_dropped(self, index: int, position: QPoint) -> None:
        if 0 <= index < len(self.documents):
            self.dropped.emit(self.documents[index], position)

    def _show_menu(self, index: int, position: QPoint) -> None:
        self.bar.setCurrentIndex(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.documents[index].actions_by_id[name] for name in _MENU])
        menu.popup(position)

    # Comparison

    def compare(self, window: MainWindow) -> None:
        """Shows a document on the right, beside the one in front."""
        from inspector.ui.window.shared_clock import SharedClock  # with the engine's requests: not for a start page

        self.end_comparison()
        if window is self.left:
            self.step(1)
        left = self.left
        self.beside = window
        self._stack.removeWidget(window)
        self._split.addWidget(window)
        self._split.setSizes([1_000, 1_000])
        window.show()
        for one in (left, window):
            one.keys.confine(True)
        self.clock = SharedClock(left, window, self)
        self.bring_up(left)
        self.show_switches()

    def _pair_anew(self, left: MainWindow) -> None:
        """Links the clock of the document on the right with another one on the left."""
        if self.clock is None or self.beside is None:
            return
        from inspector.ui.window.shared_clock import SharedClock

        is_off = self.clock.mode == "none"
        self.clock.stop()
        self.clock = SharedClock(left, self.beside, self)
        if is_off:
            self.clock.mode = "none"
        left.keys.confine(True)

    def end_comparison(self) -> None:
        """Shows one document again."""
        window, self.beside = self.beside, None
        if window is None:
            return
        if self.clock is not None:
            self.clock.stop()
            self.clock = None
        self._stack.addWidget(window)
        for one in self.documents:
            one.keys.confine(False)
        self._on_tab_chosen(self.bar.currentIndex())
        self.show_switches()

    def show_switches(self) -> None:
        """Updates the actions of all documents."""
        for one in self.documents:
            one.action_state.enable()
            one.can_do.show_switches()

    # Tabs

    def _count_changed(self) -> None:
        several = len(self.documents) > 1
        self.bar.setVisible(several)
        for one in self.documents:
            one.actions_by_id["file.close"].setText("Close &tab" if several else "Close &window")
            one.action_state.enable()
        self._show_tabs()
        self.tabs_changed.emit()

    def _show_tabs(self, *_changed: object) -> None:
        """Shows titles, paths and dots in the tabs."""
        for index, one in enumerate(self.documents):
            if self.bar.tabText(index) != _tab_text(one):
                self.bar.setTabText(index, _tab_text(one))
            self.bar.setTabToolTip(index, _path_words(one))
            is_live = _is_live(one)
            states = (("live", is_live), ("unsaved", one.isWindowModified()))
            words = ", ".join([document_title(one), *(word for word, holds in states if holds)])
            self.bar.setAccessibleTabName(index, words)
            if self.bar.tabIcon(index).isNull() is is_live:
                self.bar.setTabIcon(index, self._dot() if is_live else QIcon())
        if self.documents:
            self._show_title()

    def _on_theme_changed(self) -> None:
        for index in range(self.bar.count()):
            self.bar.setTabIcon(index, QIcon())  # dots have another colour and size
        self._show_tabs()

    def _dot(self) -> QIcon:
        theme, ratio = self._themes.theme, self.devicePixelRatioF()
        side = theme.metrics.icon_gutter
        dot = QPixmap(round(side * ratio), round(side * ratio))
        dot.setDevicePixelRatio(ratio)
        dot.fill(Qt.GlobalColor.transparent)
        painter = QPainter(dot)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("state.active"))
        painter.drawEllipse(QPointF(side / 2, side / 2), _DOT / 2 * theme.zoom, _DOT / 2 * theme.zoom)
        painter.end()
        return QIcon(dot)

    def _show_title(self) -> None:
        self.setWindowTitle(self.current.windowTitle())
        self.setWindowModified(self.current.isWindowModified())

    # Qt events

    @override
    def event(self, event: QEvent) -> bool:
        # Qt paints pages together with their window.
        if not self._painted and event.type() is QEvent.Type.UpdateRequest and self.documents:
            self._painted = True
            self.current.after_first_paint()
        return super().event(event)

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self.current.dragEnterEvent(event)

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        self.current.dropEvent(event)

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        """Defers to the owner, which asks about unsaved captures first."""
        if self.documents:
            event.ignore()
            self.close_requested.emit()
