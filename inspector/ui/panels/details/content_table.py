"""Table view of the records in a result; as tall as its rows, wide tables scroll sideways."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QFrame,
    QHeaderView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)
from typing_extensions import override

from inspector.present import formats
from inspector.present.wire_text import safe_line, tool_tip
from inspector.protocol.payloads.record_tables import Table
from inspector.ui.look.hit_highlight import HitHighlight, Locate
from inspector.ui.look.theme import Theme, ThemeController

FIRST_ROWS = 25
"""Rows shown at first."""
_MAX_WIDTH, _MIN_WIDTH, _LAST_WIDTH = 220, 56, 72
"""Column widths in logical pixels at 100 %."""
_NAME_MARGIN = 40
"""Pixels that the name column leaves free, so that further columns stay visible."""

_Index = QModelIndex | QPersistentModelIndex


class ContentModel(QAbstractTableModel):
    """Table of text; shows the requested number of rows."""

    def __init__(self, table: Table, rows: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = table
        self._rows = min(rows, len(table.rows))

    @override
    def rowCount(self, parent: _Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else self._rows

    @override
    def columnCount(self, parent: _Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._table.columns)

    def show_rows(self, rows: int) -> None:
        """Shows more rows; never fewer."""
        rows = min(rows, len(self._table.rows))
        if rows > self._rows:
            self.beginInsertRows(QModelIndex(), self._rows, rows - 1)
            self._rows = rows
            self.endInsertRows()

    @override
    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return safe_line(self._table.rows[index.row()][index.column()], 200)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            value = self._table.rows[index.row()][index.column()]
            # Short values need no tooltip.
            return tool_tip(value) if len(value) > 12 else None
        if role == Qt.ItemDataRole.UserRole:
            return self._table.rows[index.row()][index.column()]
        return None

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._table.columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return safe_line(self._table.columns[section], 80)
        return self._alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if is_right(self._table, column) else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter


class ContentHead(QHeaderView):
    """Column headers, aligned with their cells."""

    def __init__(self, themes: ThemeController, table: Table, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._themes = themes
        self._table = table
        self.setObjectName("contentHead")
        self.setAccessibleName("Columns")
        self.setHighlightSections(False)
        self.setMinimumSectionSize(24)

    @override
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        theme = self._themes.theme
        painter.fillRect(rect, theme.color("surface.base"))
        painter.setFont(theme.font("column"))
        painter.setPen(theme.color("ink.secondary"))
        title = safe_line(self._table.columns[logicalIndex], 80)
        _paint_text(painter, theme, rect, title, right=is_right(self._table, logicalIndex))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.color("line.hair"))


class ContentDelegate(QStyledItemDelegate):
    """Monospaced cells, aligned left or right."""

    def __init__(self, themes: ThemeController, table: Table, view: QTableView) -> None:
        super().__init__(view)
        self._themes = themes
        self._table = table
        self._view = view
        self.lights = HitHighlight()

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        theme = self._themes.theme
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("accent.wash" if self._view.hasFocus() else "accent.washdim"))
        painter.setFont(theme.font("mono-row"))
        painter.setPen(theme.color("ink.primary"))
        text, right = str(index.data()), is_right(self._table, index.column())
        shown = _paint_text(painter, theme, rect, text, right=right)
        room = rect.adjusted(0, 0, -3 * theme.metrics.unit, 0)
        self.lights.light_line(painter, theme, "mono-row", text, shown, room, right=right)
        painter.restore()


def is_right(table: Table, column: int) -> bool:
    """Returns True for right-aligned columns: numbers, except ids in the first column."""
    return table.numeric[column] and column > 0


def _paint_text(painter: QPainter, theme: Theme, rect: QRect, text: str, *, right: bool) -> str:
    """Draws a cell's text and returns the visible part."""
    room = rect.adjusted(0, 0, -3 * theme.metrics.unit, 0)
    side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, int(side | Qt.AlignmentFlag.AlignVCenter), shown)
    return shown


class ContentTable(QTableView):
    """Table of records, as tall as its rows."""

    def __init__(self, themes: ThemeController, table: Table, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self._table = table
        self._wanted_widths: list[int] = []
        self.setObjectName(name)
        self.setAccessibleName(f"Records, {formats.count_of(table.total, 'row')}")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectItems)
        self.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        # The table is as tall as its rows, and the page scrolls.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        rows = self.verticalHeader()
        rows.hide()
        # set before the rows exist: Qt resizes them one by one, quadratic in their number
        rows.setMinimumSectionSize(1)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setHorizontalHeader(ContentHead(themes, table, self))
        self._delegate = ContentDelegate(themes, table, self)
        self.setItemDelegate(self._delegate)
        self.content = ContentModel(table, FIRST_ROWS, self)
        self.setModel(self.content)
        self._on_theme_changed()
        themes.changed.connect(self._on_theme_changed)

    def show_find(self, locate: Locate | None) -> bool:
        """Highlights matches in cells; returns True if any cell matches."""
        self._delegate.lights.locate = locate
        self.viewport().update()
        shown = self._table.rows[: self.content.rowCount()] if locate is not None else ()
        return locate is not None and any(locate(cell) for row in shown for cell in row)

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self.verticalHeader().setDefaultSectionSize(theme.metrics.content_row)
        self.horizontalHeader().setFixedHeight(theme.metrics.column_head)
        cells, heads = QFontMetrics(theme.font("mono-row")), QFontMetrics(theme.font("column"))
        self._wanted_widths = []
        for column, title in enumerate(self._table.columns):
            widest = max(
                # A cell may have 500 characters, too many to measure.
                (cells.horizontalAdvance(row[column][:80]) for row in self._table.rows[:FIRST_ROWS]),
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
        texts = [c for c in range(len(widths) - 1) if not self._table.numeric[c] and not self._is_name_column(c)]
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
        return column == 0 and len(self._table.columns) > 1 and self._table.columns[0] == "name"

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
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            cells = sorted(self.selectedIndexes(), key=lambda i: (i.row(), i.column()))
            rows: dict[int, list[str]] = {}
            for cell in cells:
                rows.setdefault(cell.row(), []).append(str(cell.data(Qt.ItemDataRole.UserRole)))
            QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows.values()))
            return
        super().keyPressEvent(event)
