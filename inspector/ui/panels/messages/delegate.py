"""Paints the rows of the message table, one method per column; `PaintCache` and `RowContent` prepare all else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem
from typing_extensions import override

from inspector.filters.highlight import Look
from inspector.present.badges import Badge
from inspector.present.message_columns import Column
from inspector.present.message_phrase import Style, TextRun
from inspector.present.message_row import RowContent
from inspector.ui.look import icons
from inspector.ui.look.hit_highlight import Locate, everything
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.panels.messages.chain import ChainRail, RailMark
from inspector.ui.panels.messages.model import MessageTableModel

_STYLE_LOOKS: dict[Style, tuple[str, str]] = {
    Style.TEXT: ("body", "ink.primary"),
    Style.SECONDARY: ("body", "ink.secondary"),
    Style.TERTIARY: ("body", "ink.tertiary"),
    Style.MONO: ("mono-row", "ink.primary"),
    Style.MONO_SECONDARY: ("mono-row", "ink.secondary"),
    Style.SECRET: ("body", "ink.tertiary"),
    Style.ERROR: ("body", "severity.error"),
}
"""Part of the Message column to (type role, colour)."""
_GAP = 10
"""Between parts of the Message column."""
_RAIL_ALPHA = 0.45
_EDGE = 3
"""Width of the bar of a highlighted row, in pixels at 100 %."""
_CORNER = 8
_LEAST = 28
"""Less room than this shows no part of the Message column but the first: dots alone tell nothing."""
_NOT_SEARCHED = frozenset((Column.GUTTER, Column.NUMBER, Column.TIME, Column.LATENCY, Column.SIZE))
"""What these say is not written in the message."""


class RowState(Protocol):
    """What the view knows of its rows."""

    hovered_row: int
    selected_message: int | None
    wash: bool
    """The view has the focus, so that the selection is washed and not dim."""
    rail: ChainRail

    def is_selected(self, message: int) -> bool:
        """Whether a message is one of those selected."""
        ...

    def lit(self, message: int) -> Locate | None:
        """What is lit in a message's row; None for nothing."""
        ...


