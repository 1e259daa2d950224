"""The presets as a list model, and the delegate that draws a preset's name, its filter behind it and its key."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QObject, QRect, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem
from typing_extensions import override

from inspector.settings import Preset
from inspector.ui.dialogs.ordered_list import Index, OrderedModel
from inspector.ui.panels.messages.kit import Kit
from inspector.ui.preset_keys import keys_of, shown
from inspector.ui.theme import Theme, ThemeController
from inspector.ui.wire_text import plain

FILTER_ROLE = Qt.ItemDataRole.UserRole + 1
"""The filter of a row."""
KEY_ROLE = Qt.ItemDataRole.UserRole + 2
"""The key of a preset in the desktop's words; "" for none."""


class PresetListModel(OrderedModel[Preset]):
    """Presets in their order; owns copies.

    Attributes:
        taken: keys that mean something else.
    """

    def __init__(self, presets: Sequence[Preset], parent: QObject | None = None, taken: Collection[str] = ()) -> None:
        """Make a model of copies."""
        super().__init__(presets, parent)
        self.taken = taken

    def key(self, row: int) -> str:
        """The key of a row's preset, "" for none."""
        return keys_of(self._items, self.taken)[row]

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        preset = self.item(index.row()) if index.isValid() else None
        if preset is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return preset.name
        if role == FILTER_ROLE:
            return preset.filter
        if role == KEY_ROLE:
            return shown(self.key(index.row()))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            key = shown(self.key(index.row()))
            said = f"{plain(preset.name)}: {plain(preset.filter) or 'everything'}"
            return f"{said}, {key}" if key else said
        return None


def paint_ground(painter: QPainter, theme: Theme, option: QStyleOptionViewItem) -> QRect:
    """The ground of a row of a list in a dialog, selected or under the pointer; returns where the row is."""
    # The stubs know nothing of the fields of style options.
    box: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
    state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
    if state & QStyle.StateFlag.State_Selected:
        focused = state & QStyle.StateFlag.State_HasFocus
        painter.fillRect(box, theme.color("accent.wash" if focused else "accent.washdim"))
        painter.fillRect(box.x(), box.y(), theme.metrics.selection_bar, box.height(), theme.color("accent.ring"))
    elif state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(box, theme.color("surface.hover"))
    return box


class PresetDelegate(QStyledItemDelegate):
    """Draws name, filter and key on one line."""

    without_filter = "everything"
    """What an empty filter stands for."""

    def __init__(self, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        """Make a delegate."""
        super().__init__(parent)
        self._themes = theme_controller
        self._kit: Kit | None = None
        theme_controller.changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        self._kit = None

    def kit(self, painter: QPainter) -> Kit:
        """Fonts and colours of the theme in force."""
        if self._kit is None:
            self._kit = Kit(self._themes.theme, painter.device().devicePixelRatioF())
        return self._kit

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, self._themes.theme.metrics.control)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, kit = self._themes.theme, self.kit(painter)
        box = paint_ground(painter, theme, option)
        left, right = box.x() + round(12 * theme.zoom), box.right() - round(12 * theme.zoom)
        key = str(index.data(KEY_ROLE) or "")
        if key:
            kit.draw_right(painter, "small", "ink.tertiary", right, box, key)
            right -= kit.width("small", key) + round(12 * theme.zoom)
        self.paint_words(painter, box, left, right, index)

    def paint_words(self, painter: QPainter, box: QRect, left: int, right: int, index: Index, ink: str = "ink") -> None:
        """Draw name and filter between two places."""
        kit, column = self.kit(painter), round(148 * self._themes.theme.zoom)
        first, second = ("ink.primary", "ink.tertiary") if ink == "ink" else (ink, ink)
        kit.draw(painter, "body", first, left, box, plain(str(index.data())), column - 8)
        text = str(index.data(FILTER_ROLE))
        role, words = ("mono-row", plain(text)) if text else ("body", self.without_filter)
        kit.draw(painter, role, second, left + column, box, words, max(0, right - left - column))
