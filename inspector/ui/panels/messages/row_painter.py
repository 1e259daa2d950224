"""Paints the rows of the message table, one method per column; input comes from `PaintCache` and `RowContent`."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, QPointF, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QTableView

from inspector.engine.requests.rows import Look, RowContent
from inspector.present.badges import Badge
from inspector.present.message_columns import Column
from inspector.present.message_phrase import Style, TextRun
from inspector.present.sources import token_of
from inspector.present.states import QUIET_COLOR
from inspector.ui.look import icons
from inspector.ui.look.hit_highlight import HitRows, Locate, everything
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.panels.messages.chain_rail import RailMark
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.original_painter import Link, OriginalPainter, paint_gap
from inspector.ui.panels.messages.selection import Selection

_REPAINT_MS = 4
_WAITING_MS = 200
"""Interval for updates of waiting times, ms."""
_STYLE_LOOKS: dict[Style, tuple[str, str]] = {
    Style.TEXT: ("body", "ink.primary"), Style.SECONDARY: ("body", "ink.secondary"),
    Style.TERTIARY: ("body", "ink.tertiary"), Style.SECRET: ("body", "ink.tertiary"),
    Style.MONO: ("mono-row", "ink.primary"), Style.MONO_SECONDARY: ("mono-row", "ink.secondary"),
    Style.ERROR: ("body", "severity.error"),
}  # fmt: skip
"""Style of a part of the Message column to (type role, colour token)."""
_GAP = 10
"""Gap between parts of the Message column, pixels."""
_RAIL_ALPHA = 0.45
_STRIPE = 3
_MAX_STRIPES = 3
"""Most sources with a stripe beside one row."""
_HIGHLIGHT_BAR_WIDTH = 3
"""Width of a highlighted row's bar, pixels at 100 %."""
_CORNER = 8
_FULL_STATE_WIDTH = 320
"""Width of Message from which states are written in full, pixels at 100 %."""
_LEAST_KIND_ROOM = 24
"""Room beside the icon of a kind below which its word is left out, pixels at 100 %."""
_DURATION_BAR_HEIGHT = 2
"""Height of the duration bar, pixels at 100 %."""
_LOG_FULL_BAR = math.log10(1 + 60_000)
"""A minute fills the column."""
_MIN_PART_WIDTH = 28
"""Least width for further parts of Message; less would show only an ellipsis."""
_NOT_SEARCHED = frozenset((Column.GUTTER, Column.NUMBER, Column.TIME, Column.LATENCY, Column.SIZE))
"""Columns whose text is not part of the message."""


