"""Places documents in tabs and windows: new ones, moved ones, and the ones of the last start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QApplication, QWidget

from inspector.ui.services import Services
from inspector.ui.window.tabbed_window import TabbedWindow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from inspector.settings import Settings
    from inspector.settings.window_state import SavedWindow
    from inspector.ui.window.main_window import MainWindow
    from inspector.ui.window.shared_clock import ClockMode, SharedClock


def opens_tabs(settings: Settings) -> bool:
    """Returns True if new documents open as tabs."""
    return settings.start.open_in == "tabs"


class TabOwner(Services, Protocol):
    """The program with its documents."""

    windows: list[MainWindow]

    async def close_windows(self, windows: Iterable[MainWindow]) -> None:
        """Closes documents, unless the user cancels a question about an unsaved capture."""
        ...


class TabbedWindows(QObject):
    """The tabbed windows of the program.

    Attributes:
        windows: in the order of opening.
    """

    def __init__(self, owner: TabOwner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._owner = owner
        self.windows: list[TabbedWindow] = []
        self._restored: dict[int, TabbedWindow] = {}

    # Lookup

    def window_of(self, document: MainWindow) -> TabbedWindow | None:
        """Returns the tabbed window of a document; None for a document that is its own window."""
        return next((one for one in self.windows if document in one.documents), None)

    def needs_of(self, document: MainWindow) -> set[str]:
        """Returns the `needs` of actions that the tabs of a document's window fulfil."""
        tabbed = self.window_of(document)
        if tabbed is None:
            return set()
        several, compared = len(tabbed.documents) > 1, self.clock(document) is not None
        return {need for need, is_met in (("tabs", several), ("beside", compared)) if is_met}

    def front_document(self, window: QWidget | None) -> MainWindow | None:
        """Returns the document in front of a tabbed window; None for other windows."""
        return window.current if isinstance(window, TabbedWindow) and window.documents else None

    def bring_up(self, document: MainWindow) -> None:
        """Shows a document and raises its window; if the desktop forbids it, the window asks for attention."""
        tabbed = self.window_of(document)
        if tabbed is not None:
            tabbed.bring_up(document)
        shown = document.window()
        shown.setWindowState(shown.windowState() & ~Qt.WindowState.WindowMinimized)
        shown.show()
        shown.raise_()
        shown.activateWindow()
        QApplication.alert(shown)

    # Placing

    def place(self, document: MainWindow, beside: MainWindow | None, saved: SavedWindow | None, *, alone: bool) -> None:
        """Shows a new document in a tab or a window, as the settings say.

        Args:
            document: a document that is not shown yet.
            beside: the document whose window gets the tab; None for a new window.
            saved: its state in an earlier run, with its window.
            alone: shows it in a window of its own.
        """
        if not opens_tabs(self._owner.settings):
            document.show()
            return
        group = 0 if saved is None else saved.window
        into = self._restored.get(group) if group else None
        if into is None and not alone and not group:
            into = self.window_of(beside) if beside is not None else None
        if into is None or into not in self.windows:
            into = self._make_window(document)
            if group:
                self._restored[group] = into
        into.add(document, shown=saved is None or saved.in_front or not into.documents)
        into.show()

    def _make_window(self, document: MainWindow) -> TabbedWindow:
        """Returns an empty tabbed window at the place of a document's own window."""
        made = TabbedWindow(self._owner.theme)
        made.restoreGeometry(document.saveGeometry())
        if not document.isMaximized():
            made.resize(document.size())
        made.close_requested.connect(lambda: self._close(made))
        made.dropped.connect(self._on_dropped)
        self.windows.append(made)
        return made

    def removed(self, document: MainWindow) -> None:
        """Takes a closed document out of its window, and closes an empty window."""
        tabbed = self.window_of(document)
        if tabbed is not None:
            self._take_out(tabbed, document)

    def _take_out(self, tabbed: TabbedWindow, document: MainWindow) -> None:
        tabbed.remove(document)
        if not tabbed.documents:
            self.windows.remove(tabbed)
            tabbed.close()
            tabbed.deleteLater()

    # Moving

    def move_out(self, document: MainWindow, position: QPoint | None = None) -> None:
        """Moves a tab to a new window.

        Args:
            document: one of several in its window.
            position: screen position of the new window; by default near the old one.
        """
        tabbed = self.window_of(document)
        if tabbed is None or len(tabbed.documents) < 2:
            return
        size, near = tabbed.size(), tabbed.pos() + QPoint(28, 28)
        self._take_out(tabbed, document)
        made = self._make_window(document)
        made.resize(size)
        made.move(near if position is None else position)
        made.add(document)
        made.show()

    def move_into(self, document: MainWindow, tabbed: TabbedWindow) -> None:
        """Moves a document to a tab of another window."""
        before = self.window_of(document)
        if before is tabbed:
            return
        if before is not None:
            self._take_out(before, document)
        tabbed.add(document)
        tabbed.show()

    def gather(self, document: MainWindow) -> None:
        """Moves the documents of all windows to tabs of this document's window."""
        tabbed = self.window_of(document)
        if tabbed is None:
            tabbed = self._make_window(document)
            tabbed.add(document)
            tabbed.show()
        for other in list(self._owner.windows):
            self.move_into(other, tabbed)
        tabbed.bring_up(document)

    # Comparison

    def compare(self, document: MainWindow, other: MainWindow) -> None:
        """Shows two documents side by side, with one clock."""
        tabbed = self.window_of(document)
        if tabbed is None:
            tabbed = self._make_window(document)
            tabbed.add(document)
            tabbed.show()
        self.move_into(other, tabbed)
        tabbed.bring_up(document)
        tabbed.compare(other)

    def end_comparison(self, document: MainWindow) -> None:
        tabbed = self.window_of(document)
        if tabbed is not None:
            tabbed.end_comparison()

    def clock(self, document: MainWindow) -> SharedClock | None:
        """Returns the clock that a document shares with one beside it, or None."""
        tabbed = self.window_of(document)
        return tabbed.clock if tabbed is not None and document in (tabbed.left, tabbed.beside) else None

    def set_clock(self, document: MainWindow, mode: ClockMode) -> None:
        """Chooses the common clock, or ends it if it has this mode already."""
        tabbed, clock = self.window_of(document), self.clock(document)
        if tabbed is not None and clock is not None:
            clock.mode = "none" if clock.mode == mode else mode
            tabbed.show_switches()

    def step(self, document: MainWindow, by: int) -> None:
        """Shows the next or previous tab of a document's window."""
        tabbed = self.window_of(document)
        if tabbed is not None:
            tabbed.step(by)

    def _on_dropped(self, document: MainWindow, position: QPoint) -> None:
        """Moves a dropped tab into the window whose tabs or title are there, or to a new window."""
        for one in self.windows:
            head = one.rect().adjusted(0, 0, 0, -one.height() + 3 * one.bar.sizeHint().height())
            if one is not self.window_of(document) and head.contains(one.mapFromGlobal(position)):
                self.move_into(document, one)
                return
        self.move_out(document, position)

    # State

    def note(self, document: MainWindow, saved: SavedWindow) -> None:
        """Adds a document's window and place to its saved state."""
        tabbed = self.window_of(document)
        if tabbed is not None:
            saved.window = self.windows.index(tabbed) + 1
            saved.in_front = tabbed.current is document

    def _close(self, tabbed: TabbedWindow) -> None:
        if len(tabbed.documents) == 1:
            tabbed.current.close()
        else:
            self._owner.spawn(self._owner.close_windows(list(tabbed.documents)), "close the tabs")
