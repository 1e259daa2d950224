"""Menu of the filters applied earlier, latest first."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

HISTORY_CAP = 30
"""How many applied filters are remembered."""
_SHOWN = 80
_FORGET = "filterHistoryForget"


class FilterHistory(QMenu):
    """The menu of earlier filters.

    Signals:
        chosen(str): a filter shall be applied again.
        cleared: they were forgotten.

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
        """Set the earlier filters, latest first."""
        self.texts = [text for text in texts if text][:HISTORY_CAP]

    def remember(self, text: str) -> None:
        """A filter was applied: it is the latest."""
        if text:
            self.set_texts([text, *(known for known in self.texts if known != text)])

    def replace(self, before: str, after: str) -> None:
        """A filter went on as another one."""
        self.texts = [after if known == before else known for known in self.texts]

    def open_below(self, widget: QWidget) -> None:
        """Show them, if there are any."""
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
