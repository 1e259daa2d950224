"""Table view of the records in a result; as tall as its rows, wide tables scroll sideways."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QTableView, QWidget
from typing_extensions import override

from inspector.present import formats
from inspector.present.rows import Cell, Text
from inspector.present.wire_text import safe_line, tool_tip
from inspector.protocol.payloads.record_tables import Table
from inspector.ui.look.hit_highlight import HitHighlight, Locate
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.rows.table import TableView
from inspector.ui.widgets.rows.table_model import TableModel

FIRST_ROWS = 25
"""Rows shown at first."""
_MAX_WIDTH, _MIN_WIDTH, _LAST_WIDTH = 220, 56, 72
"""Column widths in logical pixels at 100 %."""
_NAME_MARGIN = 40
"""Pixels that the name column leaves free, so that further columns stay visible."""
_TOOLTIP_FROM = 12


class ContentModel(TableModel[Sequence[str]]):
    """Records as text; shows the requested number of rows."""

    has_names = False

    def __init__(self, table: Table, rows: int) -> None:
        super().__init__(None)
        self._table = table
        self.columns = range(len(table.columns))
        self.rows = list(table.rows[:rows])

    def show_rows(self, rows: int) -> None:
        """Shows more rows; never fewer."""
        self.add_rows(self._table.rows[len(self.rows) : rows])

    @override
    def column(self, section: int) -> int:
        return section

    @override
    def text(self, one: Sequence[str], column: int) -> str:
        return safe_line(one[column], 200)

    @override
    def cell(self, one: Sequence[str], column: int) -> Cell:
        return (Text(self.text(one, column), "mono-row"),)

    @override
    def cell_tip(self, one: Sequence[str], column: int) -> str:
        # Short values need no tooltip.
        return tool_tip(one[column]) if len(one[column]) > _TOOLTIP_FROM else ""

    @override
    def is_figure(self, column: int) -> bool:
        """Returns True for numbers, except ids in the first column."""
        return self._table.numeric[column] and column > 0

    @override
    def heading(self, column: int) -> str:
        return safe_line(self._table.columns[column], 80)


class ContentTable(TableView):
    """Table of records, as tall as its rows."""

    height_name = "content_row"

    def __init__(self, themes: ThemeController, table: Table, name: str, parent: QWidget | None = None) -> None:
        self._records = table
        self._wanted_widths: list[int] = []
        self._lights = HitHighlight()
        self.content = ContentModel(table, FIRST_ROWS)
        super().__init__(
            self.content, themes, parent, name=name, title=f"Records, {formats.count_of(table.total, 'row')}"
        )
        self.content.setParent(self)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectItems)
        self.setSelectionMode(QTableView.SelectionMode.ExtendedSelection)
        # The table is as tall as its rows, and the page scrolls.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.horizontalHeader().setMinimumSectionSize(24)

    @override
    def paddings(self, column: int) -> tuple[int, int]:
        return 0, 3 * self._themes.theme.metrics.unit

    @override
    def paint_over(self, painter: QPainter, row: int, column: int, box: QRect) -> None:
        """Highlights hits in a cell."""
        text, theme = self.content.text(self.content.rows[row], column), self._themes.theme
        if self._lights.locate is not None:
            metrics = QFontMetrics(theme.font("mono-row"))
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width())
            right = self.content.is_figure(column)
            self._lights.light_line(painter, theme, "mono-row", text, shown, box, right=right)

    def show_find(self, locate: Locate | None) -> bool:
        """Highlights matches in cells; returns True if any cell matches."""
        self._lights.locate = locate
        self.viewport().update()
        shown = self.content.rows if locate is not None else ()
        return locate is not None and any(locate(cell) for row in shown for cell in row)

    @override
    def use_theme(self) -> None:
        super().use_theme()
        theme = self._themes.theme
        cells, heads = QFontMetrics(theme.font("mono-row")), QFontMetrics(theme.font("column"))
        self._wanted_widths = []
        for column, title in enumerate(self._records.columns):
            widest = max(
                # A cell may have 500 characters, too many to measure.
                (cells.horizontalAdvance(row[column][:80]) for row in self._records.rows[:FIRST_ROWS]),
                default=0,
            )
            wanted = max(widest, heads.horizontalAdvance(title[:40])) + 3 * theme.metrics.unit + 2
            self._wanted_widths.append(
                wanted if self._is_name_column(column) else min(wanted, round(_MAX_WIDTH * theme.zoom))
            )
        self._set_widths()

    def _set_widths(self) -> None:
        """Sets column widths; where they exceed the view, the widest text columns shrink first, never names."""
        zoom = self._themes.theme.zoom
        least = round(_MIN_WIDTH * zoom)
        widths = list(self._wanted_widths)
        if self._is_name_column(0):
            widths[0] = min(
                widths[0], max(round(_MAX_WIDTH * zoom), self.viewport().width() - round(_NAME_MARGIN * zoom))
            )
        widths[-1] = min(widths[-1], round(_LAST_WIDTH * zoom))
        over = sum(widths) - self.viewport().width()
        texts = [c for c in range(len(widths) - 1) if not self._records.numeric[c] and not self._is_name_column(c)]
        while over > 0 and (wide := max(texts, key=lambda c: widths[c], default=None)) is not None:
            # Half of what it can spare, so that columns of equal width shrink alike.
            step = min(over, max(1, (widths[wide] - least) // 2 + 1), widths[wide] - least)
            if step <= 0:
                break
            widths[wide] -= step
            over -= step
        widths[-1] = max(widths[-1], self.viewport().width() - sum(widths[:-1]))
        for column, width in enumerate(widths):
            self.setColumnWidth(column, width)
        self.updateGeometry()

    def _is_name_column(self, column: int) -> bool:
        """Returns True for a column of names (tools, resources); such columns are cut last."""
        return column == 0 and len(self._records.columns) > 1 and self._records.columns[0] == "name"

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._set_widths()

    @override
    def sizeHint(self) -> QSize:
        bar = self.horizontalScrollBar()
        extra = bar.sizeHint().height() if bar.maximum() > 0 else 0
        return QSize(200, self.horizontalHeader().height() + self.verticalHeader().length() + extra + 1)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    @override
    def updateGeometries(self) -> None:
        before = self.horizontalScrollBar().maximum() > 0
        super().updateGeometries()
        # The scroll bar adds to the height of a table that never scrolls vertically.
        if before != (self.horizontalScrollBar().maximum() > 0):
            self.updateGeometry()

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        # Only purely horizontal wheels scroll the table.
        if event.angleDelta().x() and not event.angleDelta().y():
            super().wheelEvent(event)
        else:
            # The page scrolls.
            event.ignore()

    @override
    def copy(self, row: int) -> None:
        """Copies the selected values."""
        cells = sorted(self.selectedIndexes(), key=lambda i: (i.row(), i.column()))
        rows: dict[int, list[str]] = {}
        for cell in cells:
            rows.setdefault(cell.row(), []).append(self.content.rows[cell.row()][cell.column()])
        QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows.values()))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy(self.currentIndex().row())
        else:
            # Cells are moved through one by one, and Enter and Esc are keys of the details.
            QTableView.keyPressEvent(self, event)
