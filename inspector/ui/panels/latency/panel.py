"""The latency panel: head, table and menu. Updated once a second at most and only while visible."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.engine.requests.filters import quote
from inspector.engine.requests.latency import Grouping, Latencies, LatencyFigures
from inspector.present import formats
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.section import Segments
from inspector.ui.panels.latency.model import Column, LatencyModel
from inspector.ui.panels.list_panel import HeadedPanel
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.latest_answer import Client, LatestAnswer
from inspector.ui.widgets.rows.table import TableView

# The widest texts; 8 is the widest digit in most fonts.
_WIDEST = {
    Column.ANSWERS: "88,888,888", Column.P50: "888.8 s", Column.P95: "888.8 s", Column.P99: "888.8 s",
    Column.LONGEST: "88 min 88 s", Column.SPREAD: 84, Column.SLOWEST: "8888888",
}  # fmt: skip


class LatencyView(TableView):
    """The table of latencies.

    Signals:
        message_requested(int): go to the slowest answer of a row.
    """

    message_requested = Signal(int)

    def __init__(self, model: LatencyModel, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(model, themes, parent, name="latency", widths=_WIDEST)
        self._model = model
        self._on_link = False

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


_BY: dict[str, Grouping] = {"By tool": "tool", "By model": "model", "By participant": "participant"}


class LatencyPanel(HeadedPanel):
    """Latencies in one document.

    Attributes:
        head, model, view: its parts.
        latest: the figures.
    """

    def __init__(self, client: Client, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__("Latency", parent)
        self.model = LatencyModel(self)
        self.head = PaneHead(theme_controller, "Latency", name="latencyHead", parent=self)
        self.choice = Segments(theme_controller, list(_BY), "latencyBy", "Latency by", self.head)
        self.choice.choose("By tool")
        self.head.add_widget(self.choice)
        self.head.add_button("clear", "Close", name="latencyClose").clicked.connect(self.close_requested)
        self.view = LatencyView(self.model, theme_controller, self)
        self.view.message_requested.connect(self.message_requested)
        self.view.filter_requested.connect(self.filter_requested)
        self.stack(self.head, self.view)
        self.latest = LatestAnswer(
            self, client, lambda: Latencies(self._by), self._show, every_ms=lambda: intervals.FIGURES_MS
        )
        self.choice.chosen.connect(lambda _chosen: self.latest.request_now())

    @property
    def _by(self) -> Grouping:
        return _BY[self.choice.choice]

    def stop(self) -> None:
        """Stops reading the document."""
        self.latest.stop()

    def _show(self, figures: LatencyFigures) -> None:
        rows = figures.rows
        self.view.set_empty_text(f"No answer with known times in {formats.count_of(figures.messages, 'message')}.")
        self.model.show_rows(rows, self._by)
        rare = (Column.P95, Column.P99)
        said = {
            column for column in rare if any(one.latency.percentile(column.name.lower()) is not None for one in rows)
        }
        self.view.leave_out({int(column) for column in rare if column not in said})
        self.view.viewport().update()
        self.head.set_count(formats.count_of(sum(one.latency.count for one in rows), "answer") if rows else "")
