"""Draws rows of lists in dialogs: the ground, as high as a control; what stands on it is up to who derives from it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem
from typing_extensions import override

from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.look.row_background import paint_ground
from inspector.ui.look.theme import ThemeController

Index = QModelIndex | QPersistentModelIndex


class RowDelegate(QStyledItemDelegate):
    """One line."""

    def __init__(self, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        """Make a delegate."""
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
        # The stubs know nothing of the fields of style options.
        box: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
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
        """Paint what a row says, on its ground."""
        raise NotImplementedError