class RowPainter(QObject):
    """Paints a table's rows; handles no input.

    It replaces a delegate, which Qt would call for every cell. A whole row costs a third of that, and texts of all rows
    are batched by font and colour.

    Attributes:
        hovered_row: the row under the pointer, -1 for none.
        hovered_link: the link under the pointer, in the hovered row.
        found: the highlighted rows of a search, or None.
        cell_moved: the user moved the current cell by keys, so it always has a ring.
        originals: paints the lines of originals.
        waiting: messages with a visible waiting time, and its text.
    """

    def __init__(self, model: MessageTableModel, table: QTableView, selection: Selection, paints: PaintCache) -> None:
        super().__init__(table)
        self._model = model
        self._table = table
        self._selection = selection
        self._paints = paints
        self.hovered_row = -1
        self.hovered_link: Link | None = None
        self.found: HitRows | None = None
        self.cell_moved = False
        self.originals = OriginalPainter(paints)
        # True if the selection has the focused colour.
        self._focused = False
        self.waiting: dict[int, str] = {}
        self._waiting_timer = QTimer(self)
        self._waiting_timer.setSingleShot(True)
        self._waiting_timer.setInterval(_WAITING_MS)
        self._waiting_timer.timeout.connect(self.repaint_waiting)
        self._repaint_timer = QTimer(self)
        self._repaint_timer.setSingleShot(True)
        self._repaint_timer.setInterval(_REPAINT_MS)
        self._repaint_timer.timeout.connect(table.viewport().update)
        model.arrived.connect(table.viewport().update)
        self._cells: tuple[Callable[[QPainter, QRect, RowContent], None], ...] = (
            self._paint_gutter, self._paint_number, self._paint_time, self._paint_ends, self._paint_kind,
            self._paint_context, self._paint_message, self._paint_latency, self._paint_size,
        )  # fmt: skip

    # Geometry

    def row_rect(self, row: int) -> QRect:
        """Returns a row's rectangle in the viewport."""
        table = self._table
        return QRect(0, table.rowViewportPosition(row), table.viewport().width(), table.rowHeight(row))

    def block_rect(self, row: int) -> QRect:
        """Returns the rectangle of a line of an original: from From -> To nearly to the right edge."""
        pad = self._paints.metrics.cell_padding
        left = self._table.columnWidth(Column.GUTTER)
        if not self._table.isColumnHidden(Column.FROM_TO):
            names = self._table.columnViewportPosition(Column.FROM_TO)
            left = max(left, min(names, self._table.viewport().width() // 3))
        return self.row_rect(row).adjusted(left + pad, 0, -pad, 0)

    def link_at(self, row: int, position: QPoint) -> Link | None:
        """Returns the link of an original's line at a viewport position."""
        if row < 0:
            return None
        message, part = self._model.message_at_row(row)
        if not part:
            return None
        original = self._model.original(message)
        links = self.originals.links(self.block_rect(row), original.lines[part - 1], original.title)
        return next((link for link in links if link.rect.contains(position)), None)

    def hits_in(self, message: int) -> Locate | None:
        """Returns the function that locates search hits in a message's row, or None."""
        return self.found.locate if self.found is not None and message in self.found else None

    # Painting

    def paint(self, rect: QRect) -> None:
        """Paints the rows in a part of the viewport; called from its paint event."""
        table = self._table
        self._focused = table.hasFocus()
        # Another screen may have another pixel ratio.
        self._paints.dpr = table.devicePixelRatioF()
        rows = self._model.rowCount()
        if not rows:
            return
        first, last = max(0, table.rowAt(rect.top())), table.rowAt(rect.bottom())
        shown = range(first, (last if last >= 0 else rows - 1) + 1)
        # One batch for the screen is cheaper than single rows.
        if not self._model.prepare([self._model.message_at_row(row)[0] for row in shown]):
            # The rest follows.
            self._repaint_timer.start()
        top, bottom = table.rowAt(0), table.rowAt(table.viewport().height() - 1)
        self._model.prefetch(max(0, top), bottom if bottom >= 0 else rows - 1)
        painter = QPainter(table.viewport())
        self._paint_rows(painter, shown, rect)
        for row in shown:
            self._paint_across(painter, row)
        self._paint_rings(painter)
        painter.end()
        if self.waiting and not self._waiting_timer.isActive():
            self._waiting_timer.start()

    def _paint_rows(self, painter: QPainter, shown: range, rect: QRect) -> None:
        """Paints the rows' cells in a part of the viewport."""
        height, table = self._paints.metrics.row, self._table
        columns = [
            (column, x, width)
            for column in self._model.columns.order
            if not table.isColumnHidden(column)
            and (x := table.columnViewportPosition(column)) <= rect.right()
            and x + (width := table.columnWidth(column)) > rect.left()
        ]
        if not columns:
            return
        # A dragged column may be out of order.
        columns.sort(key=lambda column: column[1])
        top = table.rowViewportPosition(shown.start) if shown else 0
        # Texts are collected and drawn by font and colour: each change of pen or font costs.
        self._paints.gather()
        try:
            for row in shown:
                y = top + (row - shown.start) * height
                cells = [(column, QRect(x, y, width, height)) for column, x, width in columns]
                self._paint_row(painter, row, cells)
        finally:
            self._paints.draw_gathered(painter)

    def _paint_across(self, painter: QPainter, row: int) -> None:
        """Paints content across columns: a line of an original, or a gap."""
        message, part = self._model.message_at_row(row)
        if part:
            link = self.hovered_link if row == self.hovered_row else None
            hits = self._paints.hits
            hits.locate, hits.current = self.hits_in(message), False
            original = self._model.original(message)
            self.originals.paint(painter, self.block_rect(row), original, part, link.name if link else None)
            hits.locate = None
            return
        gap = self._model.content(message).gap if self._model.knows(message) else None
        if gap is not None:
            start = self._table.columnWidth(Column.GUTTER)
            rect = self.row_rect(row).adjusted(start, 0, -self._paints.metrics.cell_padding, 0)
            paint_gap(painter, rect, self._paints, gap)

    def _paint_rings(self, painter: QPainter) -> None:
        """Paints rings around the current row and cell if the selection colour does not show them."""
        current = self._table.currentIndex()
        if not current.isValid() or not self._focused:
            return
        message, part = self._model.message_at_row(current.row())
        if part:
            self._paint_ring(painter, self.block_rect(current.row()), 1.5, 4)
            return
        if message != self._selection.current or self._selection.several:
            self._paint_ring(painter, self.row_rect(current.row()), 1.5, 4)
        # The current cell starts in Message; ring it there only after a move by keys.
        ringed = current.column() != Column.MESSAGE or self.cell_moved
        if ringed and current.column() != Column.GUTTER and self._model.content(message).gap is None:
            self._paint_ring(painter, self._table.visualRect(current).adjusted(1, 1, -1, -1), 1, 3)

    def _paint_ring(self, painter: QPainter, rect: QRect, width: float, radius: int) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._paints.theme.color("accent.ring"), width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inset = width / 2
        painter.drawRoundedRect(QRectF(rect).adjusted(inset, inset, -inset, -inset), radius, radius)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def repaint_waiting(self) -> None:
        """Repaints visible rows whose waiting time has changed."""
        table, bottom = self._table, self._table.viewport().height()
        left, width = table.columnViewportPosition(Column.MESSAGE), table.columnWidth(Column.MESSAGE)
        for message, text in list(self.waiting.items()):
            row = self._model.rows.row_of(message)
            top = table.rowViewportPosition(row) if row is not None else bottom
            # Invisible rows need no timer.
            if not -self._paints.metrics.row < top < bottom:
                del self.waiting[message]
            elif self._model.waiting_text(self._model.content(message)) != text:
                # Painting adds it again.
                del self.waiting[message]
                table.viewport().update(left, top, width, table.rowHeight(row or 0))
        if self.waiting:
            self._waiting_timer.start()

    # Rows

    def _paint_row(self, painter: QPainter, row: int, cells: list[tuple[int, QRect]]) -> None:
        """Paints a message's row.

        Args:
            painter: of the viewport.
            row: index in the table.
            cells: visible columns, gutter first, with their rectangles.
        """
        message, part = self._model.message_at_row(row)
        if part:
            for column, rect in cells:
                if column == Column.GUTTER:
                    self._paint_rail(painter, rect, self._selection.chain.rail.mark(message, part))
            return
        self._paint_ground(painter, cells[0][1].united(cells[-1][1]), row, message)
        look = self._model.looks.cached_look(message)
        if cells[0][0] == Column.GUTTER:
            self._paint_edge(painter, cells[0][1], look, message)
        if message == self._selection.current and cells[0][0] == Column.GUTTER:
            self._paint_bar(painter, cells[0][1])
        if not self._model.knows(message):
            self._paint_placeholder(painter, cells, message)
            return
        content = self._model.content(message)
        if content.gap is not None:
            cells = [cell for cell in cells if cell[0] == Column.GUTTER]
        locate = self.hits_in(message) if content.gap is None else None
        hits = self._paints.hits
        hits.current = message == self._selection.current
        hits_before = len(hits)
        self._paints.ink = f"highlight.{look.text}" if look.text else None
        for column, rect in cells:
            if content.gap is None:
                hits.locate = None if column in _NOT_SEARCHED else locate
                if column == Column.NUMBER:
                    self._paint_highlighted_number(painter, rect, content, look)
                else:
                    self._paint_cell(painter, rect, content, column)
            else:
                self._paint_rail(painter, rect, self._selection.chain.rail.mark(message))
        self._paints.ink = None
        if locate is not None and len(hits) == hits_before:
            self._highlight_number(painter, cells, content)
        hits.locate = None

    def _paint_placeholder(self, painter: QPainter, cells: list[tuple[int, QRect]], message: int) -> None:
        """Paints a row that is on its way: its number, and a bar in the place of its text."""
        for column, rect in cells:
            if column == Column.NUMBER:
                self._paint_figure(painter, rect, str(message + 1), "ink.tertiary")
            elif column == Column.MESSAGE:
                height = self._paints.font_metrics("body").xHeight()
                bar = QRect(rect.x() + self._paints.metrics.cell_padding, 0, rect.width() // 3, height)
                bar.moveTop(rect.center().y() - height // 2)
                painter.fillRect(bar, self._paints.theme.color("surface.hover"))

    def _highlight_number(self, painter: QPainter, cells: list[tuple[int, QRect]], content: RowContent) -> None:
        """Highlights the row's number if the hit is in hidden text."""
        self._paints.hits.locate = everything
        for rect in (rect for column, rect in cells if column == Column.NUMBER):
            self._paint_number(painter, rect, content)

    def _paint_ground(self, painter: QPainter, rect: QRect, row: int, message: int) -> None:
        theme = self._paints.theme
        if self._selection.is_selected(message):
            painter.fillRect(rect, theme.color("accent.wash" if self._focused else "accent.washdim"))
        elif row == self.hovered_row:
            painter.fillRect(rect, theme.color("surface.hover"))

    def _paint_edge(self, painter: QPainter, rect: QRect, look: Look, message: int) -> None:
        """Paints the highlight of a row: a bar at its left edge, and a tint up to its number."""
        if look.edge is None:
            return
        theme = self._paints.theme
        if not self._selection.is_selected(message):
            painter.fillRect(rect, theme.pill_fill(f"highlight.{look.edge}"))
        left = rect.x() + (self._paints.metrics.selection_bar if message == self._selection.current else 0)
        bar = QRect(left, rect.y(), round(_HIGHLIGHT_BAR_WIDTH * theme.zoom), rect.height())
        painter.fillRect(bar, theme.color(f"highlight.{look.edge}"))

    def _paint_highlighted_number(self, painter: QPainter, rect: QRect, content: RowContent, look: Look) -> None:
        """Paints the number, tinted in highlighted rows."""
        if look.edge is None:
            self._paint_number(painter, rect, content)
            return
        painter.fillRect(rect, self._paints.theme.pill_fill(f"highlight.{look.edge}"))
        self._paint_figure(painter, rect, content.number, f"highlight.{look.edge}")

    def _paint_bar(self, painter: QPainter, rect: QRect) -> None:
        bar = QRect(rect.x(), rect.y(), self._paints.metrics.selection_bar, rect.height())
        painter.fillRect(bar, self._paints.theme.color("accent.ring"))

    # Gutter

    def _paint_gutter(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        self._paint_sources(painter, rect, content)
        self._paint_rail(painter, rect, self._selection.chain.rail.mark(content.message))
        side = self._paints.metrics.icon_gutter
        if content.severity is not None:
            word = content.severity.word
            self._paints.icon(painter, word, f"severity.{word}", rect.right() + 1 - side, rect, side)
            if content.note:
                self._paint_note_beside(painter, rect, content)
        elif content.note:
            name = "mark" if content.note.marked else "comment"
            self._paints.icon(painter, name, "accent.text", rect.right() + 1 - side, rect, side)
        elif content.sent:
            self._paints.icon(painter, "sent", "accent.text", rect.right() + 1 - side, rect, side)

    def _paint_sources(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        """Paints a stripe in the source's colour; a message of several sources has one part for each."""
        shown = content.sources[:_MAX_STRIPES]
        if not shown:
            return
        theme = self._paints.theme
        left, wide = rect.x() + self._paints.metrics.selection_bar + 1, round(_STRIPE * theme.zoom)
        for place, source in enumerate(shown):
            top = rect.height() * place // len(shown)
            stop = rect.height() * (place + 1) // len(shown)
            painter.fillRect(QRect(left, rect.y() + top, wide, stop - top - 1), theme.color(token_of(source)))

    def _paint_note_beside(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        """Paints a mark beside a finding's icon, or as a folded corner if the rail is there."""
        if self._selection.chain.rail.mark(content.message) is None:
            name, side = "mark" if content.note.marked else "comment", self._paints.metrics.icon_gutter
            self._paints.icon(painter, name, "accent.text", rect.right() - 2 * side, rect, side)
            return
        side, top = round(_CORNER * self._paints.theme.zoom), QPointF(rect.x(), rect.y())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._paints.theme.color("accent.text"))
        painter.drawPolygon([top, top + QPointF(side, 0), top + QPointF(0, side)])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_rail(self, painter: QPainter, rect: QRect, mark: RailMark | None) -> None:
        if mark is None:
            return
        color = self._paints.theme.color("accent.ring")
        line = QColor(color)
        line.setAlphaF(_RAIL_ALPHA)
        zoom = self._paints.theme.zoom
        x, middle = rect.x() + round(10 * zoom), rect.y() + rect.height() // 2
        clear = round(5 * zoom) if mark.member else 0
        if mark.above:
            painter.fillRect(QRect(x - 1, rect.y(), 2, middle - clear - rect.y()), line)
        if mark.below:
            painter.fillRect(QRect(x - 1, middle + clear, 2, rect.bottom() + 1 - middle - clear), line)
        if not mark.member:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if mark.selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(QPointF(x, middle), 4 * zoom, 4 * zoom)
        else:
            painter.setPen(QPen(color, 1.5 * zoom))
            painter.setBrush(self._paints.theme.color("surface.base"))
            painter.drawEllipse(QPointF(x, middle), 2.8 * zoom, 2.8 * zoom)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_cell(self, painter: QPainter, rect: QRect, content: RowContent, column: int) -> None:
        if column < len(self._cells):
            self._cells[column](painter, rect, content)
            return
        text = self._model.field_text(content, column)
        if self._model.columns.is_figure(column):
            self._paint_figure(painter, rect, text, "ink.secondary")
        else:
            self._paint_words(painter, rect, text, "ink.secondary")

    # Numbers

    def _paint_number(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        self._paint_figure(painter, rect, content.number, "ink.tertiary")

    def _paint_time(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        took = self._model.took_ns(content)
        if took is not None and took > 0:
            self._paint_duration(painter, rect, took)
        self._paint_figure(painter, rect, self._model.time_text(content), "ink.secondary")

    def _paint_duration(self, painter: QPainter, rect: QRect, took_ns: int) -> None:
        """Paints a duration bar below the time, on a logarithmic scale from 1 ms to a minute."""
        share = min(1.0, math.log10(1 + took_ns / 1e6) / _LOG_FULL_BAR)
        pad, height = self._paints.metrics.cell_padding, max(1, round(_DURATION_BAR_HEIGHT * self._paints.theme.zoom))
        width = round(share * (rect.width() - 2 * pad))
        # Less would be a dot beside the time.
        if width > 4 * height:
            bar = QRect(rect.x() + pad, rect.bottom() - height, width, height)
            painter.fillRect(bar, self._paints.theme.color("line.strong"))

    def _paint_latency(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        self._paint_figure(painter, rect, content.latency, "ink.secondary")

    def _paint_size(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        self._paint_figure(painter, rect, content.size, "ink.secondary")

    def _paint_figure(self, painter: QPainter, rect: QRect, text: str, token: str) -> None:
        pad = self._paints.metrics.cell_padding
        if self._paints.is_wider("body", text, rect.width() - 2 * pad):
            self._paint_words(painter, rect, text, token)
        elif text:
            self._paints.draw_right(painter, "body", token, rect.right() + 1 - pad, rect, text)

    def _paint_words(self, painter: QPainter, rect: QRect, text: str, token: str) -> None:
        pad = self._paints.metrics.cell_padding
        self._paints.draw(painter, "body", token, rect.x() + pad, rect, text, rect.width() - 2 * pad)

    # Sender, kind and context

    def fits_ends(self, width: int, content: RowContent) -> bool:
        """Returns True if sender and receivers fit on one line of From -> To."""
        paints = self._paints
        names = paints.width("body", content.sender) + paints.width("body", content.receivers)
        return names + paints.width("body", " → ") <= width - 2 * paints.metrics.cell_padding

    def is_on_receivers(self, rect: QRect, position: QPoint, content: RowContent) -> bool:
        """Returns True for the receivers' part of a cell of From -> To: right of the sender, or below it."""
        if not self.fits_ends(rect.width(), content):
            return position.y() >= rect.center().y()
        paints = self._paints
        return position.x() > rect.x() + paints.metrics.cell_padding + paints.width("body", content.sender)

    def _paint_ends(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        """Paints sender and receivers on one line, or on two lines if one has no room for both."""
        paints, pad = self._paints, self._paints.metrics.cell_padding
        x, room = rect.x() + pad, rect.width() - 2 * pad
        if not content.receivers:
            paints.draw(painter, "body", "ink.primary", x, rect, content.sender, room, middle=True)
            return
        role, lines = "body", (rect, rect)
        if not self.fits_ends(rect.width(), content):
            half = rect.height() // 2
            role = "small"
            lines = (QRect(rect.x(), rect.y() + 1, rect.width(), half), rect.adjusted(0, half, 0, 0))
        # The ends of names differ, as of two sub-agents of one type.
        drawn = paints.draw(painter, role, "ink.primary", x, lines[0], content.sender, room, middle=True)
        space = paints.width(role, " ")
        if lines[0] is rect:
            x, room = x + drawn + space, room - drawn - space
        arrow = paints.draw(painter, role, "ink.tertiary", x, lines[1], "→", room) + space
        token = "ink.tertiary" if content.everyone else "ink.primary" if lines[0] is rect else "ink.secondary"
        paints.draw(painter, role, token, x + arrow, lines[1], content.receivers, room - arrow, middle=True)

    def _paint_kind(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        paints, pad = self._paints, self._paints.metrics.cell_padding
        x = rect.x() + pad
        if content.log_only:
            icon, token = "ri.key-2-line", "family.control"
        elif content.unreadable:
            icon, token = icons.UNREADABLE_ICON, "severity.error"
        elif not content.kind:
            icon, token = icons.UNKNOWN_ICON, "family.unknown"
        else:
            icon, token = icons.kind_icon(content.kind), icons.kind_token(content.kind)
        x += paints.icon(painter, icon, token, x, rect) + 4
        # The next column has its own padding.
        room = rect.right() + 1 - x
        # The icon and the tooltip name the kind.
        if room < round(_LEAST_KIND_ROOM * paints.theme.zoom):
            return
        namespace = content.namespace
        by = self._model.rows.sorted_by
        # A sort by kind must show the whole kind.
        if by is not None and by.field == "kind":
            namespace = namespace or content.kind.removesuffix(content.word)
            least = min(paints.width("body", content.word), room * 2 // 5)
            if namespace and paints.width("body", namespace) > room - least:
                slash = paints.width("body", "/")
                namespace = paints.elided("body", namespace.rstrip("/"), room - least - slash) + "/"
        elif paints.width("body", namespace + content.word) > room - pad:
            namespace = ""
        if namespace:
            drawn = paints.draw(painter, "body", "ink.tertiary", x, rect, namespace, room)
            x, room = x + drawn, room - drawn
        paints.draw(painter, "body", "ink.primary", x, rect, content.word, room)

    def _paint_context(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        if not content.leaf:
            return
        paints, pad = self._paints, self._paints.metrics.cell_padding
        x, room = rect.x() + pad, rect.width() - 2 * pad
        above = f"{content.ancestors} / " if content.ancestors else ""
        if above and paints.width("body", above) + paints.width("body", content.leaf) > room:
            above = "…/"
        if above:
            drawn = paints.draw(painter, "body", "ink.tertiary", x, rect, above, room)
            x, room = x + drawn, room - drawn
        paints.draw(painter, "body", "ink.secondary", x, rect, content.leaf, room)

    # Message

    def chevron_rect(self, rect: QRect) -> QRect:
        """Returns the rectangle of a collapsed result's chevron in its Message cell."""
        side = self._paints.metrics.icon_row
        return QRect(rect.x() + self._paints.metrics.cell_padding, rect.y() + (rect.height() - side) // 2, side, side)

    def _paint_message(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        paints, pad = self._paints, self._paints.metrics.cell_padding
        x, end = rect.x() + pad, rect.right() + 1 - pad
        if content.expandable:
            name = "collapse" if self._model.is_expanded(content.message) else "expand"
            x += paints.icon(painter, name, "ink.secondary", self.chevron_rect(rect).x(), rect) + 2
        for badge in self._model.badges(content):
            x += self._paint_badge(painter, badge, x, rect)
        end = self._paint_aside(painter, x, end, rect, content)
        start = x
        for run in content.runs:
            if (
                x > start
                and end - x < _MIN_PART_WIDTH
                and paints.is_wider(_STYLE_LOOKS[run.style][0], run.text, end - x)
            ):
                break
            x += self._paint_run(painter, run, x, end - x, rect) + _GAP

    def _paint_badge(self, painter: QPainter, badge: Badge, x: int, rect: QRect) -> int:
        return self._paints.badge(painter, badge, x, rect) + self._paints.metrics.cell_padding

    def _paint_aside(self, painter: QPainter, x: int, end: int, rect: QRect, content: RowContent) -> int:
        """Paints the text at the right end; returns the right limit for the text before it."""
        paints, state = self._paints, self._model.state(content)
        # By the column's width, so that all rows use the same form.
        roomy = round(_FULL_STATE_WIDTH * paints.theme.zoom)
        text = content.aside
        if content.stream is not None and rect.width() < roomy:
            text = content.stream.short
        if content.awaits_since is not None and (waiting := self._model.waiting_text(content)):
            text = self.waiting[content.message] = waiting
        if state is not None and not text and state.token != QUIET_COLOR:
            word = state.word if rect.width() >= roomy else state.short
            width = paints.pill_width(word)
            if width <= (end - x) // 2:
                paints.pill(painter, state.token, state.glyph, word, end - width, rect)
                return end - width - _GAP
        if state is not None and not text:
            text = state.word if rect.width() >= roomy else state.short
        if not text:
            return end
        width = min(paints.width("small", text), max(0, (end - x) // 2))
        paints.draw(painter, "small", "ink.tertiary", end - width, rect, text, width)
        return end - width - _GAP

    def _paint_run(self, painter: QPainter, run: TextRun, x: int, room: int, rect: QRect) -> int:
        paints = self._paints
        if run.style is Style.ERROR:
            # The mark stands closer to its text than other parts do.
            return paints.icon(painter, "error", "severity.error", x, rect) - _GAP + 6
        role, token = _STYLE_LOOKS[run.style]
        if run.hidden:
            return paints.draw_chips(painter, role, token, x, rect, run.text, room)
        drawn = paints.draw(painter, role, token, x, rect, run.text, room)
        if run.style is Style.SECRET and room - drawn > 20:
            drawn += 4 + paints.icon(painter, "hidden", "ink.tertiary", x + drawn + 4, rect)
        return drawn
