"""The rows of a table of figures, sorted as the user chose; what they are is said by each table's own model."""

from __future__ import annotations

import enum
from typing import Any, ClassVar, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

Index = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")
_NOWHERE = QModelIndex()
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class FiguresModel(QAbstractTableModel, Generic[Row]):
    """Rows of a table of figures. The first column is a name.

    Attributes:
        columns: left to right.
        titles: what they are called.
        first_figure: the first one that is a figure; those before it stand at the left.
        sorted_by: the column the rows are sorted by.
        descending: whether the largest stand first.
        rows: what is shown, in the order shown.
    """

    columns: ClassVar[type[enum.IntEnum]]
    titles: ClassVar[tuple[str, ...]]
    first_figure: ClassVar[int] = 1

    def __init__(self, sorted_by: enum.IntEnum, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []
        self.sorted_by = sorted_by
        self.descending = True

    # What a table's own model says

    def key_of(self, one: Row) -> int:
        """What tells a row from others, also when it says something else."""
        raise NotImplementedError

    def in_order(self, rows: list[Row], column: Any, *, descending: bool) -> list[Row]:
        """Rows sorted by a column."""
        raise NotImplementedError

    def text(self, one: Row, column: Any) -> str:
        """What a cell says."""
        raise NotImplementedError

    def tip(self, one: Row) -> str:
        """What the tooltip of a row's name says, as rich text."""
        raise NotImplementedError

    # Rows

    def take_rows(self, rows: list[Row], *, anew: bool = False) -> None:
        """Show other figures, sorted as before.

        Args:
            rows: the figures, in any order.
            anew: they are of other things, although their keys may be the same.
        """
        ordered = self.in_order(rows, self.sorted_by, descending=self.descending)
        if not anew and [self.key_of(one) for one in ordered] == [self.key_of(one) for one in self.rows]:
            self.rows = ordered
            if ordered:
                self.dataChanged.emit(self.index(0, 0), self.index(len(ordered) - 1, len(self.columns) - 1))
            return
        self.beginResetModel()
        self.rows = ordered
        self.endResetModel()

    def row_of(self, key: int) -> int:
        """The row of a key; -1 when it is not shown."""
        return next((row for row, one in enumerate(self.rows) if self.key_of(one) == key), -1)

    def is_figure(self, column: int) -> bool:
        """Whether a column holds figures, which stand at the right."""
        return column >= self.first_figure

    # Qt

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.sorted_by, self.descending = self.columns(column), order == Qt.SortOrder.DescendingOrder
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
        one, column = self.rows[index.row()], self.columns(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(one, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.titles[column]} {self.text(one, column)}".strip() if column else self.text(one, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.is_figure(column) else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole and not column:
            return self.tip(one)
        return None

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.heading(section)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.is_figure(section) else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.heading_tip(section) or None
        if role == Qt.ItemDataRole.InitialSortOrderRole and self.is_figure(section):
            return int(Qt.SortOrder.DescendingOrder.value)  # the first click asks for the most, not for the least
        return None

    def heading(self, column: int) -> str:
        """What stands over a column."""
        return self.titles[column]

    def heading_tip(self, column: int) -> str:
        """What more there is to say of a column; "" for nothing."""
        raise NotImplementedError
