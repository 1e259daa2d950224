"""The item model of the tokens table: a row per tool, context, participant or kind, sorted as the user chose."""

from __future__ import annotations

import enum
from collections.abc import Callable

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.analysis.token_shares import Way
from inspector.ui import formats
from inspector.ui.panels.tokens.rows import TokenRow
from inspector.ui.wire_text import tool_tip

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_HUNDREDTH, _TENTH = 0.01, 0.1


class Column(enum.IntEnum):
    """The columns, left to right."""

    NAME = 0
    BAR = 1
    TOKENS = 2
    SHARE = 3
    MESSAGES = 4


TITLES = ("Tool", "", "Tokens", "Share", "Messages")
_NAMES: dict[Way, str] = {"tool": "Tool", "context": "Context", "participant": "Sent by", "kind": "Kind"}
_TIPS = ("", "", "Estimate", "Of all tokens looked at", "Whether or not their tokens are counted yet")
_NAME_TIPS: dict[Way, str] = {
    "tool": "Calls of each tool and their results; definitions of tools are the answers to tools/list",
    "context": "Messages in each context",
    "participant": "What each has written; what its model has read is told by Model sees",
    "kind": "Messages of each kind",
}
_SENT = "\nWhat it has written. What its model has read: context menu, Show what its model sees."
_VALUES: dict[Column, Callable[[TokenRow], float | str]] = {
    Column.NAME: lambda one: one.whole_name.casefold(),
    Column.BAR: lambda one: one.tokens,
    Column.TOKENS: lambda one: one.tokens,
    Column.SHARE: lambda one: one.share,
    Column.MESSAGES: lambda one: one.messages,
}


def percent(share: float) -> str:
    """A share: "41 %", "2.4 %", "<1 %", "0 %"."""
    if 0 < share < _HUNDREDTH:
        return "<1 %"
    return f"{share * 100:.1f} %" if 0 < share < _TENTH else f"{share * 100:.0f} %"


class TokensModel(QAbstractTableModel):
    """Rows of the tokens table.

    Attributes:
        rows: what is shown, in the order shown.
        way: what a row stands for.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[TokenRow] = []
        self.way: Way = "tool"
        self._sorted = (Column.TOKENS, True)

    def show_rows(self, rows: list[TokenRow], way: Way) -> None:
        """Show other figures, sorted as before."""
        ordered = self._in_order(rows)
        if way == self.way and [one.key for one in ordered] == [one.key for one in self.rows]:
            self.rows = ordered
            if ordered:
                self.dataChanged.emit(self.index(0, 0), self.index(len(ordered) - 1, Column.MESSAGES))
            return
        self.beginResetModel()
        self.rows, self.way = ordered, way
        self.endResetModel()

    def row_of(self, key: int) -> int:
        """The row of a key; -1 when it is not shown."""
        return next((row for row, one in enumerate(self.rows) if one.key == key), -1)

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._sorted = (Column(column), order == Qt.SortOrder.DescendingOrder)
        self.beginResetModel()
        self.rows = self._in_order(self.rows)
        self.endResetModel()

    def _in_order(self, rows: list[TokenRow]) -> list[TokenRow]:
        column, descending = self._sorted
        named = sorted(rows, key=lambda one: one.name)
        ordered = sorted(named, key=_VALUES[column], reverse=descending)  # pyright: ignore[reportArgumentType]  one type
        return sorted(ordered, key=lambda one: not one.everything)  # the sum stands above what it is the sum of

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
            return f"{TITLES[column]} {self.text(one, column)}".strip() if column else self.text(one, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column > Column.BAR else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole and column is Column.NAME:
            return tool_tip(f"{one.whole_name}{_SENT}" if self.way == "participant" else one.whole_name)
        return None

    @staticmethod
    def text(one: TokenRow, column: Column) -> str:
        """What a cell says."""
        texts = (
            one.whole_name, "", formats.number(one.tokens), percent(one.share), formats.number(one.messages),
        )  # fmt: skip
        return texts[column]

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _NAMES[self.way] if section == Column.NAME else TITLES[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section > Column.BAR else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return _TIPS[section] or _NAME_TIPS[self.way] if section == Column.NAME else _TIPS[section] or None
        return None
