"""The highlight rules as a list model, and the delegate that draws a rule as the rows look that it is about."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QEvent, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QStyleOptionViewItem
from typing_extensions import override

from inspector.present.wire_text import plain
from inspector.settings import HighlightRule
from inspector.ui.dialogs.ordered_list import Index, OrderedModel
from inspector.ui.dialogs.preset_model import FILTER_ROLE, PresetDelegate
from inspector.ui.look.paint_cache import PaintCache

RULE_ROLE = Qt.ItemDataRole.UserRole + 3
"""The rule of a row."""
_BOX, _EDGE, _TINT = 16, 3, 22


class HighlightListModel(OrderedModel[HighlightRule]):
    """Highlight rules in their order; owns copies."""

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        rule = self.item(index.row()) if index.isValid() else None
        if rule is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return rule.name
        if role == FILTER_ROLE:
            return rule.filter
        if role == RULE_ROLE:
            return rule
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if rule.on else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.AccessibleTextRole:
            manner = "left edge" if rule.paint == "edge" else "text"
            state = "on" if rule.on else "off"
            return f"{plain(rule.name)}: {plain(rule.filter) or 'nothing'}, {rule.color}, {manner}, {state}"
        return None


class HighlightDelegate(PresetDelegate):
    """Draws the switch of a rule, its colour as rows have it, its name and its filter.

    Signals:
        toggled(int): the switch of a row was clicked.
    """

    toggled = Signal(int)

    def box_of(self, rect: QRect) -> QRect:
        """Where the switch of a row stands."""
        side = round(_BOX * self._themes.theme.zoom)
        left = rect.x() + round(10 * self._themes.theme.zoom)
        return QRect(left, rect.y() + (rect.height() - side) // 2, side, side)

    without_filter = "nothing"

    @override
    def paint_row(self, painter: QPainter, paints: PaintCache, box: QRect, index: Index) -> None:
        theme, zoom = paints.theme, paints.theme.zoom
        rule: HighlightRule = index.data(RULE_ROLE)
        self._paint_switch(painter, paints, self.box_of(box), on=rule.on)
        token = f"highlight.{rule.color}"
        left = self.box_of(box).right() + 1 + round(10 * zoom)
        if rule.paint == "edge":
            tint = QRect(left, box.y() + 4, round(_TINT * zoom), box.height() - 8)
            painter.fillRect(tint, theme.pill_fill(token))
            painter.fillRect(QRect(tint.x(), tint.y(), round(_EDGE * zoom), tint.height()), theme.color(token))
        else:
            paints.draw(painter, "body-strong", token, left, box, "Abc", round(_TINT * 2 * zoom))
        left += round((_TINT + 12) * zoom)
        ink = "ink" if rule.on else "ink.tertiary"
        self.paint_words(painter, paints, box, left, box.right() - round(12 * zoom), index, ink)

    def _paint_switch(self, painter: QPainter, paints: PaintCache, box: QRect, *, on: bool) -> None:
        """A check box as the style sheet draws it, which reaches widgets only."""
        theme = paints.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("accent.fill" if on else "line.control"), 1))
        painter.setBrush(theme.color("accent.fill" if on else "surface.input"))
        radius = theme.metrics.radius_mark
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if on:
            side = box.width() - 4
            paints.icon(painter, "check", "accent.on", box.x() + 2, box, side)

    @override
    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """A click on the switch; the page hears of it through the list."""
        if event.type() is QEvent.Type.MouseButtonRelease and isinstance(event, QMouseEvent):
            rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
            if self.box_of(rect).adjusted(-6, -6, 6, 6).contains(event.position().toPoint()):
                self.toggled.emit(index.row())
                return True
        return False
