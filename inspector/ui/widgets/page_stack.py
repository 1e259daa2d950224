"""Pages of which one is shown, and only that one takes room."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QStackedWidget, QWidget
from typing_extensions import override


class PageStack(QStackedWidget):
    """What pages need that are not shown does not keep the window from becoming smaller."""

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
        """Pages fill the room there is."""
        return False