class MessageDelegate(QStyledItemDelegate):
    """Paints cells; knows nothing about input."""

    def __init__(
        self, model: MessageTableModel, state: RowState, paints: PaintCache, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._state = state
        self.paints = paints
        self.waiting_painted = False
        """A row was painted that says how long it waits, so that it wants to be painted again."""
        self._cells: tuple[Callable[[QPainter, QRect, RowContent], None], ...] = (
            self._paint_gutter, self._paint_number, self._paint_time, self._paint_ends, self._paint_kind,
            self._paint_context, self._paint_message, self._paint_latency, self._paint_size,
        )  # fmt: skip

    def use_paints(self, paints: PaintCache) -> None:
        """Paint with other fonts and colours from now on."""
        self.paints = paints

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(80, self.paints.metrics.row)

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row, column = index.row(), index.column()
        message, part = self._model.at(row)
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]  PySide's stubs lack it
        if part:
            # Qt washes a selected line from edge to edge; the block that is painted over it is narrower.
            painter.fillRect(rect, self.paints.theme.color("surface.base"))
            if column == Column.GUTTER:
                self._paint_rail(painter, rect, self._state.rail.mark(message, part))
            return
        self._paint_ground(painter, rect, row, message)
        look = self._model.highlights.look(message)
        if column == Column.GUTTER:
            self._paint_edge(painter, rect, look, message)
        if message == self._state.selected_message and column == Column.GUTTER:
            self._paint_bar(painter, rect)
        content = self._model.content(message)
        if content.gap is None:
            self.paints.ink = f"highlight.{look.text}" if look.text else None
            if column == Column.NUMBER:
                self._paint_standing_out(painter, rect, content, look)
            else:
                self._paint_cell(painter, rect, content, column)
            self.paints.ink = None
        elif column == Column.GUTTER:
            self._paint_rail(painter, rect, self._state.rail.mark(message))

    def paint_row(self, painter: QPainter, row: int, cells: list[tuple[int, QRect]]) -> None:
        """Paint a message's row at once, which is what `paint` does cell by cell.

        Args:
            painter: of the viewport.
            row: its place in the table.
            cells: the columns shown, gutter first, and where they stand in this row.
        """
        message, part = self._model.at(row)
        if part:
            for column, rect in cells:
                if column == Column.GUTTER:
                    self._paint_rail(painter, rect, self._state.rail.mark(message, part))
            return
        self._paint_ground(painter, cells[0][1].united(cells[-1][1]), row, message)
        look = self._model.highlights.look(message)
        if cells[0][0] == Column.GUTTER:
            self._paint_edge(painter, cells[0][1], look, message)
        if message == self._state.selected_message and cells[0][0] == Column.GUTTER:
            self._paint_bar(painter, cells[0][1])
        content = self._model.content(message)
        if content.gap is not None:
            cells = [cell for cell in cells if cell[0] == Column.GUTTER]
        locate = self._state.lit(message) if content.gap is None else None
        hits = self.paints.hits
        hits.current = message == self._state.selected_message
        lit_before = len(hits)
        self.paints.ink = f"highlight.{look.text}" if look.text else None
        for column, rect in cells:
            if content.gap is None:
                hits.locate = None if column in _NOT_SEARCHED else locate
                if column == Column.NUMBER:
                    self._paint_standing_out(painter, rect, content, look)
                else:
                    self._paint_cell(painter, rect, content, column)
            else:
                self._paint_rail(painter, rect, self._state.rail.mark(message))
        self.paints.ink = None
        if locate is not None and len(hits) == lit_before:
            self._light_number(painter, cells, content)
        hits.locate = None

    def _light_number(self, painter: QPainter, cells: list[tuple[int, QRect]], content: RowContent) -> None:
        """What is looked for is in what the row does not show: its number is lit."""
        self.paints.hits.locate = everything
        for column, rect in cells:
            if column == Column.NUMBER:
                self._paint_number(painter, rect, content)

    def _paint_ground(self, painter: QPainter, rect: QRect, row: int, message: int) -> None:
        theme = self.paints.theme
        if self._state.is_selected(message):
            painter.fillRect(rect, theme.color("accent.wash" if self._state.wash else "accent.washdim"))
        elif row == self._state.hovered_row:
            painter.fillRect(rect, theme.color("surface.hover"))

    def _paint_edge(self, painter: QPainter, rect: QRect, look: Look, message: int) -> None:
        """A row that stands out: a bar at its left edge, and one tint from there to behind its number."""
        if look.edge is None:
            return
        theme = self.paints.theme
        if not self._state.is_selected(message):
            painter.fillRect(rect, theme.pill_fill(f"highlight.{look.edge}"))
        left = rect.x() + (self.paints.metrics.selection_bar if message == self._state.selected_message else 0)
        bar = QRect(left, rect.y(), round(_EDGE * theme.zoom), rect.height())
        painter.fillRect(bar, theme.color(f"highlight.{look.edge}"))

    def _paint_standing_out(self, painter: QPainter, rect: QRect, content: RowContent, look: Look) -> None:
        """The number, which is tinted where the row stands out."""
        if look.edge is None:
            self._paint_number(painter, rect, content)
            return
        painter.fillRect(rect, self.paints.theme.pill_fill(f"highlight.{look.edge}"))
        self._paint_figure(painter, rect, content.number, f"highlight.{look.edge}")

    def _paint_bar(self, painter: QPainter, rect: QRect) -> None:
        bar = QRect(rect.x(), rect.y(), self.paints.metrics.selection_bar, rect.height())
        painter.fillRect(bar, self.paints.theme.color("accent.ring"))

    # Gutter

    def _paint_gutter(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        self._paint_rail(painter, rect, self._state.rail.mark(content.message))
        side = self.paints.metrics.icon_gutter
        if content.severity is not None:
            word = content.severity.word
            self.paints.icon(painter, word, f"severity.{word}", rect.right() + 1 - side, rect, side)
            if content.note:
                self._paint_beside(painter, rect, content)
        elif content.note:
            name = "mark" if content.note.marked else "comment"
            self.paints.icon(painter, name, "accent.text", rect.right() + 1 - side, rect, side)
        elif content.sent:
            self.paints.icon(painter, "sent", "accent.text", rect.right() + 1 - side, rect, side)

    def _paint_beside(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        """A mark whose place is taken by a finding: beside it, or where the rail passes there, as a folded corner."""
        if self._state.rail.mark(content.message) is None:
            name, side = "mark" if content.note.marked else "comment", self.paints.metrics.icon_gutter
            self.paints.icon(painter, name, "accent.text", rect.right() - 2 * side, rect, side)
            return
        side, top = round(_CORNER * self.paints.theme.zoom), QPointF(rect.x(), rect.y())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.paints.theme.color("accent.text"))
        painter.drawPolygon([top, top + QPointF(side, 0), top + QPointF(0, side)])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_rail(self, painter: QPainter, rect: QRect, mark: RailMark | None) -> None:
        if mark is None:
            return
        color = self.paints.theme.color("accent.ring")
        line = QColor(color)
        line.setAlphaF(_RAIL_ALPHA)
        zoom = self.paints.theme.zoom
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
            painter.setBrush(self.paints.theme.color("surface.base"))
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

    # Figures

    def _paint_number(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        self._paint_figure(painter, rect, content.number, "ink.tertiary")

    def _paint_time(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        self._paint_figure(painter, rect, self._model.time_text(content), "ink.secondary")

    def _paint_latency(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        self._paint_figure(painter, rect, content.latency, "ink.secondary")

    def _paint_size(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        self._paint_figure(painter, rect, content.size, "ink.secondary")

    def _paint_figure(self, painter: QPainter, rect: QRect, text: str, token: str) -> None:
        pad = self.paints.metrics.cell_padding
        if self.paints.is_wider("body", text, rect.width() - 2 * pad):
            self._paint_words(painter, rect, text, token)
        elif text:
            self.paints.draw_right(painter, "body", token, rect.right() + 1 - pad, rect, text)

    def _paint_words(self, painter: QPainter, rect: QRect, text: str, token: str) -> None:
        pad = self.paints.metrics.cell_padding
        self.paints.draw(painter, "body", token, rect.x() + pad, rect, text, rect.width() - 2 * pad)

    # Who and what

    def ends_split(self, width: int, content: RowContent) -> tuple[int, int]:
        """Widths for sender and receivers: both keep half if too long, else the shorter is whole."""
        paints = self.paints
        room = width - 2 * paints.metrics.cell_padding - paints.width("body", " → ")
        sender, receivers = paints.width("body", content.sender), paints.width("body", content.receivers)
        if sender + receivers <= room:
            return sender, receivers
        half = room // 2
        if sender <= half:
            return sender, room - sender
        if receivers <= half:
            return room - receivers, receivers
        return half, room - half

    def _paint_ends(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        paints, pad = self.paints, self.paints.metrics.cell_padding
        x = rect.x() + pad
        if not content.receivers:
            paints.draw(painter, "body", "ink.primary", x, rect, content.sender, rect.width() - 2 * pad)
            return
        first, second = self.ends_split(rect.width(), content)
        x += paints.draw(painter, "body", "ink.primary", x, rect, content.sender, first)
        space = paints.width("body", " ")
        x += space
        arrow = paints.width("body", "→")
        paints.draw(painter, "body", "ink.tertiary", x, rect, "→", arrow)
        token = "ink.tertiary" if content.everyone else "ink.primary"
        paints.draw(painter, "body", token, x + arrow + space, rect, content.receivers, second)

    def _paint_kind(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        paints, pad = self.paints, self.paints.metrics.cell_padding
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
        room = rect.right() + 1 - x  # the next column brings its own padding
        namespace = content.namespace
        by = self._model.rows.sorted_by
        if by is not None and by.field.name == "kind":  # it has to be seen what the order goes by
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
        paints, pad = self.paints, self.paints.metrics.cell_padding
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
        """Where the disclosure of a collapsed result stands in its Message cell."""
        side = self.paints.metrics.icon_row
        return QRect(rect.x() + self.paints.metrics.cell_padding, rect.y() + (rect.height() - side) // 2, side, side)

    def _paint_message(self, painter: QPainter, rect: QRect, content: RowContent) -> None:
        paints, pad = self.paints, self.paints.metrics.cell_padding
        x, end = rect.x() + pad, rect.right() + 1 - pad
        if content.collapsed:
            name = "collapse" if self._model.is_expanded(content.message) else "expand"
            x += paints.icon(painter, name, "ink.secondary", self.chevron_rect(rect).x(), rect) + 2
        for badge in self._model.badges(content):
            x += self._paint_badge(painter, badge, x, rect)
        end = self._paint_aside(painter, x, end, rect, content)
        start = x
        for run in content.runs:
            if x > start and end - x < _LEAST and paints.is_wider(_STYLE_LOOKS[run.style][0], run.text, end - x):
                break
            x += self._paint_run(painter, run, x, end - x, rect) + _GAP

    def _paint_badge(self, painter: QPainter, badge: Badge, x: int, rect: QRect) -> int:
        return self.paints.badge(painter, badge, x, rect) + self.paints.metrics.cell_padding

    def _paint_aside(self, painter: QPainter, x: int, end: int, rect: QRect, content: RowContent) -> int:
        """Words at the right end; returns where the text before them has to stop."""
        text = content.aside
        if content.awaits_since is not None:
            text = self._model.waiting_text(content)
            self.waiting_painted = self.waiting_painted or bool(text)
        if not text:
            return end
        paints = self.paints
        width = min(paints.width("small", text), max(0, (end - x) // 2))
        paints.draw(painter, "small", "ink.tertiary", end - width, rect, text, width)
        return end - width - _GAP

    def _paint_run(self, painter: QPainter, run: TextRun, x: int, room: int, rect: QRect) -> int:
        paints = self.paints
        if run.style is Style.ERROR:
            return paints.icon(painter, "error", "severity.error", x, rect) - _GAP + 6
        role, token = _STYLE_LOOKS[run.style]
        if run.hidden:
            return paints.draw_chips(painter, role, token, x, rect, run.text, room)
        drawn = paints.draw(painter, role, token, x, rect, run.text, room)
        if run.style is Style.SECRET and room - drawn > 20:
            drawn += 4 + paints.icon(painter, "hidden", "ink.tertiary", x + drawn + 4, rect)
        return drawn

    def paint_ring(self, painter: QPainter, rect: QRect) -> None:
        """The ring around the current row, where it is not the selected one."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.paints.theme.color("accent.ring"), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(rect).adjusted(0.75, 0.75, -0.75, -0.75), 4, 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def paint_cell_ring(self, painter: QPainter, rect: QRect) -> None:
        """A thin line around the current cell: what its menu and its keys take."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.paints.theme.color("accent.ring"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(rect).adjusted(1.5, 1.5, -1.5, -1.5), 3, 3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
