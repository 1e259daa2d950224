"""Paints rows of the panel Model sees: change, No., role, text, tokens and reason."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.ui.look import icons
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.panels.details.state_pills import paint_pill, pill_width
from inspector.ui.panels.list_delegate import LEFT, RIGHT, ListDelegate
from inspector.ui.panels.list_view import ListView
from inspector.ui.panels.model_sees.model import ROLE_ICONS, EntriesModel, EntryLine

_GAP = 12
_MARK, _ROLE, _TOKENS = 18, 84, 70
_REASON_MIN_WIDTH, _REASON_SHARE, _REASON_MIN_VIEW_WIDTH = 150, 0.3, 520
"""Least width, share, and least view width of the reason column, at 100 %."""
_MARKS = {
    "came": ("ri.add-line", "badge.consumed"),
    "went": ("ri.subtract-line", "severity.error"),
    "collapsed": ("ri.archive-line", "badge.collapsed"),
}
TITLES = ("No.", "Role", "Content", "Tokens", "Reason (* assumed)")
_ASSUMED_TIP = "A star marks an assumed reason: clients do not report the context they give to their model."
_ARROWS = {True: "ri.arrow-down-line", False: "ri.arrow-up-line"}
"""Arrow at the sorted column, by descending."""
STAR = " *"
"""Marks an assumed reason."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Left and right edges of columns, in pixels from the left edge.

    Attributes:
        mark: sign of a change.
        number, number_end, role, text, text_end, tokens, tokens_end, why, why_end: as named; `why` equals `why_end` in
            narrow views.
    """

    mark: int
    number: int
    number_end: int
    role: int
    text: int
    text_end: int
    tokens: int
    tokens_end: int
    why: int
    why_end: int


def columns_of(theme: Theme, width: int, largest: int) -> Columns:
    """Returns the column edges for a width.

    Args:
        theme: source of grid and fonts.
        width: of the view.
        largest: the largest number shown; sets the width of its column.
    """
    zoom = theme.zoom
    gap = round(_GAP * zoom)
    mark = theme.metrics.pane_padding - round(4 * zoom)
    number = mark + round(_MARK * zoom)
    digits = max(3, len(str(largest)))
    number_end = number + QFontMetrics(theme.font("body")).horizontalAdvance("0" * digits)
    role = number_end + gap
    text = role + round(_ROLE * zoom) + gap
    end = width - theme.metrics.pane_padding
    why = (
        max(round(_REASON_MIN_WIDTH * zoom), round(width * _REASON_SHARE))
        if width >= _REASON_MIN_VIEW_WIDTH * zoom
        else 0
    )
    tokens_end = end - why - (gap if why else 0)
    tokens = tokens_end - round(_TOKENS * zoom)
    return Columns(mark, number, number_end, role, text, tokens - gap, tokens, tokens_end, end - why, end)


class EntryDelegate(ListDelegate):
    """Painter of one row."""

    def __init__(self, model: EntriesModel, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(theme_controller, parent)
        self._model = model

    @override
    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        line, theme = self._model.line(row), self._themes.theme
        at = columns_of(theme, cell.width(), self._model.rows.last + 1)
        left, is_in = cell.left(), line.entry.included
        if line.mark:
            icon, token = _MARKS[line.mark]
            self._icon(painter, icon, token, left + at.mark - 2, cell, 14)
        number = QRect(left + at.number, cell.top(), at.number_end - at.number, cell.height())
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.tertiary"))
        painter.drawText(number, RIGHT, line.number)
        ink = "ink.secondary" if is_in else "ink.tertiary"
        self._icon(painter, ROLE_ICONS[line.entry.role], ink, left + at.role, cell, 14)
        x = left + at.role + round(20 * self._zoom)
        self._draw(painter, "body", ink, x, cell, line.role, left + at.text - x)
        self._paint_text(painter, cell, left + at.text, left + at.text_end, line)
        tokens = QRect(left + at.tokens, cell.top(), at.tokens_end - at.tokens, cell.height())
        self._paint_tokens(painter, cell, tokens, line)
        if at.why < at.why_end:
            self._paint_reason(painter, cell, left + at.why, at.why_end - at.why, line)

    def _paint_reason(self, painter: QPainter, cell: QRect, x: int, width: int, line: EntryLine) -> None:
        """Paints the reason; an assumed one keeps its star even if the text is cut."""
        ink = "ink.secondary" if line.entry.included else "ink.tertiary"
        # The star has its width reserved, so that eliding the reason keeps it.
        star = self._metrics["body"].horizontalAdvance(STAR) if line.entry.assumed else 0
        x += self._draw(painter, "body", ink, x, cell, line.entry.reason, width - star)
        if star:
            self._draw(painter, "body", "ink.tertiary", x, cell, STAR, 2 * star)

    def _paint_text(self, painter: QPainter, cell: QRect, x: int, end: int, line: EntryLine) -> None:
        ink = "ink.primary" if line.entry.included and not line.entry.collapsed else "ink.tertiary"
        theme = self._themes.theme
        for pill in line.pills:
            wide, high = pill_width(theme, pill), theme.metrics.badge
            if x + wide < end:
                top = cell.top() + (cell.height() - high) / 2
                paint_pill(painter, theme, QRectF(x, top, wide, high), pill)
                x += wide + round(8 * self._zoom)
        self._draw(painter, "body", ink, x, cell, line.text, end - x)

    def _paint_tokens(self, painter: QPainter, cell: QRect, box: QRect, line: EntryLine) -> None:
        """Paints the number over a faint bar, scaled to the largest listed entry."""
        theme = self._themes.theme
        if line.share > 0:
            # Small entries keep a visible bar.
            width = max(1, round(line.share * box.width()))
            bar = QRect(box.right() + 1 - width, cell.top() + 4, width, cell.height() - 8)
            spared = line.change is not None and line.change < 0
            painter.fillRect(bar, theme.pill_fill("badge.consumed" if spared else "accent.ring"))
        counting = line.entry.included and line.entry.tokens is None
        painter.setFont(theme.font("small" if counting else "body"))
        painter.setPen(theme.color("ink.tertiary" if counting or line.change == 0 else "ink.primary"))
        painter.drawText(box.adjusted(0, 0, -round(4 * self._zoom), 0), RIGHT, line.tokens)


class ColumnHeads(QWidget):
    """Column titles; a click on Tokens lists the largest entries first, a click on No. the oldest.

    Signals:
        order_requested(bool): True for the largest first, False for the oldest.
    """

    order_requested = Signal(bool)

    def __init__(self, model: EntriesModel, view: ListView, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._model, self._view, self._themes = model, view, themes
        self.setObjectName("modelSeesColumns")
        self.setAccessibleName("Columns: " + ", ".join(TITLES))
        self.setMouseTracking(True)
        model.rows_settled.connect(self.update)
        # The scroll bar changes the width of the columns.
        view.verticalScrollBar().rangeChanged.connect(self.update)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        self.setFixedHeight(self._themes.theme.metrics.column_head)

    @property
    def titles(self) -> tuple[str, ...]:
        """Current column titles."""
        return tuple("Change" if title == "Tokens" and self._model.rows.change else title for title in TITLES)

    def _columns(self) -> Columns:
        return columns_of(self._themes.theme, self._view.viewport().width(), self._model.rows.last + 1)

    def _order_at(self, x: float) -> bool | None:
        """Returns the order for a click at `x`: True for largest first, False for oldest first, None for no column."""
        at, half = self._columns(), round(_GAP * self._themes.theme.zoom) // 2
        if at.tokens - half <= x < at.tokens_end + half:
            return True
        return False if x < at.number_end + half else None

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        asked = self._order_at(event.position().x())
        if event.button() is Qt.MouseButton.LeftButton and asked is not None:
            self.order_requested.emit(asked and not self._model.rows.by_size)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        asked = self._order_at(event.position().x())
        tips = {True: "Sort largest first, or oldest first (S)", False: "Oldest first", None: _ASSUMED_TIP}
        self.setToolTip(tips[asked])
        self.setCursor(Qt.CursorShape.ArrowCursor if asked is None else Qt.CursorShape.PointingHandCursor)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, rows = self._themes.theme, self._model.rows
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface.base"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))
        if not len(rows):
            return
        metrics = QFontMetrics(theme.font("column"))
        painter.setFont(theme.font("column"))
        painter.setPen(theme.color("ink.secondary"))
        at = self._columns()
        pad = round(4 * theme.zoom)
        boxes = (
            (0, at.number_end, RIGHT), (at.role, at.text, LEFT), (at.text, at.text_end, LEFT),
            (at.tokens, at.tokens_end - pad, RIGHT), (at.why, at.why_end, LEFT),
        )  # fmt: skip
        sorted_by = 3 if rows.by_size else 0
        for place, (title, (start, end, flags)) in enumerate(zip(self.titles, boxes, strict=True)):
            if end <= start:
                continue
            shown = metrics.elidedText(title, Qt.TextElideMode.ElideRight, end - start)
            painter.drawText(QRect(start, 0, end - start, self.height()), flags, shown)
            if place == sorted_by:
                side = round(12 * theme.zoom)
                arrow = icons.pixmap(_ARROWS[rows.by_size], "ink.secondary", side, self.devicePixelRatioF())
                left = end - metrics.horizontalAdvance(shown) - side - 1
                painter.drawPixmap(max(0, left), (self.height() - side) // 2, arrow)
