"""The frame around a list or table in a dialog."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget


class ListFrame(QFrame):
    """A card in the colour of lists; rows keep off its round corners.

    Attributes:
        lines: its layout.
    """

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("variant", "list")
        self.lines = QVBoxLayout(self)
        self.lines.setContentsMargins(1, 4, 1, 4)
