"""The menu Window: lists all documents."""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from inspector.ui.window.tabbed_window import document_title

if TYPE_CHECKING:
    from inspector.ui.window.main_window import MainWindow


class WindowMenu(QObject):
    """Lists the documents of the program below the other entries of a menu."""

    def __init__(self, window: MainWindow, menu: QMenu) -> None:
        super().__init__(window)
        self._frame, self._menu = window, menu
        self._entries: list[QAction] = []
        menu.aboutToShow.connect(self.refresh)

    def refresh(self) -> None:
        """Lists the open documents; the own one is checked."""
        for entry in self._entries:
            self._menu.removeAction(entry)
            entry.deleteLater()
        self._entries = [self._menu.addSeparator()]
        for document in self._frame.application.windows:
            entry = QAction(document_title(document).replace("&", "&&"), self._menu)
            entry.setCheckable(True)
            entry.setChecked(document is self._frame)
            # Weak, since the entries stay until the menu opens again.
            entry.triggered.connect(partial(self._bring_up, weakref.ref(document)))
            self._menu.addAction(entry)
            self._entries.append(entry)

    def _bring_up(self, listed: weakref.ref[MainWindow], *_checked: object) -> None:
        document = listed()
        if document in self._frame.application.windows:
            self._frame.application.tabs.bring_up(document)
