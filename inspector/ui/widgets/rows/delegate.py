"""Paints row specifications: places cells by the columns of the layout."""

from __future__ import annotations

from typing import NamedTuple, cast

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget
from typing_extensions import override

from inspector.present.rows import AUTO, EMPTY, Cell, Check, Column, Layout, Row
from inspector.ui.look.row_background import paint_ground
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.rows.cells import CellPainter
from inspector.ui.widgets.rows.model import RowsModel

Index = QModelIndex | QPersistentModelIndex


class Span(NamedTuple):
    """The place of a cell: its column, left edge and width in pixels, and its parts."""

    column: Column
    left: int
    width: int
    cell: Cell


class RowDelegate(QStyledItemDelegate):
    """Paints rows of a `RowsModel`."""

    def __init__(self, model: RowsModel, themes: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._themes = themes
        self.cells = CellPainter(themes)
        themes.changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        self.cells.use_theme()

    # Geometry

    @property
    def layout_of_rows(self) -> Layout:
        return self._model.layout_of_rows

    @property
    def _zoom(self) -> float:
        return self._themes.theme.zoom

    def row_height(self) -> int:
        """Returns the height of every row in pixels."""
        layout = self._model.layout_of_rows
        return round(getattr(self._themes.theme.metrics, layout.height) * layout.rise)

    def spans(self, layout: Layout, row: Row | None, line: int, view: QRect) -> list[Span]:
        """Returns the places of a line's cells, without columns that have no room.

        Args:
            layout: the layout.
            row: the row; None for headings.
            line: number of the line.
            view: rectangle of the row.
        """
        zoom, pane = self._zoom, self._themes.theme.metrics.pane_padding
        left = view.left() + (pane if layout.left is None else round(layout.left * zoom))
        right = view.right() + 1 - (pane if layout.right is None else round(layout.right * zoom))
        if row is not None and row.indent:
            left += max(0, min(round(row.indent * zoom), right - left - round(layout.least * zoom)))
        cells = row.lines[line] if row is not None and line < len(row.lines) else ()
        shown = [
            (column, cells[place] if place < len(cells) else EMPTY)
            for place, column in enumerate(layout.lines[line])
            if view.width() >= column.from_width * zoom
        ]
        widths = [self._column_width(column, cell, view.width()) for column, cell in shown]
        # An automatic column without content has no gap either.
        kept = [
            (column, cell, width)
            for (column, cell), width in zip(shown, widths, strict=True)
            if width or column.width != AUTO
        ]
        gaps = [round(column.gap * zoom) for column, _, _ in kept[:-1]] + [0]
        rest = max(0, right - left - sum(gaps) - sum(width or 0 for _, _, width in kept))
        rest //= max(1, sum(width is None for _, _, width in kept))
        found: list[Span] = []
        for (column, cell, width), gap in zip(kept, gaps, strict=True):
            wide = rest if width is None else width
            found.append(Span(column, left, wide, cell))
            left += wide + gap
        return self._widen_figures(found)

    def _column_width(self, column: Column, cell: Cell, view: int) -> int | None:
        """Returns the width of a column; None for the rest of the line."""
        zoom = self._zoom
        if column.width == AUTO:
            return self.cells.natural_width(cell)
        if isinstance(column.width, str):
            return self.cells.text_width(column.font, column.width)
        if not column.width:
            return None
        wide = column.wide if column.wide_from and view >= column.wide_from * zoom else column.width
        return max(round(wide * zoom), round(view * column.share))

    def _widen_figures(self, spans: list[Span]) -> list[Span]:
        """Takes width for figures that are wider than their column from the column before."""
        for place in range(len(spans) - 1, 0, -1):
            span, before = spans[place], spans[place - 1]
            over = self.cells.natural_width(span.cell) - span.width if span.column.right else 0
            if over > 0:
                spans[place] = span._replace(left=span.left - over, width=span.width + over)
                spans[place - 1] = before._replace(width=max(0, before.width - over))
        return spans

    def _line_box(self, layout: Layout, box: QRect, line: int) -> QRect:
        edge, count = round(layout.edge * self._zoom), len(layout.lines)
        high = (box.height() - 2 * edge) // count
        return QRect(box.left(), box.top() + edge + line * high, box.width(), high)

    def check_box(self, row: Row, box: QRect) -> QRect | None:
        """Returns the check box of a row, if it begins with one."""
        span = self.spans(self._model.layout_of_rows, row, 0, box)[0]
        if not span.cell or not isinstance(span.cell[0], Check):
            return None
        side = round(span.cell[0].side * self._zoom)
        return QRect(span.left, box.top() + (box.height() - side) // 2, side, side)

    # Painting

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, self.row_height())

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        box: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        selected = bool(state & QStyle.StateFlag.State_Selected)
        focused = bool(state & QStyle.StateFlag.State_Active)
        painter.save()
        paint_ground(
            painter, self._themes.theme, box,
            selected=selected or bool(state & QStyle.StateFlag.State_On),
            hovered=bool(state & QStyle.StateFlag.State_MouseOver),
            active=focused and selected,
            cursor=bool(state & QStyle.StateFlag.State_HasFocus) and focused and not selected,
        )  # fmt: skip
        self._paint_row(painter, self._model.spec(index.row()), box)
        painter.restore()

    def _paint_row(self, painter: QPainter, row: Row, box: QRect) -> None:
        layout = self._model.layout_of_rows
        for line in range(min(len(layout.lines), len(row.lines))):
            line_box = self._line_box(layout, box, line)
            for span in self.spans(layout, row, line, box):
                cell_box = QRect(span.left, line_box.y(), span.width, line_box.height())
                self.cells.paint_cell(painter, span.cell, cell_box, right=span.column.right)

    # Editing in place

    @override
    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        field = QLineEdit(parent)
        field.setObjectName("rowEditor")
        field.setAccessibleName("Name")
        return field

    @override
    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Places the editor over the first cell."""
        box = cast("QRect", option.rect)  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        span = self.spans(self._model.layout_of_rows, self._model.spec(index.row()), 0, box)[0]
        editor.setGeometry(span.left - 4, box.y(), span.width + 4, box.height())
