"""What the program's dialogs have in common: a name for programs and for screen readers, a size, and an end."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController

_TITLE_BAR = 36
"""Room for the desktop's frame; logical pixels."""


class Dialog(QDialog):
    """Deletes itself when it is done."""

    def __init__(self, theme_controller: ThemeController, *, name: str, title: str, parent: QWidget | None) -> None:
        """Make an empty dialog; show it with `open()`.

        Args:
            theme_controller: gives the look.
            name: object name.
            title: of the window; its accessible name too.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setAccessibleName(title)

    def most_size(self) -> QSize:
        """What the screen has room for."""
        screen = self.screen().availableSize()
        return QSize(screen.width(), screen.height() - _TITLE_BAR)

    def take_size(self, width: int, height: int) -> None:
        """Take a size at 100 % zoom, as far as the screen has room for it at the zoom there is."""
        zoom = self._themes.theme.zoom
        self.resize(QSize(round(width * zoom), round(height * zoom)).boundedTo(self.most_size()))

    @override
    def done(self, result: int) -> None:
        super().done(result)
        self.deleteLater()
