"""Kept connections as a list model, and the delegate that draws name, gateway and where the token is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QLineEdit, QStyleOptionViewItem, QWidget
from typing_extensions import override

from inspector.present.wire_text import plain
from inspector.settings import NamedConnection
from inspector.ui.dialogs.row_delegate import Index, RowDelegate
from inspector.ui.look.paint_cache import PaintCache

PLACE_ROLE = Qt.ItemDataRole.UserRole + 1
"""Address and space."""
TOKEN_ROLE = Qt.ItemDataRole.UserRole + 2
"""Where the token is, in words."""

TOKEN_WORDS = {"none": "no token", "keyring": "token in the keyring", "ask": "token asked for"}


class ConnectionListModel(QAbstractListModel):
    """Connections in their order. A row can be given another name, which is told to `rename` and shown once it is so.

    It never changes a connection itself.
    """

    def __init__(self, rename: Callable[[NamedConnection, str], object], parent: QObject | None = None) -> None:
        """Make an empty model."""
        super().__init__(parent)
        self._rename = rename
        self._connections: list[NamedConnection] = []

    def connection(self, row: int) -> NamedConnection | None:
        """The connection of a row, or None."""
        return self._connections[row] if 0 <= row < len(self._connections) else None

    def row_of(self, connection_id: str) -> int:
        """The row of a connection, -1 when there is none."""
        return next((row for row, one in enumerate(self._connections) if one.id == connection_id), -1)

    def replace(self, connections: Sequence[NamedConnection]) -> None:
        """Show other connections."""
        self.beginResetModel()
        self._connections = list(connections)
        self.endResetModel()

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._connections)

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.isValid() else flags

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        one = self.connection(index.row()) if index.isValid() else None
        if one is None:
            return None
        place = f"{one.url}, space {one.space}"
        return {
            Qt.ItemDataRole.DisplayRole: one.name,
            Qt.ItemDataRole.EditRole: one.name,
            PLACE_ROLE: place,
            TOKEN_ROLE: TOKEN_WORDS[one.token],
            Qt.ItemDataRole.AccessibleTextRole: f"{plain(one.name)}: {plain(place)}, {TOKEN_WORDS[one.token]}",
        }.get(Qt.ItemDataRole(role) if role < Qt.ItemDataRole.UserRole else role)

    @override
    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        one = self.connection(index.row())
        name = str(value).strip()
        others = (other.name.casefold() for other in self._connections if other is not one)
        if role != Qt.ItemDataRole.EditRole or one is None or not name or name.casefold() in others:
            return False
        if name != one.name:
            self._rename(one, name)
        return True


class ConnectionDelegate(RowDelegate):
    """Draws a connection on one line; the name is edited in its place."""

    def _columns(self, box: QRect) -> tuple[int, int, int, int]:
        """Left of name, place and token, and the right end."""
        zoom = self._themes.theme.zoom
        right = box.right() - round(12 * zoom)
        left = box.x() + round(12 * zoom)
        token = right - round(132 * zoom)
        return left, left + (token - left) * 2 // 5, token, right

    @override
    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        field = QLineEdit(parent)
        field.setObjectName("connectionsRename")
        field.setAccessibleName("Name")
        return field

    @override
    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        box: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        left, place, _, _ = self._columns(box)
        editor.setGeometry(left - 4, box.y(), place - left, box.height())

    @override
    def paint_row(self, painter: QPainter, paints: PaintCache, box: QRect, index: Index) -> None:
        left, place, token, right = self._columns(box)
        gap = round(10 * paints.theme.zoom)
        for role, ink, words, start, end in (
            ("body", "ink.primary", index.data(), left, place - gap),
            ("body", "ink.secondary", index.data(PLACE_ROLE), place, token - gap),
            ("small", "ink.tertiary", index.data(TOKEN_ROLE), token, right),
        ):
            paints.draw(painter, role, ink, start, box, plain(str(words)), end - start)
