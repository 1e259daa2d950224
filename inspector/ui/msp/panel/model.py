"""The rows of a conversation for Qt and for screen readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.ui.msp.panel.rows import ChatRows, Row
from inspector.ui.msp.panel.words import spoken

if TYPE_CHECKING:
    from inspector.msp.objects import Message, Subsession

_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
_ROOT = QModelIndex()


class ChatModel(QAbstractListModel):
    """The conversation of one sub-session.

    Attributes:
        rows: what stands where.
        inherited: the words of the line about what is inherited.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows = ChatRows()
        self.inherited = ""

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    @override
    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role not in _ROLES or not index.isValid():
            return None
        return spoken(self.rows, self.rows[index.row()], self.inherited)

    def row(self, row: int) -> Row | None:
        """What stands in a row; None where there is none."""
        return self.rows[row] if 0 <= row < len(self.rows) else None

    def show(self, sub: Subsession | None, *, expanded: bool = False) -> None:
        """Show another conversation, or the same anew."""
        self.beginResetModel()
        self.rows = ChatRows(sub, expanded=expanded)
        self.endResetModel()

    def take_in(self) -> bool:
        """Messages came at the end: show them too; whether there are any."""
        rows = self.rows
        came = 0 if rows.sub is None else len(rows.sub.messages) - rows.own_count
        if came <= 0:
            return False
        at = rows.own_start + rows.own_count
        self.beginInsertRows(QModelIndex(), at, at + came - 1)
        rows.grown()
        self.endInsertRows()
        return True

    def renew(self, message: Message) -> None:
        """Something about a message is different."""
        row = self.rows.row_of(message)
        if row >= 0:
            self.dataChanged.emit(self.index(row), self.index(row))

    def say_inherited(self, words: str) -> None:
        """Say something else in the line about what is inherited."""
        if words != self.inherited:
            self.inherited = words
            if self.rows.sub is not None:
                at = self.index(self.rows.own_start - 1)
                self.dataChanged.emit(at, at)
