"""Row delegate of dialog lists, and lists that the user reorders: model and view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from pydantic import BaseModel
from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QDropEvent, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)
from typing_extensions import override

from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.look.row_background import paint_ground
from inspector.ui.look.theme import ThemeController

Index = QModelIndex | QPersistentModelIndex


class RowDelegate(QStyledItemDelegate):
    """Paints rows of one line."""

    def __init__(self, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self._paints: PaintCache | None = None
        theme_controller.changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        self._paints = None

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, self._themes.theme.metrics.control)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._themes.theme
        # The stubs lack the fields of style options.
        box: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        paint_ground(
            painter, theme, box,
            selected=bool(state & QStyle.StateFlag.State_Selected),
            hovered=bool(state & QStyle.StateFlag.State_MouseOver),
            active=bool(state & QStyle.StateFlag.State_HasFocus),
        )  # fmt: skip
        if self._paints is None:
            self._paints = PaintCache(theme, painter.device().devicePixelRatioF())
        self.paint_row(painter, self._paints, box, index)

    def paint_row(self, painter: QPainter, paints: PaintCache, box: QRect, index: Index) -> None:
        """Paints the content of a row on its background."""
        raise NotImplementedError


Item = TypeVar("Item", bound=BaseModel)


class OrderedModel(QAbstractListModel, Generic[Item]):
    """Copies of settings in their order. Subclasses provide the texts of rows."""

    def __init__(self, items: Sequence[Item], parent: QObject | None = None) -> None:
        """Creates a model of copies."""
        super().__init__(parent)
        self._items = [item.model_copy() for item in items]

    def items(self) -> list[Item]:
        """Returns copies of the items in their order."""
        return [item.model_copy() for item in self._items]

    def item(self, row: int) -> Item | None:
        return self._items[row] if 0 <= row < len(self._items) else None

    def replace(self, items: Sequence[Item]) -> None:
        self.beginResetModel()
        self._items = [item.model_copy() for item in items]
        self.endResetModel()

    def add(self, item: Item) -> int:
        """Appends an item and returns its row."""
        row = len(self._items)
        self.beginInsertRows(QModelIndex(), row, row)
        self._items.append(item.model_copy())
        self.endInsertRows()
        return row

    def remove(self, row: int) -> None:
        self.beginRemoveRows(QModelIndex(), row, row)
        del self._items[row]
        self.endRemoveRows()

    def move(self, row: int, step: int) -> int:
        """Moves an item up (negative step) or down. Returns its new row, unchanged if the target is out of range."""
        target = row + step
        if not step or not 0 <= target < len(self._items):
            return row
        # Qt counts the target row before the move, so one row down is + 2.
        self.beginMoveRows(QModelIndex(), row, row, QModelIndex(), target + 1 if step > 0 else target)
        self._items.insert(target, self._items.pop(row))
        self.endMoveRows()
        return target

    def change(self, row: int, item: Item) -> None:
        """Replaces the item of a row."""
        self._items[row] = item.model_copy()
        self.dataChanged.emit(self.index(0), self.index(len(self._items) - 1))  # keys of presets depend on all rows

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._items)

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled
        return super().flags(index) | Qt.ItemFlag.ItemIsDragEnabled

    @override
    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction


class OrderedList(QListView):
    """The view of an `OrderedModel`.

    Signals:
        moved(int, int): the row of an item, and its new row.
        removed(int): remove the item of this row.
        toggled(int): toggle the item of this row.
    """

    moved = Signal(int, int)
    removed = Signal(int)
    toggled = Signal(int)

    def __init__(self, name: str, label: str, parent: QWidget | None = None) -> None:
        """Creates an empty list.

        Args:
            name: object name.
            label: accessible name.
            parent: the owner.
        """
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setAccessibleDescription("Alt+Up and Alt+Down move an entry, Delete removes it.")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        # a drop between rows inserts instead of replacing a row
        self.setDragDropOverwriteMode(False)

    def place_at(self, point: QPoint) -> int:
        """Returns the insertion index at a point of the viewport; 0 is before the first row."""
        index = self.indexAt(point)
        if not index.isValid():
            return self.model().rowCount()
        return index.row() + (point.y() > self.visualRect(index).center().y())

    @override
    def dropEvent(self, e: QDropEvent) -> None:
        row, place = self.currentIndex().row(), self.place_at(e.position().toPoint())
        # The rows are moved here. Qt would remove the dragged row once more.
        e.setDropAction(Qt.DropAction.IgnoreAction)
        e.accept()
        self.stopAutoScroll()
        self.setState(QAbstractItemView.State.NoState)
        self.viewport().update()
        target = place - (place > row)
        if row >= 0 and target != row:
            self.moved.emit(row, target)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.currentIndex().row(), event.key()
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(key), 0)
        if step and event.modifiers() & (Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ControlModifier):
            if row >= 0 and 0 <= row + step < self.model().rowCount():
                self.moved.emit(row, row + step)
        elif key == Qt.Key.Key_Delete and row >= 0:
            self.removed.emit(row)
        elif key == Qt.Key.Key_Space and row >= 0:
            self.toggled.emit(row)
        else:
            super().keyPressEvent(event)
