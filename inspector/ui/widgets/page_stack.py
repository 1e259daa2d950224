"""Stack of pages with the size limits of the visible page only."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QStackedWidget, QWidget
from typing_extensions import override


class PageStack(QStackedWidget):
    """Hidden pages do not limit how small the window can become."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.currentChanged.connect(self._on_turned)

    def _on_turned(self) -> None:
        self.updateGeometry()

    @override
    def minimumSizeHint(self) -> QSize:
        page = self.currentWidget()
        return QSize() if page is None else page.minimumSizeHint().expandedTo(page.minimumSize())

    @override
    def hasHeightForWidth(self) -> bool:
        """Pages fill the available room."""
        return False
