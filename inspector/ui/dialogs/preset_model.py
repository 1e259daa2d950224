"""The presets as a list model, and the delegate that draws a preset's name with its filter behind it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem
from typing_extensions import override

from inspector.settings import Preset
from inspector.ui.panels.messages.kit import Kit
from inspector.ui.theme import ThemeController
from inspector.ui.wire_text import plain

FILTER_ROLE = Qt.ItemDataRole.UserRole + 1
"""The filter of a preset."""

Index = QModelIndex | QPersistentModelIndex


class PresetListModel(QAbstractListModel):
    """Presets in their order; owns copies."""

    def __init__(self, presets: Sequence[Preset], parent: QObject | None = None) -> None:
        """Make a model of copies."""
        super().__init__(parent)
        self._presets = [preset.model_copy() for preset in presets]

    def presets(self) -> list[Preset]:
        """Copies of the presets in their order."""
        return [preset.model_copy() for preset in self._presets]

    def preset(self, row: int) -> Preset | None:
        """The preset of a row, or None."""
        return self._presets[row] if 0 <= row < len(self._presets) else None

    def replace(self, presets: Sequence[Preset]) -> None:
        """Hold other presets."""
        self.beginResetModel()
        self._presets = [preset.model_copy() for preset in presets]
        self.endResetModel()

    def add(self, preset: Preset) -> int:
        """Put a preset at the end; its row."""
        row = len(self._presets)
        self.beginInsertRows(QModelIndex(), row, row)
        self._presets.append(preset.model_copy())
        self.endInsertRows()
        return row

    def remove(self, row: int) -> None:
        """Take a preset out."""
        self.beginRemoveRows(QModelIndex(), row, row)
        del self._presets[row]
        self.endRemoveRows()

    def move(self, row: int, step: int) -> int:
        """Move a preset up (-1) or down (1); its new row, the same one at either end."""
        target = row + step
        if not 0 <= target < len(self._presets):
            return row
        # Qt counts the place before the move, so one further down is two.
        self.beginMoveRows(QModelIndex(), row, row, QModelIndex(), target + 1 if step > 0 else target)
        self._presets.insert(target, self._presets.pop(row))
        self.endMoveRows()
        return target

    def change(self, row: int, preset: Preset) -> None:
        """Put another preset in a row."""
        self._presets[row] = preset.model_copy()
        index = self.index(row)
        self.dataChanged.emit(index, index)

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._presets)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        preset = self.preset(index.row()) if index.isValid() else None
        if preset is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return preset.name
        if role == FILTER_ROLE:
            return preset.filter
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{preset.name}: {preset.filter or 'everything'}"
        return None


class PresetDelegate(QStyledItemDelegate):
    """Draws name and filter on one line."""

    def __init__(self, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        """Make a delegate."""
        super().__init__(parent)
        self._themes = theme_controller
        self._kit: Kit | None = None
        theme_controller.changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        self._kit = None

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, self._themes.theme.metrics.control)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._themes.theme
        if self._kit is None:
            self._kit = Kit(theme, painter.device().devicePixelRatioF())
        # The stubs know nothing of the fields of style options.
        box: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        if state & QStyle.StateFlag.State_Selected:
            focused = state & QStyle.StateFlag.State_HasFocus
            painter.fillRect(box, theme.color("accent.wash" if focused else "accent.washdim"))
            painter.fillRect(box.x(), box.y(), theme.metrics.selection_bar, box.height(), theme.color("accent.ring"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, theme.color("surface.hover"))
        left = box.x() + round(12 * theme.zoom)
        right = box.right() - round(8 * theme.zoom)
        column = round(132 * theme.zoom)
        name = plain(str(index.data()))
        self._kit.draw(painter, "body", "ink.primary", left, box, name, column - 8)
        text = str(index.data(FILTER_ROLE))
        role, words = ("mono-row", plain(text)) if text else ("body", "everything")
        self._kit.draw(painter, role, "ink.tertiary", left + column, box, words, right - left - column)
