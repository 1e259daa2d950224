"""Item model of a query's result. Rows with a message number lead to their message."""

from __future__ import annotations

import json
from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.present.wire_text import safe_line, tool_tip
from inspector.tables.result_values import to_json_value

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_NUMBERS = ("BIGINT", "INTEGER", "HUGEINT", "DOUBLE", "FLOAT", "DECIMAL", "UBIGINT", "UINTEGER", "SMALLINT", "TINYINT")
_LONGEST = 1_000
NUMBER = "no"
"""The column with message numbers."""


class AnswerModel(QAbstractTableModel):
    """Rows of a result in its order.

    Attributes:
        names, types: of its columns.
        rows: values from DuckDB.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.names: tuple[str, ...] = ()
        self.types: tuple[str, ...] = ()
        self.rows: list[tuple[object, ...]] = []

    def begin(self, names: Sequence[str], types: Sequence[str]) -> None:
        """Starts another result without rows."""
        self.beginResetModel()
        self.names, self.types, self.rows = tuple(names), tuple(types), []
        self.endResetModel()

    def add(self, rows: list[tuple[object, ...]]) -> None:
        if rows:
            start = len(self.rows)
            self.beginInsertRows(_NOWHERE, start, start + len(rows) - 1)
            self.rows += rows
            self.endInsertRows()

    def message(self, row: int) -> int | None:
        """Returns the message of a row's number, or None."""
        if NUMBER not in self.names or not 0 <= row < len(self.rows):
            return None
        found = self.rows[row][self.names.index(NUMBER)]
        # bool is a subclass of int.
        return found - 1 if isinstance(found, int) and not isinstance(found, bool) and found > 0 else None

    def messages(self) -> list[int]:
        """Returns the distinct messages of all rows, ascending."""
        found = (self.message(row) for row in range(len(self.rows)))
        return sorted({message for message in found if message is not None})

    def text(self, row: int, column: int) -> str:
        """Returns the text of a cell, also for the clipboard."""
        value = to_json_value(self.rows[row][column], self.types[column])
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return ", ".join(value)
        if isinstance(value, list | dict):
            return json.dumps(value, ensure_ascii=False)
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    def row_text(self, row: int) -> str:
        return "\t".join(self.text(row, column).replace("\t", " ") for column in range(len(self.names)))

    def is_number(self, column: int) -> bool:
        return self.types[column].startswith(_NUMBERS) and not self.types[column].endswith("[]")

    @override
    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    @override
    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.names)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return safe_line(self.text(row, column)[:_LONGEST], _LONGEST)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return safe_line(f"{self.names[column]} {self.text(row, column)}"[:_LONGEST], _LONGEST)
        if role == Qt.ItemDataRole.ToolTipRole:
            text = self.text(row, column)
            return tool_tip(text[:_LONGEST]) if len(text) > _TOOLTIP_FROM else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.is_number(column) else _LEFT
        return None

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal or section >= len(self.names):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return safe_line(self.names[section], 200)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tool_tip(self.types[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.is_number(section) else _LEFT
        return None


_TOOLTIP_FROM = 20
