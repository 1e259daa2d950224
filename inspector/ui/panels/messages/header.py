"""The head of the message table: titles, which way it is sorted, how far a sort is; by it columns move and resize."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QHeaderView, QWidget
from typing_extensions import override

from inspector.present.message_columns import Column
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.panels.messages.model import MessageTableModel

_ARROW = 12
"""Side of the icon that tells which way a column is sorted, in logical pixels at 100 %."""
_PROGRESS = 2


class Owner(Protocol):
    """The table the head belongs to."""

    paints: PaintCache
    messages: MessageTableModel


class MessageHeader(QHeaderView):
    """Paints the heads itself, so that a title makes room for its arrow and is cut like any text of the table.

    Signals:
        menu_requested(int, QPoint): the menu of a column (-1: of none), at a place on the screen.

    Attributes:
        progress: (column, 0 to 1) of a sort that is under way.
    """

    menu_requested = Signal(int, QPoint)

    def __init__(self, owner: Owner, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._owner = owner
        self._hovered = -1
        self.progress: tuple[int, float] | None = None
        self.setObjectName("messageTableHeader")
        self.setAccessibleName("Columns of the message table")
        self.setMouseTracking(True)
        self.setHighlightSections(False)
        self.setSectionsClickable(True)
        self.setSectionsMovable(True)
        self.setFirstSectionMovable(False)
        self.setMinimumSectionSize(16)

    def show_progress(self, progress: tuple[int, float] | None) -> None:
        """Show how far a sort is."""
        if progress != self.progress:
            self.progress = progress
            self.viewport().update()

    @override
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        paints, model = self._owner.paints, self._owner.messages
        painter.save()
        painter.fillRect(rect, paints.theme.color("surface.base"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), paints.theme.color("line.hair"))
        painter.setClipRect(rect)
        by = model.rows.sorted_by
        is_sorted = by is not None and logicalIndex == model.columns.sorted_at(by.field.name)
        arrow = round(_ARROW * paints.theme.zoom) if is_sorted else 0
        pad = paints.metrics.cell_padding
        text = str(model.headerData(logicalIndex, Qt.Orientation.Horizontal) or "")
        room = rect.width() - pad - (max(pad, arrow + 1) if arrow else pad)  # the arrow stands in the padding
        if model.columns.is_path(logicalIndex):
            text = paints.font_metrics("column").elidedText(text, Qt.TextElideMode.ElideLeft, max(0, room))
        else:
            text = paints.elided("column", text, room)
        token = "ink.primary" if is_sorted or logicalIndex == self._hovered else "ink.secondary"
        right = model.is_right_aligned(logicalIndex)
        width = paints.width("column", text)
        x = rect.right() + 1 - pad - width if right else rect.x() + pad
        if text:
            paints.draw(painter, "column", token, x, rect, text, width)
        if by is not None and is_sorted:
            name = "ri.arrow-down-line" if by.descending else "ri.arrow-up-line"
            paints.icon(painter, name, "accent.text", x - arrow - 1 if right else x + width + 1, rect, arrow)
        if self.progress is not None and self.progress[0] == logicalIndex:
            done = max(_PROGRESS, round(rect.width() * self.progress[1]))
            line = QRect(rect.x(), rect.bottom() + 1 - _PROGRESS, done, _PROGRESS)
            painter.fillRect(line, paints.theme.color("accent.ring"))
        painter.restore()

    # Pointer

    @override
    def mouseMoveEvent(self, e: QMouseEvent) -> None:
        super().mouseMoveEvent(e)
        self._hover(self.logicalIndexAt(e.position().toPoint()))

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(-1)

    def _hover(self, column: int) -> None:
        if column != self._hovered:
            self._hovered = column
            self.viewport().update()

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        column = self.logicalIndexAt(event.pos())
        self.menu_requested.emit(-1 if column == Column.GUTTER else column, event.globalPos())
        event.accept()
