"""Headings above a list of rows, in the columns of its layout."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.ui.look import icons
from inspector.ui.look.text_flags import LEFT, RIGHT
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.rows.delegate import Span
from inspector.ui.widgets.rows.view import RowsView


class RowHeads(QWidget):
    """Titles of columns. Titles with a tooltip can be clicked.

    Signals:
        title_clicked(str): the title of the column.
    """

    title_clicked = Signal(str)

    def __init__(
        self, view: RowsView, themes: ThemeController, parent: QWidget, *, name: str, tips: Mapping[str, str] = {}
    ) -> None:
        """Creates the headings.

        Args:
            view: the list below.
            themes: gives the look.
            parent: owner.
            name: object name.
            tips: tooltips of titles that can be clicked; "" for the rest of the line.
        """
        super().__init__(parent)
        self._view, self._themes, self._tips = view, themes, tips
        self._order: tuple[str, bool] = "", False
        self.setObjectName(name)
        self.setMouseTracking(bool(tips))
        self.setToolTip(tips.get("", ""))
        view.model().modelReset.connect(self._on_layout_changed)
        # The scroll bar changes the width of the columns.
        view.verticalScrollBar().rangeChanged.connect(self.update)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self._on_layout_changed()

    def _on_theme_changed(self) -> None:
        self.setFixedHeight(self._themes.theme.metrics.column_head)
        self.update()

    def _on_layout_changed(self) -> None:
        self.setAccessibleName("Columns: " + ", ".join(self.titles))
        self.update()

    @property
    def titles(self) -> list[str]:
        return [column.title for column in self._view.delegate.layout_of_rows.lines[0] if column.title]

    def show_order(self, title: str, *, largest: bool) -> None:
        """Draws an arrow beside the title of the sort column."""
        self._order = title, largest
        self.update()

    def spans(self) -> list[Span]:
        """Returns the columns as shown."""
        box = QRect(0, 0, self._view.viewport().width(), self.height())
        return self._view.delegate.spans(self._view.delegate.layout_of_rows, None, 0, box)

    def _title_at(self, x: float) -> str:
        for span in self.spans():
            half = span.column.gap / 2 * self._themes.theme.zoom
            if span.left - half <= x < span.left + span.width + half and span.column.title in self._tips:
                return span.column.title
        return ""

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        title = self._title_at(event.position().x())
        if event.button() is Qt.MouseButton.LeftButton and title:
            self.title_clicked.emit(title)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        title = self._title_at(event.position().x())
        self.setToolTip(self._tips.get(title, ""))
        self.setCursor(Qt.CursorShape.PointingHandCursor if title else Qt.CursorShape.ArrowCursor)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface.base"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))
        font = theme.font("column")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(theme.color("ink.secondary"))
        for span in self.spans():
            column = span.column
            box = QRect(span.left, 0, span.width, self.height())
            shown = metrics.elidedText(column.title, Qt.TextElideMode.ElideRight, box.width())
            if column.right and metrics.horizontalAdvance(column.title) > box.width():
                shown = column.title
                box.setLeft(box.right() + 1 - metrics.horizontalAdvance(shown))
            painter.drawText(box, RIGHT if column.right else LEFT, shown)
            if column.title and column.title == self._order[0]:
                side = round(12 * theme.zoom)
                name = "ri.arrow-down-line" if self._order[1] else "ri.arrow-up-line"
                arrow = icons.pixmap(name, "ink.secondary", side, self.devicePixelRatioF())
                width = metrics.horizontalAdvance(shown)
                left = box.right() + 1 - width - side - 1 if column.right else box.left() + width + 1
                painter.drawPixmap(max(0, left), (self.height() - side) // 2, arrow)
