"""The item model of the list: rows of `EntryRows`, texts made for those that are asked for."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.document import CaptureDocument
from inspector.ui.panels.list_view import ListModel
from inspector.ui.panels.model_sees.lines import EntryLine, entry_line
from inspector.ui.panels.model_sees.sight import EntryRows, Sight
from inspector.ui.roles import Role
from inspector.ui.wire_text import tool_tip

_AnyIndex = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_KEPT = 2_000


class EntriesModel(ListModel):
    """One row per entry.

    Attributes:
        rows: what stands where, as of the last `take`.
    """

    def __init__(self, document: CaptureDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._lines: dict[int, EntryLine] = {}
        self.rows = EntryRows()

    @property
    @override
    def listed(self) -> EntryRows:
        return self.rows

    def take(self, sight: Sight) -> None:
        """List what is looked at now. O(1): the arrays are the sight's."""
        self.about_to_change.emit()
        self.beginResetModel()
        self._lines.clear()
        self.rows = sight.rows
        self.endResetModel()
        self.rows_settled.emit()

    def line(self, row: int) -> EntryLine:
        """A row in words."""
        found = self._lines.get(row)
        if found is None:
            if len(self._lines) >= _KEPT:
                self._lines.clear()
            found = self._lines[row] = entry_line(self._document, self.rows, row)
        return found

    # Qt

    @override
    def rowCount(self, parent: _AnyIndex = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    @override
    def columnCount(self, parent: _AnyIndex = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    @override
    def data(self, index: _AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = index.row()
        if role == Qt.ItemDataRole.DisplayRole:
            return self.line(row).text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.line(row).spoken
        if role == Qt.ItemDataRole.ToolTipRole:
            return tool_tip(self.line(row).tip)
        if role == Role.MESSAGE:
            return int(self.rows.messages[row])
        return self.line(row).entry.collapsed if role == Role.COLLAPSED else None
