"""Base item model of tables. Each table's own model supplies the texts, cells and sort keys of its rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.present.rows import Cell, Text

Index = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")
_NOWHERE = QModelIndex()
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class TableModel(QAbstractTableModel, Generic[Row]):
    """Rows of a table.

    Attributes:
        columns: left to right, an enum; a sequence if they are known at run time, then `column` is overridden.
        titles: column heads.
        first_figure: first right-aligned column; the columns before it are left-aligned.
        has_names: the first column is a name; its text goes to screen readers without a heading.
        sorted_by: the sort column; None in a table that cannot be sorted.
        descending: True if the largest value comes first.
        rows: the rows in display order.
    """

    columns: Any
    titles: ClassVar[tuple[str, ...]]
    first_figure: ClassVar[int] = 1
    has_names: ClassVar[bool] = True

    def __init__(self, sorted_by: Any = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []
        self.sorted_by = sorted_by
        self.descending = True

    # Supplied by each table's own model

    def key_of(self, one: Row) -> int:
        """Returns the identity of a row, which stays the same when its figures change."""
        return id(one)

    def in_order(self, rows: list[Row], column: Any, *, descending: bool) -> list[Row]:
        return rows

    def text(self, one: Row, column: Any) -> str:
        """Returns the text of a cell."""
        raise NotImplementedError

    def cell(self, one: Row, column: Any) -> Cell:
        """Returns the content of a cell as shown."""
        return (Text(self.text(one, column), "figure" if self.is_figure(column) else "body"),)

    def tip(self, one: Row) -> str:
        """Returns the tooltip of a row's name as rich text."""
        return ""

    def cell_tip(self, one: Row, column: Any) -> str:
        """Returns the tooltip of a cell as rich text, by default of the name alone."""
        return "" if column else self.tip(one)

    def is_figure(self, column: int) -> bool:
        return column >= self.first_figure

    def heading(self, column: int) -> str:
        return self.titles[column]

    def heading_tip(self, column: int) -> str:
        """Returns the tooltip of a column head, or "" for none."""
        return ""

    # Rows

    def column(self, section: int) -> Any:
        """Returns the column at an index."""
        return self.columns(section)

    def take_rows(self, rows: list[Row], *, anew: bool = False) -> None:
        """Replaces the rows and keeps the sort order.

        Args:
            rows: the rows, in any order.
            anew: True if the rows are about other things although their keys may be the same; resets the model.
        """
        ordered = self.in_order(rows, self.sorted_by, descending=self.descending)
        # Same rows in the same order: a change of data keeps selection and scroll position, a reset would lose them.
        if not anew and [self.key_of(one) for one in ordered] == [self.key_of(one) for one in self.rows]:
            self.rows = ordered
            if ordered:
                self.dataChanged.emit(self.index(0, 0), self.index(len(ordered) - 1, len(self.columns) - 1))
            return
        self.beginResetModel()
        self.rows = ordered
        self.endResetModel()

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Appends rows to a table that cannot be sorted."""
        added, start = list(rows), len(self.rows)
        if added:
            self.beginInsertRows(_NOWHERE, start, start + len(added) - 1)
            self.rows += added
            self.endInsertRows()

    def row_of(self, key: int) -> int:
        """Returns the row of a key, or -1 if it is not listed."""
        return next((row for row, one in enumerate(self.rows) if self.key_of(one) == key), -1)

    def row_text(self, row: int) -> str:
        """Returns the texts of a row, separated by tabs."""
        one = self.rows[row]
        return "\t".join(self.text(one, self.column(section)) for section in range(self.columnCount()))

    # Qt

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.sorted_by, self.descending = self.column(column), order == Qt.SortOrder.DescendingOrder
        self.beginResetModel()
        self.rows = self.in_order(self.rows, self.sorted_by, descending=self.descending)
        self.endResetModel()

    @override
    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    @override
    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.columns)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        one, column = self.rows[index.row()], self.column(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(one, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            named = self.has_names and not column
            return self.text(one, column) if named else f"{self.heading(column)} {self.text(one, column)}".strip()
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.is_figure(column) else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.cell_tip(one, column) or None
        return None

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal or section >= self.columnCount():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.heading(section)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.is_figure(section) else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.heading_tip(section) or None
        if role == Qt.ItemDataRole.InitialSortOrderRole and self.is_figure(section):
            return int(Qt.SortOrder.DescendingOrder.value)  # the first click shows the largest first
        return None
