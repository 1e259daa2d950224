"""Item model of the facets: a head per field, its values, and a row that shows further values."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.filters.facets import FacetValue
from inspector.present import formats
from inspector.present.wire_text import safe_line, tool_tip

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


@dataclass(frozen=True, slots=True)
class FacetRow:
    """A row.

    Attributes:
        field: the facet.
        title: name of the facet in a head; number of further values in a row below them.
        value: of a value's row.
        label: the table's word for a value; "" for the value itself.
        is_more: True for the row that shows further values.
    """

    field: str
    title: str = ""
    value: FacetValue | None = None
    is_more: bool = False
    label: str = ""

    @property
    def is_head(self) -> bool:
        """True for the head of a facet."""
        return self.value is None and not self.is_more

    @property
    def words(self) -> str:
        """The text, with control characters made visible."""
        return self.label or safe_line(self.value.value, 200) if self.value is not None else self.title


class FacetsModel(QAbstractTableModel):
    """Rows of the facets."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[FacetRow] = []

    def show_rows(self, rows: list[FacetRow]) -> None:
        """Shows other rows; the current row keeps its index."""
        if rows == self.rows:
            return
        if len(rows) == len(self.rows):
            self.rows = rows
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, 0))
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def row_of(self, row: FacetRow) -> int:
        """Returns the row of a head or a value, whatever its count, or -1."""
        keys = ((one.field, one.is_more, one.value and one.value.value) for one in self.rows)
        wanted = (row.field, row.is_more, row.value and row.value.value)
        return next((place for place, key in enumerate(keys) if key == wanted), -1)

    @override
    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    @override
    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        if index.isValid() and self.rows[index.row()].is_head:
            return Qt.ItemFlag.ItemIsEnabled
        return super().flags(index)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.words
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _accessible_text(row)
        if role == Qt.ItemDataRole.ToolTipRole and row.value is not None:
            return tool_tip(f"{row.value.value}\nClick to filter by it, Alt+click to hide it")
        if role == Qt.ItemDataRole.CheckStateRole and row.value is not None:
            return Qt.CheckState.Checked if row.value.chosen else Qt.CheckState.Unchecked
        return None


def _accessible_text(row: FacetRow) -> str:
    if row.value is None:
        return row.title
    state = ", chosen" if row.value.chosen else ", hidden" if row.value.excluded else ""
    return f"{row.words}, {formats.count_of(row.value.count, 'message')}{state}"
