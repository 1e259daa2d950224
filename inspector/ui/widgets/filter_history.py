"""Menu of earlier filters, latest first."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

HISTORY_CAP = 30
"""Longest history."""
_SHOWN = 80
_FORGET = "filterHistoryForget"


class FilterHistory(QMenu):
    """The menu of earlier filters.

    Signals:
        chosen(str): apply a filter again.
        cleared: the history was cleared.

    Attributes:
        texts: the filters, latest first.
    """

    chosen = Signal(str)
    cleared = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.texts: list[str] = []
        self.setObjectName("filterHistoryMenu")
        self.setAccessibleName("Earlier filters")
        self.triggered.connect(self._on_triggered)

    def set_texts(self, texts: Sequence[str]) -> None:
        self.texts = [text for text in texts if text][:HISTORY_CAP]

    def remember(self, text: str) -> None:
        """Adds an applied filter as the latest."""
        if text:
            self.set_texts([text, *(known for known in self.texts if known != text)])

    def replace(self, before: str, after: str) -> None:
        """Replaces a filter by its extended form."""
        self.texts = [after if known == before else known for known in self.texts]

    def open_below(self, widget: QWidget) -> None:
        """Opens the menu unless it is empty."""
        if not self.texts:
            return
        self.clear()
        for text in self.texts:
            shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
            self.addAction(shown.replace("&", "&&")).setData(text)
        self.addSeparator()
        self.addAction("Forget earlier filters").setObjectName(_FORGET)
        self.popup(widget.mapToGlobal(QPoint(0, widget.height() + 2)))
        self.setActiveAction(self.actions()[0])

    def _on_triggered(self, action: QAction) -> None:
        if action.objectName() == _FORGET:
            self.texts = []
            self.cleared.emit()
        else:
            self.chosen.emit(str(action.data()))
