"""How the message table looks: fonts and grid of the theme, widths of the columns, what is painted across them."""

from __future__ import annotations

import time

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QFrame, QHeaderView, QTableView, QWidget
from typing_extensions import override

from inspector.document.document import CaptureDocument
from inspector.filters.find import FindSearch
from inspector.present.message_columns import Column
from inspector.protocol.times import NO_TIME
from inspector.ui import budgets
from inspector.ui.look.hit_highlight import Locate
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.chain import ChainRail
from inspector.ui.panels.messages.chosen import ChosenColumns
from inspector.ui.panels.messages.columns import Layout, layout_for
from inspector.ui.panels.messages.delegate import MessageDelegate
from inspector.ui.panels.messages.header import MessageHeader
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.selected import SelectedMessages
from inspector.ui.panels.messages.spanning import Link, OriginalPainter, paint_gap
from inspector.ui.panels.messages.ticks import TickedScrollBar

_WAITING_MS = 200
"""How often rows that say how long they wait are painted again."""
_LEAST_DIGITS = 3
_NARROWEST = 40
"""Least width of a column that is dragged, in pixels at 100 %."""


class MessageTable(QTableView):
    """A table of messages that paints itself; what input does is up to `MessageView`.

    Signals:
        columns_changed(object): columns were moved or resized: `list[TableColumn]` for the settings.

    Attributes:
        messages: its model.
        paints: fonts, metrics and colours of the theme in force.
        hovered_row, selected_message, wash, rail: what the delegate looks at (delegate.RowState).
        selected: the messages selected, where they are more than the current one (`selected_message`).
        hovered_link: the link under the pointer, in the hovered row.
        sought: what is looked for, and lit; None for nothing.
        ticks: its scroll bar.
        heads: the heads of the columns.
        cell_moved: the user went to the current cell by keys, so that it is seen wherever it is.
    """

    columns_changed = Signal(object)

    def __init__(
        self,
        document: CaptureDocument,
        model: MessageTableModel,
        theme_controller: ThemeController,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.sought: FindSearch | None = None
        self.ticks = TickedScrollBar(theme_controller, self)
        self.setVerticalScrollBar(self.ticks)
        self.setObjectName("messageTable")
        self.setAccessibleName("Messages")
        self.document = document
        self.messages = model
        self.hovered_row = -1
        self.hovered_link: Link | None = None
        self.selected_message: int | None = None
        self.cell_moved = False
        self.selected = SelectedMessages(model.rows)
        self.wash = False
        self.rail = ChainRail()
        self._themes = theme_controller
        self._laid_out: tuple[object, ...] = ()
        self._share = 1.0
        self._digits, self._time_digits = _LEAST_DIGITS, 1
        self._arranging = False
        self._dragged: dict[int, int] = {}
        self.paints = PaintCache(theme_controller.theme, self.devicePixelRatioF())
        self.setModel(model)
        self.painter = MessageDelegate(model, self, self.paints, self)
        self.setItemDelegate(self.painter)
        self.originals = OriginalPainter(self.paints)
        self._waiting_timer = QTimer(self)
        self._waiting_timer.setSingleShot(True)
        self._waiting_timer.setInterval(_WAITING_MS)
        self._waiting_timer.timeout.connect(self._repaint_messages)
        self._settle_timer = QTimer(self)
        self._settle_timer.setSingleShot(True)
        self._settle_timer.setInterval(budgets.current.more_ms)
        self._settle_timer.timeout.connect(self.viewport().update)
        self._stored_later = QTimer(self)
        self._stored_later.setSingleShot(True)
        self._stored_later.setInterval(budgets.current.write_ms)
        self._stored_later.timeout.connect(self._report_columns)
        self._set_up()
        self.heads.sectionResized.connect(self._on_section_resized)
        self.heads.sectionMoved.connect(self._on_section_moved)
        self.heads.sectionHandleDoubleClicked.connect(self._on_handle_double_clicked)

    def _set_up(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setAutoScroll(False)  # a click on a half visible row must not move the rows
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.heads = MessageHeader(self, self)
        self.setHorizontalHeader(self.heads)
        self.heads.show()
        corner = QWidget(self)
        corner.setObjectName("messageTableCorner")
        corner.setProperty("variant", "base")
        corner.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setCornerWidget(corner)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._use_grid()

    # Looks

    def _use_grid(self) -> None:
        metrics = self.paints.metrics
        self.verticalHeader().setMinimumSectionSize(metrics.row)
        self.verticalHeader().setDefaultSectionSize(metrics.row)
        self.horizontalHeader().setFixedHeight(metrics.column_head)
        self.verticalScrollBar().setSingleStep(metrics.row)
        self._laid_out = ()
        self.lay_out_columns()

    def use_theme(self) -> None:
        """Take fonts, colours and grid from the theme now in force."""
        self.paints = PaintCache(self._themes.theme, self.devicePixelRatioF())
        self.painter.use_paints(self.paints)
        self.originals.paints = self.paints
        self._use_grid()
        self.viewport().update()

    def expect(self, share: float) -> None:
        """Keep room for the numbers and times to come.

        Args:
            share: of the log that is read, 0 to 1.
        """
        self._share = max(share, 1e-6)

    def _reserve(self) -> None:
        """How many digits numbers and times have, or will have if the log goes on as it began; they only grow."""
        count = len(self.document.analysis)
        latest_ns, start_ns = self.document.analysis.contexts.clock_ns, self.messages.start_ns
        span_s = 0 if NO_TIME in (latest_ns, start_ns) else abs(latest_ns - start_ns) // 1_000_000_000
        self._digits = max(self._digits, len(str(round(count / self._share))))
        self._time_digits = max(self._time_digits, len(str(round(span_s / self._share))))

    def lay_out_columns(self) -> None:
        """Give each column its width for the room there is; cheap where nothing changed."""
        self._reserve()
        zoom = self.paints.theme.zoom
        columns, times = self.messages.columns, self.messages.times
        padding = 2 * self.paints.metrics.cell_padding
        number_width = self.paints.width("body", "8" * self._digits) + padding
        time = "88:88:88.888" if times.mode == "clock" else "8" * self._time_digits + ".888"
        time_width = self.paints.width("body", time) + padding
        if times.mode != "start":
            time_width = max(time_width, self.paints.width("column", times.title) + padding)
        by = self.messages.rows.sorted_by
        shown = None if by is None else columns.sorted_at(by.field.name)  # what the rows go by is seen in any case
        wanted = (self.viewport().width(), zoom, number_width, time_width, columns, shown)
        if wanted == self._laid_out:
            return
        self._laid_out = wanted
        chosen = columns.wanted.showing(shown)
        layout = layout_for(self.viewport().width(), zoom, number=number_width, time=time_width, wanted=chosen)
        self._arranging = True
        self._arrange(layout)
        self._arranging = False

    def _arrange(self, layout: Layout) -> None:
        heads, modes = self.heads, QHeaderView.ResizeMode
        too_wide = sum(layout.widths.values()) + layout.message > self.viewport().width()
        for place, column in enumerate(self.messages.columns.order):
            if heads.visualIndex(column) != place:
                heads.moveSection(heads.visualIndex(column), place)
            mode = modes.Fixed if column == Column.GUTTER else modes.Interactive
            if column == Column.MESSAGE and not too_wide:
                mode = modes.Stretch
            heads.setSectionResizeMode(column, mode)
            heads.setSectionHidden(column, not layout.shows(column))
            if column in layout.widths:
                heads.resizeSection(column, layout.widths[column])
        if too_wide:
            heads.resizeSection(Column.MESSAGE, layout.message)

    def bring_column(self, column: int) -> None:
        """Bring a column into view where columns are wider than the table."""
        if self.isColumnHidden(column):
            return
        self.updateGeometries()
        left, bar = self.columnViewportPosition(column), self.horizontalScrollBar()
        beyond = left + self.columnWidth(column) - self.viewport().width()
        if left < 0 or beyond > 0:
            bar.setValue(bar.value() + (left if left < 0 else min(beyond, left)))

    def use_columns(self) -> None:
        """Lay out the columns the model has now."""
        self._laid_out = ()
        self._dragged.clear()
        self._stored_later.stop()
        self.lay_out_columns()
        self.viewport().update()

    def _on_section_resized(self, section: int, _old: int, new: int) -> None:
        """A width the user has dragged stays."""
        dragging = bool(QApplication.mouseButtons() & Qt.MouseButton.LeftButton)
        if dragging and not self._arranging and section not in (Column.GUTTER, Column.MESSAGE) and new:
            self._dragged[section] = max(_NARROWEST, round(new / self.paints.theme.zoom))
            self._stored_later.start()

    def _on_section_moved(self, _section: int, _from: int, _to: int) -> None:
        if not self._arranging:
            self._stored_later.start()

    def _on_handle_double_clicked(self, section: int) -> None:
        """The usual width again."""
        self._dragged[section] = 0
        self._report_columns()

    def _report_columns(self) -> None:
        """Say where columns stand and how wide they are, when the user has let them go."""
        if QApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            self._stored_later.start()
            return
        widths, self._dragged = self._dragged, {}
        order = [self.heads.logicalIndex(place) for place in range(self.heads.count())]
        columns = ChosenColumns(self.messages.columns.changed(widths=widths))
        self.columns_changed.emit(columns.moved(order))

    @override
    def scrollTo(
        self,
        index: QModelIndex | QPersistentModelIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Rows come into view; columns stay where they are."""
        across = self.horizontalScrollBar().value()
        super().scrollTo(index, hint)
        self.horizontalScrollBar().setValue(across)

    # Painting

    @override
    def paintEvent(self, e: QPaintEvent) -> None:
        self.wash = self.hasFocus()
        self.paints.dpr = self.devicePixelRatioF()  # another screen may have another one
        self.painter.waiting_painted = False
        rows = self.messages.rowCount()
        if not rows:
            return
        first = max(0, self.rowAt(e.rect().top()))
        last = self.rowAt(e.rect().bottom())
        shown = range(first, (last if last >= 0 else rows - 1) + 1)
        self._settle_highlights(shown)
        painter = QPainter(self.viewport())
        self._paint_rows(painter, shown)
        for row in shown:
            self._paint_across(painter, row)
        self._paint_ring(painter)
        painter.end()
        if self.painter.waiting_painted and not self._waiting_timer.isActive():
            self._waiting_timer.start()

    def _settle_highlights(self, shown: range) -> None:
        """Find out which of the rows about to be painted stand out; where that takes its time, more of them next."""
        if self.messages.highlights:
            seen = list(dict.fromkeys(self.messages.at(row)[0] for row in shown))
            if not self.messages.highlights.settle(seen, time.perf_counter() + budgets.current.painting_slice_s):
                self._settle_timer.start()

    def _paint_rows(self, painter: QPainter, shown: range) -> None:
        """What QTableView does cell by cell through the delegate, at a third of the cost."""
        height = self.paints.metrics.row
        columns = [
            (column, self.columnViewportPosition(column), self.columnWidth(column))
            for column in self.messages.columns.order
            if not self.isColumnHidden(column)
        ]
        columns.sort(key=lambda column: column[1])  # while one is dragged they may stand otherwise
        top = self.rowViewportPosition(shown.start) if shown else 0
        self.paints.gather()
        try:
            for row in shown:
                y = top + (row - shown.start) * height
                cells = [(column, QRect(x, y, width, height)) for column, x, width in columns]
                self.painter.paint_row(painter, row, cells)
        finally:
            self.paints.draw_gathered(painter)

    def _paint_across(self, painter: QPainter, row: int) -> None:
        message, part = self.messages.at(row)
        if part:
            link = self.hovered_link if row == self.hovered_row else None
            original = self.messages.original(message)
            self.paints.hits.locate, self.paints.hits.current = self.lit(message), False
            self.originals.paint(painter, self.block_rect(row), original, part, link.name if link else None)
            self.paints.hits.locate = None
            return
        gap = self.messages.content(message).gap
        if gap is not None:
            start = self.columnWidth(Column.GUTTER)
            paint_gap(
                painter, self.row_rect(row).adjusted(start, 0, -self.paints.metrics.cell_padding, 0), self.paints, gap
            )

    def _paint_ring(self, painter: QPainter) -> None:
        """The current row, where its wash does not say so: a line of an original, a row of several, or one of none."""
        current = self.currentIndex()
        if not current.isValid() or not self.wash:
            return
        message, part = self.messages.at(current.row())
        if part:
            self.painter.paint_ring(painter, self.block_rect(current.row()))
            return
        if message != self.selected_message or self.selected.several:
            self.painter.paint_ring(painter, self.row_rect(current.row()))
        told = current.column() != Column.MESSAGE or self.cell_moved  # Message is where everybody is who chose none
        if told and current.column() != Column.GUTTER and self.messages.content(message).gap is None:
            self.painter.paint_cell_ring(painter, self.visualRect(current))

    def is_selected(self, message: int) -> bool:
        """Whether a message is one of those selected."""
        return self.selected.holds(message, self.selected_message)

    def shown_columns(self) -> list[int]:
        """The columns shown as they stand, the gutter left out; what a copied row holds."""
        standing = map(self.heads.logicalIndex, range(self.heads.count()))
        return [column for column in standing if column != Column.GUTTER and not self.isColumnHidden(column)]

    def lit(self, message: int) -> Locate | None:
        """What is lit in a message's row; None for nothing."""
        return self.sought.locate if self.sought is not None and self.sought.holds(message) else None

    def show_find(self, search: FindSearch | None) -> None:
        """Light what a search looks for, wherever it has found it by now."""
        self.sought = search
        self.viewport().update()
        self.ticks.update()

    def row_rect(self, row: int) -> QRect:
        """A row in the viewport."""
        return QRect(0, self.rowViewportPosition(row), self.viewport().width(), self.rowHeight(row))

    def block_rect(self, row: int) -> QRect:
        """Where a line of an original stands: from the text of From -> To nearly to the right edge."""
        pad = self.paints.metrics.cell_padding
        left = self.columnWidth(Column.GUTTER)
        if not self.isColumnHidden(Column.FROM_TO):
            left = max(left, min(self.columnViewportPosition(Column.FROM_TO), self.viewport().width() // 3))
        return self.row_rect(row).adjusted(left + pad, 0, -pad, 0)

    def _repaint_messages(self) -> None:
        left = self.columnViewportPosition(Column.MESSAGE)
        self.viewport().update(left, 0, self.columnWidth(Column.MESSAGE), self.viewport().height())
