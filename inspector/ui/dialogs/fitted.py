"""A dialog of one width that is always as high as what it holds: lines of help and trouble come and go."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QDialog, QWidget
from typing_extensions import override

from inspector.ui.theme import ThemeController

_LEAST = 96
"""Height of what gives way on a small screen, in pixels."""


class FittedDialog(QDialog):
    """Follows its layout's height; deletes itself when it is done."""

    def __init__(
        self, theme_controller: ThemeController, *, name: str, title: str, width: int, parent: QWidget | None
    ) -> None:
        """Make an empty dialog.

        Args:
            theme_controller: gives the zoom.
            name: object name.
            title: of the window; its accessible name too.
            width: in logical pixels at 100 % zoom.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self._plain_width = width
        self.gives_way: QWidget | None = None
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setAccessibleName(title)

    def fit(self) -> None:
        """Take the width of the zoom and the height of the content."""
        width = round(self._plain_width * self._themes.theme.zoom)
        layout = self.layout()
        if layout is None:
            return
        height = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
        beyond = height - self.screen().availableSize().height()
        if beyond > 0 and self.gives_way is not None:
            was = self.gives_way.height()
            self.gives_way.setFixedHeight(max(_LEAST, was - beyond))
            height -= was - self.gives_way.height()
        self.setFixedSize(width, height)

    @override
    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            self.fit()
        return done

    @override
    def done(self, result: int) -> None:
        super().done(result)
        self.deleteLater()
