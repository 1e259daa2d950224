"""The presets as a list model, and the delegate that draws a preset's name, its filter behind it and its key."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtGui import QPainter
from typing_extensions import override

from inspector.present.wire_text import plain
from inspector.settings import Preset
from inspector.ui.dialogs.ordered_list import Index, OrderedModel
from inspector.ui.dialogs.row_delegate import RowDelegate
from inspector.ui.input.preset_keys import keys_of, shown
from inspector.ui.look.paint_cache import PaintCache

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


class PresetDelegate(RowDelegate):
    """Draws name, filter and key on one line."""

    without_filter = "everything"
    """What an empty filter stands for."""

    @override
    def paint_row(self, painter: QPainter, paints: PaintCache, box: QRect, index: Index) -> None:
        side = round(12 * paints.theme.zoom)
        left, right = box.x() + side, box.right() - side
        key = str(index.data(KEY_ROLE) or "")
        if key:
            paints.draw_right(painter, "small", "ink.tertiary", right, box, key)
            right -= paints.width("small", key) + side
        self.paint_words(painter, paints, box, left, right, index)

    def paint_words(
        self, painter: QPainter, paints: PaintCache, box: QRect, left: int, right: int, index: Index, ink: str = "ink"
    ) -> None:
        """Draw name and filter between two places."""
        column = round(148 * paints.theme.zoom)
        first, second = ("ink.primary", "ink.tertiary") if ink == "ink" else (ink, ink)
        paints.draw(painter, "body", first, left, box, plain(str(index.data())), column - 8)
        text = str(index.data(FILTER_ROLE))
        role, words = ("mono-row", plain(text)) if text else ("body", self.without_filter)
        paints.draw(painter, role, second, left + column, box, words, max(0, right - left - column))
