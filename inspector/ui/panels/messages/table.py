"""How the message table looks: fonts and grid of the theme, widths of the columns, what is painted across them."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QFrame, QHeaderView, QTableView, QWidget
from typing_extensions import override

from inspector.document import CaptureDocument
from inspector.protocol.times import NO_TIME
from inspector.ui.panels.messages.chain import ChainRail
from inspector.ui.panels.messages.columns import Column, layout_for
from inspector.ui.panels.messages.delegate import MessageDelegate
from inspector.ui.panels.messages.kit import Kit
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.spanning import Link, OriginalPainter, paint_gap
from inspector.ui.theme import ThemeController

_WAITING_MS = 200
"""How often rows that say how long they wait are painted again."""
_LEAST_DIGITS = 3
_FIXED = (Column.GUTTER, Column.NUMBER, Column.TIME)


class MessageTable(QTableView):
    """A table of messages that paints itself; what input does is up to `MessageView`.

    Attributes:
        messages: its model.
        kit: fonts, metrics and colours of the theme in force.
        hovered_row, selected_message, wash, rail: what the delegate looks at (delegate.RowState).
        hovered_link: the link under the pointer, in the hovered row.
    """

    def __init__(
        self,
        document: CaptureDocument,
        model: MessageTableModel,
        theme_controller: ThemeController,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("messageTable")
        self.setAccessibleName("Messages")
        self.document = document
        self.messages = model
        self.hovered_row = -1
        self.hovered_link: Link | None = None
        self.selected_message: int | None = None
        self.wash = False
        self.rail = ChainRail()
        self._themes = theme_controller
        self._laid_out: tuple[object, ...] = ()
        self._share = 1.0
        self._digits, self._time_digits = _LEAST_DIGITS, 1
        self._chosen_widths: dict[Column, int] = {}
        self.kit = Kit(theme_controller.theme, self.devicePixelRatioF())
        self.setModel(model)
        self.painter = MessageDelegate(model, self, self.kit, self)
        self.setItemDelegate(self.painter)
        self.originals = OriginalPainter(self.kit)
        self._waiting_timer = QTimer(self)
        self._waiting_timer.setSingleShot(True)
        self._waiting_timer.setInterval(_WAITING_MS)
        self._waiting_timer.timeout.connect(self._repaint_messages)
        self._set_up()
        self.horizontalHeader().sectionResized.connect(self._on_section_resized)

    def _set_up(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setAutoScroll(False)  # a click on a half visible row must not move the rows
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        heads = self.horizontalHeader()
        heads.setObjectName("messageTableHeader")
        heads.setAccessibleName("Columns of the message table")
        heads.setHighlightSections(False)
        heads.setSectionsClickable(False)
        heads.setMinimumSectionSize(16)
        for column in Column:
            fixed = QHeaderView.ResizeMode.Fixed if column in _FIXED else QHeaderView.ResizeMode.Interactive
            heads.setSectionResizeMode(column, fixed)
        heads.setSectionResizeMode(Column.MESSAGE, QHeaderView.ResizeMode.Stretch)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._use_grid()

    # Looks

    def _use_grid(self) -> None:
        metrics = self.kit.metrics
        self.verticalHeader().setMinimumSectionSize(metrics.row)
        self.verticalHeader().setDefaultSectionSize(metrics.row)
        self.horizontalHeader().setFixedHeight(metrics.column_head)
        self.verticalScrollBar().setSingleStep(metrics.row)
        self._laid_out = ()
        self.lay_out_columns()

    def use_theme(self) -> None:
        """Take fonts, colours and grid from the theme now in force; dragged widths are forgotten."""
        self.kit = Kit(self._themes.theme, self.devicePixelRatioF())
        self.painter.use_kit(self.kit)
        self.originals.kit = self.kit
        self._chosen_widths.clear()
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
        zoom = self.kit.theme.zoom
        digits, time = "8" * self._digits, "8" * self._time_digits + ".888"
        padding = 2 * self.kit.metrics.cell_padding
        number_width, time_width = (self.kit.width("body", text) + padding for text in (digits, time))
        wanted = (self.viewport().width(), zoom, number_width, time_width, tuple(self._chosen_widths.items()))
        if wanted == self._laid_out:
            return
        self._laid_out = wanted
        layout = layout_for(self.viewport().width(), zoom, number=number_width, time=time_width)
        heads = self.horizontalHeader()
        for column in Column:
            heads.setSectionHidden(column, not layout.shows(column))
            if column in layout.widths:
                heads.resizeSection(column, self._chosen_widths.get(column, layout.widths[column]))

    def _on_section_resized(self, section: int, _old: int, new: int) -> None:
        """A width the user has dragged stays."""
        dragging = bool(QApplication.mouseButtons() & Qt.MouseButton.LeftButton)
        if dragging and Column(section) not in (*_FIXED, Column.MESSAGE) and new:
            self._chosen_widths[Column(section)] = new

    # Painting

    @override
    def paintEvent(self, e: QPaintEvent) -> None:
        self.wash = self.hasFocus()
        self.kit.dpr = self.devicePixelRatioF()  # another screen may have another one
        self.painter.waiting_painted = False
        rows = self.messages.rowCount()
        if not rows:
            return
        first = max(0, self.rowAt(e.rect().top()))
        last = self.rowAt(e.rect().bottom())
        shown = range(first, (last if last >= 0 else rows - 1) + 1)
        painter = QPainter(self.viewport())
        self._paint_rows(painter, shown)
        for row in shown:
            self._paint_across(painter, row)
        self._paint_ring(painter)
        painter.end()
        if self.painter.waiting_painted and not self._waiting_timer.isActive():
            self._waiting_timer.start()

    def _paint_rows(self, painter: QPainter, shown: range) -> None:
        """What QTableView does cell by cell through the delegate, at a third of the cost."""
        height = self.kit.metrics.row
        columns = [
            (column, self.columnViewportPosition(column), self.columnWidth(column))
            for column in map(int, Column)
            if not self.isColumnHidden(column)
        ]
        top = self.rowViewportPosition(shown.start) if shown else 0
        self.kit.gather()
        try:
            for row in shown:
                y = top + (row - shown.start) * height
                cells = [(column, QRect(x, y, width, height)) for column, x, width in columns]
                self.painter.paint_row(painter, row, cells)
        finally:
            self.kit.draw_gathered(painter)

    def _paint_across(self, painter: QPainter, row: int) -> None:
        message, part = self.messages.at(row)
        if part:
            link = self.hovered_link if row == self.hovered_row else None
            original = self.messages.original(message)
            self.originals.paint(painter, self.block_rect(row), original, part, link.name if link else None)
            return
        gap = self.messages.content(message).gap
        if gap is not None:
            start = self.columnViewportPosition(Column.NUMBER)
            paint_gap(painter, self.row_rect(row).adjusted(start, 0, -self.kit.metrics.cell_padding, 0), self.kit, gap)

    def _paint_ring(self, painter: QPainter) -> None:
        """The current row, where it is not the washed one: a line of an original, or a row that is not selected."""
        current = self.currentIndex()
        if not current.isValid() or not self.wash:
            return
        message, part = self.messages.at(current.row())
        if part:
            self.painter.paint_ring(painter, self.block_rect(current.row()))
        elif message != self.selected_message:
            self.painter.paint_ring(painter, self.row_rect(current.row()))

    def row_rect(self, row: int) -> QRect:
        """A row in the viewport."""
        return QRect(0, self.rowViewportPosition(row), self.viewport().width(), self.rowHeight(row))

    def block_rect(self, row: int) -> QRect:
        """Where a line of an original stands: from the text of From -> To nearly to the right edge."""
        pad = self.kit.metrics.cell_padding
        return self.row_rect(row).adjusted(self.columnViewportPosition(Column.FROM_TO) + pad, 0, -pad, 0)

    def _repaint_messages(self) -> None:
        left = self.columnViewportPosition(Column.MESSAGE)
        self.viewport().update(left, 0, self.columnWidth(Column.MESSAGE), self.viewport().height())
