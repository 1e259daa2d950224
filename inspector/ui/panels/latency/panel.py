"""The latency panel: head, table and menu. Updated once a second at most and only while visible."""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QHideEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.analysis.views.latency.latency_tally import LatencyTally
from inspector.document.document import CaptureDocument
from inspector.filters.strings import quote
from inspector.present import formats
from inspector.ui import budgets
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.section import Segments
from inspector.ui.panels.figures_table import FiguresTable
from inspector.ui.panels.latency.model import Column, LatencyModel
from inspector.ui.panels.list_panel import HeadedPanel
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.refresh_throttle import RefreshThrottle

# The widest texts; 8 is the widest digit in most fonts.
_WIDEST = {
    Column.ANSWERS: "88,888,888", Column.P50: "888.8 s", Column.P95: "888.8 s", Column.P99: "888.8 s",
    Column.LONGEST: "88 min 88 s", Column.SPREAD: 84, Column.SLOWEST: "8888888",
}  # fmt: skip


class LatencyView(FiguresTable):
    """The table of latencies.

    Signals:
        message_requested(int): go to the slowest answer of a row.
    """

    message_requested = Signal(int)

    def __init__(self, model: LatencyModel, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(model, themes, parent, name="latency", widths=_WIDEST)
        self._model = model
        self._on_link = False

    @override
    def paint_cell(self, painter: QPainter, box: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        column = self.column_at(index)
        if column is Column.SPREAD:
            self._paint_spread(painter, box, self._model.rows[index.row()].spread)
            return
        font = QFont(self.name_font(mono=column is Column.NAME and self._model.by == "tool"))
        font.setUnderline(column is Column.SLOWEST and index.row() == self.hovered_row and self._on_link)
        text = str(index.data() or "")
        if column is Column.NAME:
            text = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideMiddle, box.width())
        painter.setFont(font)
        token = {Column.NAME: "ink.primary", Column.SLOWEST: "accent.text"}.get(column, "ink.secondary")
        painter.setPen(self._themes.theme.color(token))
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        painter.drawText(box, int(side | Qt.AlignmentFlag.AlignVCenter), text)

    def _paint_spread(self, painter: QPainter, box: QRect, spread: tuple[int, ...]) -> None:
        """Paints a bar per time span, scaled to the highest; any answer is visible."""
        theme, most = self._themes.theme, max(spread, default=0)
        if not most:
            return
        room = box.adjusted(0, round(4 * theme.zoom), 0, -round(4 * theme.zoom))
        step = max(2, room.width() // len(spread))
        left = room.right() + 1 - step * len(spread)
        painter.fillRect(left, room.bottom() + 1, step * len(spread) - 1, 1, theme.color("line.strong"))
        for place, count in enumerate(spread):
            high = max(2, round(room.height() * count / most)) if count else 0
            painter.fillRect(left + place * step, room.bottom() + 1 - high, step - 1, high, theme.color("accent.ring"))

    # Keys and pointer

    @override
    def enter_row(self, row: int) -> None:
        self.message_requested.emit(self._model.rows[row].slowest)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and index.isValid() and index.column() == Column.SLOWEST:
            self.message_requested.emit(self._model.rows[index.row()].slowest)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and index.column() != Column.SLOWEST:
            self.filter_requested.emit(self.filter_for(index.row()), "replace")

    @override
    def hover(self, place: QPoint | None) -> None:
        super().hover(place)
        index = self.indexAt(place) if place is not None else QModelIndex()
        on_link = index.isValid() and index.column() == Column.SLOWEST
        if on_link != self._on_link:
            self._on_link = on_link
            # Only the column of the slowest answer is a link.
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if on_link else Qt.CursorShape.ArrowCursor)
            self.viewport().update()

    # Menu

    def filter_for(self, row: int) -> str:
        name = quote(self._model.rows[row].name)
        if self._model.by == "model":
            return f"model == {name}"
        return f"{'tool' if self._model.by == 'tool' else 'from'} == {name} && latency"

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        one, text = self._model.rows[row], self.filter_for(row)
        go = menu.addAction(f"Go to the slowest answer, No. {one.slowest + 1}")
        go.triggered.connect(lambda: self.message_requested.emit(one.slowest))
        menu.addSeparator()
        add_filter_actions(menu, text, self.filter_requested.emit)
        if self._model.by == "model":  # models have no messages with a latency
            return
        slower = menu.addAction("Filter by answers slower than p95")
        slower.triggered.connect(lambda: self.filter_requested.emit(f"{text} > {one.latency.p95:g}", "replace"))


_BY = {"By tool": "tool", "By model": "model", "By participant": "participant"}


class LatencyPanel(HeadedPanel):
    """Latencies in one document.

    Attributes:
        head, model, view: its parts.
    """

    def __init__(
        self, document: CaptureDocument, theme_controller: ThemeController, parent: QWidget | None = None
    ) -> None:
        super().__init__(document, "Latency", parent)
        self._tally: LatencyTally | None = None
        self.model = LatencyModel(self)
        self.head = PaneHead(theme_controller, "Latency", name="latencyHead", parent=self)
        self.choice = Segments(theme_controller, list(_BY), "latencyBy", "Latency by", self.head)
        self.choice.choose("By tool")
        self.choice.chosen.connect(self._show)
        self.head.add_widget(self.choice)
        self.head.add_button("clear", "Close", name="latencyClose").clicked.connect(self.close_requested)
        self.view = LatencyView(self.model, theme_controller, self)
        self.view.message_requested.connect(self.message_requested)
        self.view.filter_requested.connect(self.filter_requested)
        self.stack(self.head, self.view)
        self.throttle = RefreshThrottle(self, self._refresh_steps, lambda: budgets.current.figures_ms)

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Takes in a flush of the document. O(changed messages); skipped while hidden."""
        if self._tally is not None:
            self._tally.note_changed(changes.changed)
            if self._tally.is_behind:
                self.throttle.request()

    def stop(self) -> None:
        """Stops reading the document."""
        self.throttle.stop()
        self._tally = None

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tally = None  # a hidden panel discards it rather than keep it up to date
        self.throttle.stale = True

    def _refresh_steps(self) -> Iterator[int]:
        """Reads messages in slices, and shows the figures once all were read."""
        tally = self._tally = self._tally or LatencyTally(self._document.analysis)
        until = time.perf_counter() + budgets.current.background_slice_s
        while not tally.step():
            if time.perf_counter() > until:
                yield 0
                until = time.perf_counter() + budgets.current.background_slice_s
        self._show()

    def _show(self, *_chosen: str) -> None:
        tally = self._tally
        if tally is None:
            return
        by = _BY[self.choice.choice]
        rows = tally.by(by)
        self.view.set_empty_text(
            f"No answer with known times in {formats.count_of(len(self._document.analysis), 'message')}."
        )
        self.model.show_rows(rows, by)
        rare = (Column.P95, Column.P99)
        said = {
            column for column in rare if any(one.latency.percentile(column.name.lower()) is not None for one in rows)
        }
        self.view.leave_out({int(column) for column in rare if column not in said})
        self.view.viewport().update()
        self.head.set_count(formats.count_of(sum(one.latency.count for one in rows), "answer") if rows else "")
