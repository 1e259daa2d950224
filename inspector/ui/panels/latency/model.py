"""The item model of the latency table: a row per tool or participant, sorted as the user chose."""

from __future__ import annotations

import enum
from collections.abc import Callable

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.analysis.latency_tally import Timed
from inspector.ui import formats
from inspector.ui.wire_text import plain, tool_tip

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_TENTHS_BELOW_MS = 10


class Column(enum.IntEnum):
    """The columns, left to right."""

    NAME = 0
    ANSWERS = 1
    P50 = 2
    P95 = 3
    P99 = 4
    LONGEST = 5
    SLOWEST = 6


TITLES = ("Tool", "Answers", "p50", "p95", "p99", "Slowest", "No.")
_TIPS = (
    "",
    "Answers whose request and times are known",
    "Half of the answers were at least this fast",
    "95 of 100 answers were at least this fast",
    "99 of 100 answers were at least this fast",
    "The answer that took longest",
    "The message that answered slowest; Enter or a click goes there",
)


def milliseconds(value: float) -> str:
    """A latency: "0.4 ms", "73 ms", "1.2 s"."""
    if abs(value) < _TENTHS_BELOW_MS:
        return f"{value:.1f} ms".replace("-", "\N{MINUS SIGN}")
    return formats.duration(round(value * 1_000_000))


_VALUES: dict[Column, Callable[[Timed], float | str]] = {
    Column.NAME: lambda one: one.name.casefold(),
    Column.ANSWERS: lambda one: one.latency.count,
    Column.P50: lambda one: one.latency.p50,
    Column.P95: lambda one: one.latency.p95,
    Column.P99: lambda one: one.latency.p99,
    Column.LONGEST: lambda one: one.latency.longest,
    Column.SLOWEST: lambda one: one.slowest,
}


class LatencyModel(QAbstractTableModel):
    """Rows of the latency table.

    Attributes:
        rows: what is shown, in the order shown.
        by: tool or participant.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Timed] = []
        self.by = "tool"
        self._sorted = (Column.ANSWERS, True)

    def show_rows(self, rows: list[Timed], by: str) -> None:
        """Show other figures, sorted as before."""
        ordered = self._in_order(rows)
        self.by = by
        if [one.code for one in ordered] == [one.code for one in self.rows]:
            self.rows = ordered
            if ordered:
                self.dataChanged.emit(self.index(0, 0), self.index(len(ordered) - 1, Column.SLOWEST))
            return
        self.beginResetModel()
        self.rows = ordered
        self.endResetModel()

    def row_of(self, code: int) -> int:
        """The row of a name, by its string id; -1 when it is not shown."""
        return next((row for row, one in enumerate(self.rows) if one.code == code), -1)

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._sorted = (Column(column), order == Qt.SortOrder.DescendingOrder)
        self.beginResetModel()
        self.rows = self._in_order(self.rows)
        self.endResetModel()

    def _in_order(self, rows: list[Timed]) -> list[Timed]:
        column, descending = self._sorted
        named = sorted(rows, key=lambda one: one.name)
        return sorted(named, key=_VALUES[column], reverse=descending)  # pyright: ignore[reportArgumentType]  one type

    # Qt

    @override
    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    @override
    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(Column)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        one, column = self.rows[index.row()], Column(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(one, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{TITLES[column]} {self.text(one, column)}" if column else self.text(one, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole and column is Column.NAME:
            return tool_tip(plain(one.name, 600))
        return None

    @staticmethod
    def text(one: Timed, column: Column) -> str:
        """What a cell says."""
        if column is Column.NAME:
            return plain(one.name, 200)
        if column is Column.ANSWERS:
            return formats.number(one.latency.count)
        if column is Column.SLOWEST:
            return str(one.slowest + 1)
        figures = {
            Column.P50: one.latency.p50, Column.P95: one.latency.p95, Column.P99: one.latency.p99,
            Column.LONGEST: one.latency.longest,
        }  # fmt: skip
        return milliseconds(figures[column])

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return "Participant" if section == Column.NAME and self.by == "participant" else TITLES[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return _TIPS[section] or None
        return None
